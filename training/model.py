"""The model as it is trained: a Llama whose parameters carry transformers' names.

transformers' own `LlamaForCausalLM` reads the weights as they are (a test holds the two to the
same logits). This one exists for speed on a CPU: fused projections, bfloat16 activations, plain
attention that a compiler can fuse, and a loss that never holds all logits at once.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import LlamaConfig

CHUNK = 1024  # positions whose logits exist at the same time


class Weight(nn.Module):
    """One matrix under the name `weight`, used from outside; stands for a bias-free linear."""

    def __init__(self, out_features: int, in_features: int, std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features) * std)


class Norm(nn.Module):
    """RMSNorm over the last axis."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) -> the same shape and dtype."""
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (wide * scale * self.weight).to(x.dtype)


class Attention(nn.Module):
    """Causal self-attention with rotary positions."""

    def __init__(self, config: LlamaConfig, std: float, out_std: float) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.q_proj = Weight(width, width, std)
        self.k_proj = Weight(width, width, std)
        self.v_proj = Weight(width, width, std)
        self.o_proj = Weight(width, width, out_std)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        """x (B, T, width); cos, sin (T, head width); mask (T, T) additive -> (B, T, width)."""
        rows, length, width = x.shape
        head_width = width // self.heads
        qkv = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        mixed = functional.linear(x, qkv.to(x.dtype)).view(rows, length, 3, self.heads, head_width)
        q, k, v = mixed.permute(2, 0, 3, 1, 4).unbind(0)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        q, k, v = (t.reshape(rows * self.heads, length, head_width) for t in (q, k, v))
        scores = torch.bmm(q * head_width**-0.5, k.transpose(1, 2))
        weights = torch.softmax(scores.float() + mask, dim=-1).to(x.dtype)
        heads = torch.bmm(weights, v).view(rows, self.heads, length, head_width)
        merged = heads.transpose(1, 2).reshape(rows, length, width)
        return functional.linear(merged, self.o_proj.weight.to(x.dtype))


class MLP(nn.Module):
    """SwiGLU."""

    def __init__(self, config: LlamaConfig, std: float, out_std: float) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = Weight(inner, width, std)
        self.up_proj = Weight(inner, width, std)
        self.down_proj = Weight(width, inner, out_std)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, width) -> (B, T, width)."""
        both = torch.cat([self.gate_proj.weight, self.up_proj.weight]).to(x.dtype)
        gate, up = functional.linear(x, both).chunk(2, dim=-1)
        hidden = (functional.silu(gate.float()) * up.float()).to(x.dtype)
        return functional.linear(hidden, self.down_proj.weight.to(x.dtype))


class Layer(nn.Module):
    """One pre-norm transformer layer."""

    def __init__(self, config: LlamaConfig, std: float, out_std: float) -> None:
        super().__init__()
        width = config.hidden_size
        self.input_layernorm = Norm(width, config.rms_norm_eps)
        self.self_attn = Attention(config, std, out_std)
        self.post_attention_layernorm = Norm(width, config.rms_norm_eps)
        self.mlp = MLP(config, std, out_std)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        """(B, T, width) -> (B, T, width)."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return x + cast(Tensor, self.mlp(self.post_attention_layernorm(x)))


class Decoder(nn.Module):
    """Everything under the prefix `model.` in a Llama checkpoint."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        std = config.initializer_range
        out_std = std / (2 * config.num_hidden_layers) ** 0.5  # keeps the residual's variance
        self.embed_tokens = Weight(config.vocab_size, config.hidden_size, std)
        self.layers = nn.ModuleList(
            Layer(config, std, out_std) for _ in range(config.num_hidden_layers)
        )
        self.norm = Norm(config.hidden_size, config.rms_norm_eps)


class StoryLM(nn.Module):
    """The language model; `tables` of rotary angles and the causal mask are computed per length."""

    def __init__(self, config: LlamaConfig, dtype: torch.dtype = torch.bfloat16) -> None:
        super().__init__()
        self.config, self.dtype = config, dtype
        self.model = Decoder(config)

    def hidden(self, ids: Tensor) -> Tensor:
        """ids (B, T) -> the last hidden states, normalized, (B, T, width)."""
        length = ids.shape[1]
        cos, sin = rotary(length, self.config.hidden_size // self.config.num_attention_heads)
        mask = torch.full((length, length), -torch.inf).triu(1)
        x = functional.embedding(ids, self.model.embed_tokens.weight).to(self.dtype)
        for layer in self.model.layers:
            x = layer(x, cos, sin, mask)
        return cast(Tensor, self.model.norm(x))

    def loss(self, ids: Tensor, targets: Tensor) -> Tensor:
        """ids, targets (B, T) -> the summed cross-entropy in nats, a scalar."""
        hidden = self.hidden(ids).flatten(0, 1)
        head = self.model.embed_tokens.weight.to(self.dtype)
        loss = LinearCrossEntropy.apply(hidden, head, targets.flatten())  # type: ignore[no-untyped-call]
        return cast(Tensor, loss)


class LinearCrossEntropy(torch.autograd.Function):
    """Cross-entropy of `hidden @ head.T`, summed; both gradients are made on the way forward."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, head: Tensor, targets: Tensor) -> Tensor:
        """hidden (N, width), head (V, width), targets (N,) -> a scalar in nats."""
        grad_hidden = torch.empty_like(hidden)
        grad_head = torch.zeros_like(head, dtype=torch.float32)
        total = hidden.new_zeros((), dtype=torch.float32)
        for start in range(0, len(hidden), CHUNK):
            part = slice(start, start + CHUNK)
            loss, grad = softmax_loss(hidden[part] @ head.T, targets[part])
            total += loss
            grad_hidden[part] = grad @ head
            grad_head += grad.T @ hidden[part]
        ctx.save_for_backward(grad_hidden, grad_head.to(head.dtype))
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        """Scales the stored gradients."""
        grad_hidden, grad_head = ctx.saved_tensors
        return grad_hidden * grads[0], grad_head * grads[0], None


def softmax_loss(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """logits (N, V), targets (N,) -> the summed loss and its gradient (N, V); padding gives 0."""
    log_p = torch.log_softmax(logits.float(), dim=-1)
    kept = (targets >= 0).unsqueeze(1)
    index = targets.clamp(min=0).unsqueeze(1)
    loss = -(log_p.gather(1, index) * kept).sum()
    hit = torch.arange(logits.shape[1]) == index
    grad = (log_p.exp() - hit.float()) * kept
    return loss, grad.to(logits.dtype)


def rotary(length: int, head_width: int) -> tuple[Tensor, Tensor]:
    """cos and sin of the rotary angles, (T, head_width) each, in transformers' half-split order."""
    inverse = 10000.0 ** -(torch.arange(0, head_width, 2).float() / head_width)
    angles = torch.outer(torch.arange(length).float(), inverse).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x (..., T, head width) turned by its position."""
    low, high = x.float().chunk(2, dim=-1)
    return (x.float() * cos + torch.cat([-high, low], dim=-1) * sin).to(x.dtype)

"""The settings of a run, and the model that they describe."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import LlamaConfig


@dataclass(frozen=True, slots=True)
class Recipe:
    """Every setting of a run. Learning rates are peaks; `tokens` and `minutes` bound it all."""

    vocab_size: int = 4096
    width: int = 256
    layers: int = 6
    heads: int = 4
    inner: int = 704
    context: int = 768
    matrix_lr: float = 0.03
    vector_lr: float = 6e-3
    weight_decay: float = 0.1
    warmup: int = 50  # steps
    hold: float = 0.4  # share of the run at the full learning rate
    tokens: int = 28_000_000
    minutes: float = 0.0  # of training, if that is to end the run before its tokens are used up
    batch_tokens: int = 4096  # padded tokens in one micro-batch
    batches_per_step: int = 2
    side_share: float = 0.1  # fairy tales among an epoch's tokens
    held_out: float = 0.02  # share of the documents
    ema: float = 0.995  # decay of the weights' moving average per step
    seed: int = 20

    def config(self) -> LlamaConfig:
        """The model as transformers describes it."""
        return LlamaConfig(
            vocab_size=self.vocab_size,
            hidden_size=self.width,
            intermediate_size=self.inner,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            max_position_embeddings=self.context,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
        )

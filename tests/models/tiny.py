"""Tiny random models and tokenizers trained on the spot, saved as the hub lays them out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    GenerationConfig,
    GPT2Config,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    Olmo2Config,
    PreTrainedTokenizerFast,
    Qwen3Config,
)

TEXT = [
    "Once upon a time there was a little girl named Lily, and she loved her red ball.",
    "The old dragon said: “I am not hungry!”\n\nThen he went to sleep, café naïve straße.\n",
    "Tom and Lily saw a big bear in the forest; they were happy, and the day was long.",
]
BOS, EOS, TURN_END, THINK = "<s>", "</s>", "<|turn_end|>", "<think>"
CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|turn_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 96,
    "initializer_range": 0.3,
}
CONFIGS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "llama": (LlamaConfig, SIZES),
    "qwen3": (Qwen3Config, SIZES),
    # Windows shorter than the texts, so that the sliding layers of the cache are used.
    "gemma3": (
        Gemma3TextConfig,
        SIZES
        | {
            "tie_word_embeddings": False,
            "sliding_window": 8,
            "layer_types": ["sliding_attention", "full_attention"],
        },
    ),
    "mistral": (MistralConfig, SIZES | {"sliding_window": 8}),
    "olmo2": (Olmo2Config, {k: v for k, v in SIZES.items() if k != "head_dim"}),
    "gpt2": (
        GPT2Config,
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 96, "initializer_range": 0.3},
    ),
}
TOKENIZER_OF = {
    "llama": "sentencepiece",
    "qwen3": "bytelevel",
    "gemma3": "sentencepiece-nostrip",
    "mistral": "metaspace",
    "olmo2": "bytelevel",
    "gpt2": "bytelevel",
}


def _train(tokenizer: Tokenizer, **options: Any) -> None:
    trainer = trainers.BpeTrainer(vocab_size=420, show_progress=False, **options)
    tokenizer.train_from_iterator(TEXT, trainer)


def byte_level() -> Tokenizer:
    """As in GPT-2, Qwen, OLMo and Llama 3."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    _train(
        tokenizer,
        special_tokens=[BOS, EOS, TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    return tokenizer


def sentencepiece(kind: str) -> Tokenizer:
    """As in Llama 2 (`sentencepiece`), Gemma (`-nostrip`) and newer Mistrals (`metaspace`)."""
    plain = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    replace = normalizers.Replace(" ", "▁")
    plain.normalizer = replace
    plain.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="never")
    _train(plain, special_tokens=["<unk>", BOS, EOS, TURN_END], initial_alphabet=["▁"])
    learned = json.loads(plain.to_str())["model"]
    # Bytes are ordinary tokens, which the trainer cannot make.
    pieces = ["<unk>", BOS, EOS, TURN_END, *(f"<0x{b:02X}>" for b in range(256))]
    pieces += [piece for piece in learned["vocab"] if piece not in set(pieces)]
    merges = [tuple(merge) for merge in learned["merges"]]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(
        models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    fallback = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if kind == "sentencepiece":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), replace])
        fallback.append(decoders.Strip(" ", 1, 0))
    elif kind == "metaspace":
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
        fallback = [decoders.ByteFallback(), decoders.Metaspace("▁", prepend_scheme="first")]
    else:
        tokenizer.normalizer = replace
    tokenizer.decoder = decoders.Sequence(fallback)
    tokenizer.add_special_tokens([BOS, EOS, TURN_END])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", special_tokens=[(BOS, vocab[BOS])]
    )
    return tokenizer


def fast_tokenizer(kind: str) -> PreTrainedTokenizerFast:
    tokenizer = byte_level() if kind == "bytelevel" else sentencepiece(kind)
    tokenizer.add_tokens([AddedToken(THINK, normalized=False)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        clean_up_tokenization_spaces=False,
        chat_template=CHAT,
        additional_special_tokens=[TURN_END],
    )


def save_model(architecture: str, folder: Path) -> Path:
    """Save config, weights, generation config and tokenizer as the hub lays them out."""
    tokenizer = fast_tokenizer(TOKENIZER_OF[architecture])
    eos = [tokenizer.convert_tokens_to_ids(t) for t in (EOS, TURN_END)]
    kind, sizes = CONFIGS[architecture]
    # Wider than the vocabulary, as the embeddings of many models are.
    config = kind(
        vocab_size=len(tokenizer) + 5,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=eos[0],
        pad_token_id=eos[0],
        **sizes,
    )
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config)
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=eos, pad_token_id=eos[0]
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_big_model(path: Path) -> Path:
    """Save a model of 16 million weights, 64 MB, with a tiny tokenizer."""
    tokenizer = fast_tokenizer("bytelevel")
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=5,
        num_attention_heads=8,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path

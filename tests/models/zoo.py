"""A tiny random model of every architecture of transformers that writes text, made on the spot."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from xtc_viz.records.modelinfo import ModelInfo, Placement

CONTEXT = 96
VOCABULARY = 64
WINDOW = 8

# Each config takes those that it knows; windows are shorter than the texts.
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embed_dim", "lru_width"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "decoder_ffn_dim", "ffn_hidden_size"), 64),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 32),
    **dict.fromkeys(("shared_intermediate_size", "vocab_size_per_layer_input"), 64),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("decoder_layers", "encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "encoder_attention_heads"), 4),
    "encoder_ffn_dim": 64,
    "num_key_value_heads": 2,
    "head_dim": 8,
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len"), CONTEXT),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts"), 4),
    "num_experts_per_tok": 2,
    **dict.fromkeys(("sliding_window", "attention_window_size", "window_size"), WINDOW),
    # Latent attention.
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "index_head_dim"), 16),
    **dict.fromkeys(("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"), 8),
    "rotary_dim": 8,
    "index_n_heads": 2,
    # State spaces and linear attention: more steps than a chunk has.
    **dict.fromkeys(("mamba_d_state", "state_size", "ssm_state_size"), 8),
    **dict.fromkeys(("mamba_chunk_size", "chunk_size"), 8),
    **dict.fromkeys(("mamba_d_head", "mamba_headdim", "mamba_head_dim"), 16),
    **dict.fromkeys(("mamba_n_heads", "n_mamba_heads", "mamba_num_heads"), 4),
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("initializer_range", "init_std"), 0.3),
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LINEAR, FULL, SLIDING = "linear_attention", "full_attention", "sliding_attention"
ROPE = {"rope_type": "default", "rope_theta": 1e4}

# What an architecture wants beside these, or in their place; None leaves a value to the config.
SPECIAL: dict[str, dict[str, Any]] = {
    "axk1": {"n_group": 1, "topk_group": 1},
    "axk2": {"n_group": 1, "topk_group": 1},
    "bailing_hybrid": {"layer_types": [LINEAR, FULL]},
    "bamba": {"attn_layer_indices": [1]},
    "cohere2": {"layer_types": [SLIDING, FULL]},
    "cohere_compass_text": {
        "layer_types": [SLIDING, FULL],
        "rope_parameters": {SLIDING: ROPE, FULL: ROPE},
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8.0},
        "ffn_config": {
            "ffn_hidden_size": 64, "hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2
        },
    },
    "dots1": {"n_shared_experts": 1},
    "falcon": {"head_dim": None},
    "falcon_h1": {"mamba_d_ssm": 64},
    "gemma2": {"layer_types": [SLIDING, FULL]},
    "gemma3_text": {"layer_types": [SLIDING, FULL]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {"layer_types": [LINEAR, FULL], "mamba_n_groups": 1},
    "jamba": {
        "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_dt_rank": 4,
        "use_mamba_kernels": False,
    },
    "kimi_linear": {"layer_types": [LINEAR, FULL], "linear_head_dim": 8, "linear_num_heads": 2},
    "lfm2": {"layer_types": ["conv", FULL]},
    "lfm2_moe": {"layer_types": ["conv", FULL], "num_dense_layers": 1},
    "mamba2": {"head_dim": 16, "num_heads": 4, "n_groups": 2},
    "minimax": {"layer_types": [LINEAR, FULL], "block_size": 8, "sliding_window": None},
    # As in the original, the window is the context.
    "moshi": {"sliding_window": CONTEXT},
    "nemotron_h": {
        "layers_block_type": ["mamba", "attention"], "n_groups": 2, "time_step_min": 1e-9
    },
    "olmo_hybrid": {"layer_types": [LINEAR, FULL]},
    "qwen3_5_moe_text": {"layer_types": [LINEAR, FULL]},
    "qwen3_5_text": {"layer_types": [LINEAR, FULL]},
    "qwen3_next": {"layer_types": [LINEAR, FULL]},
    "qwen4_exp_text": {
        "layer_types": [LINEAR, "indexed_attention"], "indexer_n_heads": 2, "indexer_kv_heads": 1,
        "indexer_head_dim": 8, "indexer_budget": 8, "indexer_compress_ratio": 4,
    },
    "recurrent_gemma": {"block_types": ["recurrent", "attention"]},
    "xlstm": {"hidden_size": 128, "num_heads": 2},
    "xmod": {"default_language": "en_XX"},
    "zamba": {
        "layer_types": [LINEAR, "hybrid", LINEAR, "hybrid"], "num_hidden_layers": 4,
        "attention_head_dim": 16, "attention_hidden_size": 64, "num_key_value_heads": 4,
        "n_mamba_heads": 2, "mamba_dt_rank": 4, "use_mamba_kernels": False,
    },
    # The steps of these two do not keep to the least time step, which whole texts do.
    "zamba2": {
        "layers_block_type": [LINEAR, "hybrid"], "mamba_headdim": 16, "num_key_value_heads": 4,
        "time_step_min": 1e-9,
    },
    "zaya": {
        "num_experts_per_tok": 1, "router_hidden_size": 16, "layer_types": ["hybrid", "hybrid"]
    },
}  # fmt: skip

# Those of which no tiny model is made here, and why.
MORE_THAN_TEXT = "takes more than text; its text model is listed by itself, or is one of these"
DRAFTS = "drafts for another model, whose cache it reads"
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        ("dots3_note", "emu3", "fuyu", "gemma3", "gemma3n", "gemma4", "gemma4_unified", "git",
         "got_ocr2", "llama4", "mllama", "moss_transcribe_diarize", "musicgen", "musicgen_melody",
         "phi4_multimodal", "qwen3_5", "qwen3_5_moe", "qwen4_exp"),
        MORE_THAN_TEXT,
    ),
    **dict.fromkeys(("gemma4_assistant", "gemma4_unified_assistant"), DRAFTS),
    "blt": "reads bytes by a second model, which its config cannot make small",
    "gemma3n_text": "its layers share caches in a pattern that two layers do not have",
    "reformer": "its positions are a grid of the one length that it was made for",
}  # fmt: skip

NAMES = tuple(n for n in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if n not in LEFT_OUT)


def make(name: str, vocabulary: int = VOCABULARY) -> Any:
    """Return a tiny random model of an architecture, in float32 on the CPU."""
    kind = CONFIG_MAPPING[name]
    default = kind()
    values = {key: value for key, value in SIZES.items() if _has(default, key)}
    if getattr(default, "is_decoder", None) is False:
        values["is_decoder"] = True
    if _has(default, "kv_lora_rank"):
        # Each head has its own keys there, made from those that are shared.
        values["num_key_value_heads"] = values["num_attention_heads"]
    values |= {"vocab_size": vocabulary} | SPECIAL.get(name, {})
    config = kind(**{key: value for key, value in values.items() if value is not None})
    torch.manual_seed(1)
    return AutoModelForCausalLM.from_config(config).eval()


def _has(config: Any, key: str) -> bool:
    """Whether a config takes this value."""
    if isinstance(getattr(type(config), key, None), property):
        return False  # which follows from others
    try:
        return hasattr(config, key)
    except Exception:  # some say that it differs from layer to layer
        return True


def info_of(name: str, model: Any) -> ModelInfo:
    """Return what the decoder has to know of such a model."""
    return ModelInfo(
        name, "", VOCABULARY, CONTEXT, (), (), False,
        parameters=model.num_parameters(), placement=Placement("float32", "cpu"),
    )  # fmt: skip

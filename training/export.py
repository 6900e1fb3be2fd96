"""The trained weights as a folder that transformers loads as it is.

    python -m training.export --corpus ../shared/corpus --out assets/story-model

exports the last checkpoint in `--work`; `training.train` does the same by itself at its end.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from training.data import EOS
from training.evaluate import Score, evaluate
from training.model import StoryLM
from training.prepare import WORK, Corpus, load_corpus
from training.recipe import Recipe

MAX_SHARD = "9MB"  # a plain push to a Space takes files under 10 MB


def to_transformers(model: StoryLM, dtype: torch.dtype = torch.bfloat16) -> LlamaForCausalLM:
    """The same weights in transformers' own class."""
    twin = LlamaForCausalLM(model.config)
    missing, unexpected = twin.load_state_dict(model.state_dict(), strict=False)
    if unexpected or set(missing) - {"lm_head.weight"}:  # the head is tied to the embedding
        raise ValueError(f"the models differ: missing {missing}, unexpected {unexpected}")
    twin.tie_weights()
    return twin.to(dtype).eval()  # type: ignore[arg-type, no-any-return]


def export(model: StoryLM, tokenizer_file: Path, out: Path) -> None:
    """Writes config, generation config, sharded bfloat16 weights and the tokenizer to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("model*.safetensors*"):
        old.unlink()  # a shard of an earlier export must not be taken for one of this
    twin = to_transformers(model)
    eos = model.config.eos_token_id
    twin.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
        bos_token_id=eos, eos_token_id=eos, pad_token_id=eos, do_sample=True
    )
    twin.save_pretrained(out, max_shard_size=MAX_SHARD)
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(tokenizer_file),
        eos_token=EOS,
        bos_token=EOS,
        pad_token=EOS,
        model_max_length=model.config.max_position_embeddings,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.save_pretrained(out)
    for file in out.glob("model*.safetensors"):
        file.chmod(0o644)


def shipped_score(model: StoryLM, corpus: Corpus) -> Score:
    """The held-out score of the weights as they are shipped, rounded to bfloat16."""
    rounded = StoryLM(model.config, dtype=torch.float32)
    rounded.load_state_dict({k: v.bfloat16() for k, v in model.state_dict().items()})
    return evaluate(rounded, corpus.held_out, corpus.held_out_bytes)


def export_run(work: Path, corpus: Corpus, out: Path) -> None:
    """Exports the averaged weights of the checkpoint in `work`, with the run's figures."""
    state = torch.load(work / "checkpoint.pt", weights_only=True)
    recipe = Recipe(**state["recipe"])
    model = StoryLM(recipe.config())
    model.load_state_dict(state["average"])
    export(model, work / "tokenizer.json", out)
    score = shipped_score(model, corpus)
    steps, tokens, _, seconds = state["counters"]
    summary = {
        "recipe": asdict(recipe),
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": steps,
        "tokens": tokens,
        "seconds": round(seconds),
        "main_documents": len(corpus.main),
        "main_tokens": sum(map(len, corpus.main)),
        "held_out_documents": len(corpus.held_out),
        "held_out_bytes": score.bytes,
        "held_out_nats_per_token": score.nats / score.tokens,
        "held_out_perplexity": score.perplexity,
        "held_out_bits_per_byte": score.bits_per_byte,
        "history": state["history"],
    }
    (out / "training.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(f"exported to {out}: {score} on {len(corpus.held_out)} held-out documents", flush=True)


def main() -> None:
    """Exports the last checkpoint."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the corpus files")
    parser.add_argument("--out", type=Path, required=True, help="where the model is exported to")
    parser.add_argument("--work", type=Path, default=WORK, help="checkpoint, tokenizer, ids")
    options = parser.parse_args()
    state = torch.load(options.work / "checkpoint.pt", weights_only=True)
    recipe = Recipe(**state["recipe"])
    corpus = load_corpus(options.corpus, options.work, recipe.vocab_size, recipe.held_out)
    export_run(options.work, corpus, options.out)


if __name__ == "__main__":
    main()

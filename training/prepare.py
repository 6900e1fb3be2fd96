"""The corpus folder as encoded, split documents; made once and kept in the work folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.data import encode, read_documents, split_documents, train_tokenizer

WORK = Path("checkpoints/story-model")  # the default; not in the repository
MAIN, SIDE = "tinystories.txt", "fairytales.txt"
SIDE_FOR_TOKENIZER = 8  # every 8th fairy tale: the merges are for the stories in the first place
PARTS = ("main", "side", "held_out")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents as uint16 ids without `<|endoftext|>`; `held_out` is of the main part alone."""

    main: list[np.ndarray]
    side: list[np.ndarray]
    held_out: list[np.ndarray]
    held_out_bytes: list[int]


def load_corpus(folder: Path, work: Path, vocab_size: int, share: float) -> Corpus:
    """Reads, splits and encodes the corpus, or takes what an earlier call left in `work`."""
    cache, tokenizer_file = work / "corpus.npz", work / "tokenizer.json"
    if cache.exists() and tokenizer_file.exists():
        return unpack(cache)
    main, held_out = split_documents(read_documents(folder / MAIN), share)
    side, _ = split_documents(read_documents(folder / SIDE), share)
    tokenizer = train_tokenizer([*main, *side[::SIDE_FOR_TOKENIZER]], vocab_size)
    corpus = Corpus(
        main=encode(tokenizer, main),
        side=encode(tokenizer, side),
        held_out=encode(tokenizer, held_out),
        held_out_bytes=[len(document.encode("utf-8")) for document in held_out],
    )
    pack(corpus, cache)
    tokenizer.save(str(tokenizer_file))  # last, because its presence says that all is done
    return corpus


def pack(corpus: Corpus, path: Path) -> None:
    """One flat array of ids and one of lengths for each part."""
    arrays = {"held_out_bytes": np.asarray(corpus.held_out_bytes)}
    for name in PARTS:
        documents: list[np.ndarray] = getattr(corpus, name)
        arrays[f"{name}_ids"] = np.concatenate(documents)
        arrays[f"{name}_lengths"] = np.asarray([len(d) for d in documents])
    np.savez(path, allow_pickle=False, **arrays)


def unpack(path: Path) -> Corpus:
    """The reverse of `pack`."""
    with np.load(path) as file:
        documents = {
            name: np.split(file[f"{name}_ids"], np.cumsum(file[f"{name}_lengths"])[:-1])
            for name in PARTS
        }
        return Corpus(**documents, held_out_bytes=file["held_out_bytes"].tolist())

"""Corpus, held-out split, tokenizer and the endless, seekable stream of training batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor

EOS = "<|endoftext|>"
IGNORE = -100  # target of a padding position, the index cross-entropy skips
# Row lengths in tokens: fine where most stories end, so that little is padding, yet few, because
# each is compiled once.
BUCKETS = (144, 160, 176, 192, 208, 224, 256, 304, 384, 512, 768)
SIDE_LENGTH = 384  # the side documents are whole books, and short rows are cheaper


def read_documents(path: Path) -> list[str]:
    """The documents of a corpus file, each closed by a line `<|endoftext|>` there."""
    pieces = path.read_text(encoding="utf-8").split(EOS)
    return [text for piece in pieces if (text := piece.strip())]


def is_held_out(document: str, share: float) -> bool:
    """Whether a document belongs to the held-out split: a function of its text alone.

    A hash, not a position, so that the split survives reordering and growth of the corpus.
    """
    digest = hashlib.sha256(document.encode("utf-8")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def split_documents(documents: Sequence[str], share: float) -> tuple[list[str], list[str]]:
    """Whole documents into (training, held-out); a text never stands in both."""
    train = [d for d in documents if not is_held_out(d, share)]
    held_out = [d for d in documents if is_held_out(d, share)]
    return train, held_out


def train_tokenizer(documents: Sequence[str], vocab_size: int) -> Tokenizer:
    """A byte-level BPE with `<|endoftext|>` as id 0; it encodes any text and never needs an unk."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[EOS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, documents: Sequence[str]) -> list[np.ndarray]:
    """Each document as uint16 token ids, without `<|endoftext|>`."""
    encodings = tokenizer.encode_batch(list(documents), add_special_tokens=False)
    return [np.asarray(e.ids, dtype=np.uint16) for e in encodings]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one document piece each: `inputs` and `targets`, both (B, T) int64."""

    inputs: Tensor
    targets: Tensor
    count: int  # targets that are not IGNORE


class BatchStream:
    """The endless training stream: micro-batches of one bucket length each, shuffled by epoch.

    Every batch is a function of (seed, index), so a resumed run needs the index alone. An epoch is
    one pass over the main documents plus a fresh slice of the side documents, whose tokens make up
    `side_share` of the epoch. A row holds one piece of one document, so that a token sees its own
    story from the start and nothing else; half of the rows begin with `<|endoftext|>`, because a
    prompt may come with it or without, and one in eight begins inside its story.
    """

    def __init__(
        self,
        main: Sequence[np.ndarray],
        side: Sequence[np.ndarray],
        *,
        side_share: float,
        tokens_per_batch: int,
        eos: int,
        seed: int,
    ) -> None:
        self.main, self.side = main, side
        self.tokens_per_batch, self.eos, self.seed = tokens_per_batch, eos, seed
        main_tokens = sum(map(len, main))
        self.side_tokens = int(main_tokens * side_share / (1 - side_share)) if side else 0
        self._side_ends = np.cumsum([len(d) for d in side]) if side else np.zeros(0)

    def epoch(self, number: int) -> list[list[np.ndarray]]:
        """The rows of an epoch, grouped into micro-batches: ids with their last target."""
        rng = np.random.default_rng((self.seed, number))
        rows = [row for d in self.main for row in self._rows(d, rng, BUCKETS[-1])]
        rows += [row for d in self._side_slice(number) for row in self._rows(d, rng, SIDE_LENGTH)]
        groups: dict[int, list[np.ndarray]] = {length: [] for length in BUCKETS}
        for i in rng.permutation(len(rows)):
            groups[bucket(len(rows[i]) - 1)].append(rows[i])
        batches = [
            group[start : start + size]
            for length, group in groups.items()
            for size in [max(1, self.tokens_per_batch // length)]
            for start in range(0, len(group) - size + 1, size)  # the ragged rest waits an epoch
        ]
        return [batches[i] for i in rng.permutation(len(batches))]

    def __call__(self, start: int = 0) -> Iterator[Batch]:
        """Batches from index `start` on, without end."""
        number, skip = 0, start
        while True:
            batches = self.epoch(number)
            if not batches:
                raise ValueError("corpus: too few documents to fill one batch of any row length")
            for rows in batches[skip:]:
                yield collate(rows)
            number, skip = number + 1, max(0, skip - len(batches))

    def _side_slice(self, number: int) -> Sequence[np.ndarray]:
        """The side documents of epoch `number`: consecutive slices of about `side_tokens`."""
        if not self.side_tokens:
            return []
        total = int(self._side_ends[-1])
        start = number * self.side_tokens % total
        picked, tokens = [], 0
        i = int(np.searchsorted(self._side_ends, start, side="right"))
        while tokens < self.side_tokens:
            picked.append(self.side[i % len(self.side)])
            tokens += len(picked[-1])
            i += 1
        return picked

    def _rows(
        self, document: np.ndarray, rng: np.random.Generator, longest: int
    ) -> list[np.ndarray]:
        """A document as rows of at most `longest` plus one (the last target) tokens."""
        ids = np.append(document, self.eos).astype(np.int64)
        if rng.random() < 0.125:
            ids = ids[rng.integers(len(ids) // 2 + 1) :]
        elif rng.random() < 0.5:
            ids = np.insert(ids, 0, self.eos)
        rows = [ids[i : i + longest + 1] for i in range(0, len(ids) - 1, longest)]
        return [row for row in rows if len(row) > 16]


def bucket(length: int) -> int:
    """The smallest bucket that holds `length` input tokens."""
    return next(b for b in BUCKETS if b >= length)


def collate(rows: Sequence[np.ndarray]) -> Batch:
    """Rows of one bucket as a padded batch."""
    width = bucket(max(map(len, rows)) - 1)
    inputs = torch.zeros((len(rows), width), dtype=torch.int64)
    targets = torch.full((len(rows), width), IGNORE, dtype=torch.int64)
    for i, row in enumerate(rows):
        inputs[i, : len(row) - 1] = torch.from_numpy(row[:-1])
        targets[i, : len(row) - 1] = torch.from_numpy(row[1:])
    return Batch(inputs, targets, sum(map(len, rows)) - len(rows))

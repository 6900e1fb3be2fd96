"""A tiny language model without weights: deterministic, instant, and nasty on purpose.

It writes word salad whose distributions look like those of a real model: heads of one to four
likely tokens over a tail, characters that span several byte tokens, newlines, texts that a page
must not run, and a rare end-of-sequence. Tests and the page's own checks run on it.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from xtc_viz.models.base import Logits
from xtc_viz.models.prompts import check_prompts, check_room
from xtc_viz.records.modelinfo import ModelInfo, Placement
from xtc_viz.sampling.distribution import PartialLogits

END = 0
SYSTEM, USER, ASSISTANT = 1, 2, 3
SPECIALS = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
FIRST_BYTE = len(SPECIALS)
HOSTILE = (" <img src=x onerror=alert(1)>", "${20+22}", "{{text}}", "</script><b>")
WORDS = (
    *("\n", "\n\n", ".", ",", "!", "?", '"', "'", ";", " –", " ", "  ", "s", "ed", "ing", "ly"),
    *(" the", " a", " an", " and", " but", " so", " then", " to", " of", " in", " on", " with"),
    *(" was", " is", " had", " saw", " ran", " said", " went", " found", " loved", " there"),
    *(" he", " she", " it", " they", " girl", " boy", " bear", " dragon", " tree", " house"),
    *(" little", " big", " old", " red", " happy", " sad", " small", " day", " time", " Lily"),
    *("Once", " upon", " Tom", " mom", " friend", " forest", " star", " naïve", " café", "ß"),
    *HOSTILE,
)
FIRST_WORD = FIRST_BYTE + 256
# Characters that the model writes now and then, byte by byte.
SPELLED = ("🐉", "猫", "é")

LogitsFunction = Callable[[tuple[int, ...]], ArrayLike]


def _vocabulary() -> list[bytes]:
    specials = [text.encode() for text in SPECIALS]
    return [*specials, *(bytes([b]) for b in range(256)), *(word.encode() for word in WORDS)]


def _spelling() -> dict[tuple[int, ...], int]:
    """Map the last one or two tokens within a spelled character to the byte that must follow."""
    follow: dict[tuple[int, ...], int] = {}
    for character in SPELLED:
        ids = [FIRST_BYTE + b for b in character.encode()]
        for n in range(1, len(ids)):
            follow[tuple(ids[max(0, n - 2) : n])] = ids[n]
    return follow


_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)


def _hash(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix 64-bit integers (splitmix64); the same on every machine."""
    values = values * _MULTIPLIERS[0]
    values = (values ^ (values >> np.uint64(30))) * _MULTIPLIERS[1]
    values = (values ^ (values >> np.uint64(27))) * _MULTIPLIERS[2]
    return values ^ (values >> np.uint64(31))


class FakeModel:
    """The `LanguageModel` protocol without a model.

    `logits` replaces the built-in distribution: it is called with all token ids of a lane so far
    and returns `vocab_size` numbers. `seed` picks another built-in distribution. `delay` is a
    number of seconds to sleep at every step, for tests of streaming. `vocab_size` may be larger
    than the vocabulary, as the padded embeddings of real models are. With `candidates` a
    generation shows only so many of the most probable tokens, as a server does.
    `open_generations` counts the decodes that were started and not closed.
    """

    def __init__(
        self,
        *,
        logits: LogitsFunction | None = None,
        seed: int = 0,
        delay: float = 0.0,
        vocab_size: int | None = None,
        context_length: int = 4096,
        candidates: int | None = None,
        name: str = "fake",
    ) -> None:
        self._vocabulary = _vocabulary()
        self._ids = {word: FIRST_WORD + i for i, word in enumerate(WORDS)}
        self._longest = max(map(len, WORDS))
        self._logits = logits
        self._seed = seed
        self._follow = _spelling()
        self.delay = delay
        self.candidates = candidates
        self.open_generations = 0
        size = len(self._vocabulary) if vocab_size is None else vocab_size
        if size < len(self._vocabulary):
            raise ValueError(f"`vocab_size` must be >= {len(self._vocabulary)}, but is {size}")
        self._info = ModelInfo(
            name=name,
            revision="",
            vocab_size=size,
            context_length=context_length,
            eos_ids=(END,),
            newline_ids=tuple(i for i, token in enumerate(self._vocabulary) if b"\n" in token),
            has_chat_template=True,
            has_thinking_switch=True,
            placement=Placement("float32", "cpu"),
        )
        self._row = lru_cache(maxsize=4096)(self._built_in)

    @property
    def info(self) -> ModelInfo:
        return self._info

    def fingerprint(self) -> str:
        """Return what picks the built-in distribution; another one must have a name of its own."""
        return f"seed {self._seed}"

    def encode(self, text: str) -> list[int]:
        """Tokenize greedily by the longest word; what is no word becomes bytes."""
        ids: list[int] = []
        at = 0
        while at < len(text):
            for length in range(min(self._longest, len(text) - at), 0, -1):
                token = self._ids.get(text[at : at + length])
                if token is not None:
                    ids.append(token)
                    at += length
                    break
            else:
                ids.extend(FIRST_BYTE + b for b in text[at].encode(errors="replace"))
                at += 1
        return ids

    def encode_chat(self, user: str, system: str = "", *, thinking: bool = True) -> list[int]:
        ids = [SYSTEM, *self.encode(system)] if system else []
        done = [] if thinking else self.encode("<think>\n\n</think>\n\n")
        return [*ids, USER, *self.encode(user), ASSISTANT, *done]

    def token_text(self, token_id: int) -> str:
        if not 0 <= token_id < self._info.vocab_size:
            raise ValueError(
                f"`token_id` must be in [0, {self._info.vocab_size}), but is {token_id}"
            )
        if token_id >= len(self._vocabulary):
            return f"<unused {token_id}>"
        token = self._vocabulary[token_id]
        try:
            return token.decode()
        except UnicodeDecodeError:
            return "".join(f"<0x{byte:02X}>" for byte in token)

    def detokenizer(self, prefix_ids: Sequence[int] = ()) -> FakeDetokenizer:
        detokenizer = FakeDetokenizer(self._vocabulary)
        for token_id in prefix_ids:
            detokenizer.push(token_id)
        return detokenizer

    def start(self, prompts: Sequence[Sequence[int]]) -> FakeGeneration:
        return FakeGeneration(self, check_prompts(prompts, self._info))

    def logits(self, ids: tuple[int, ...]) -> torch.Tensor:
        """Return the next-token logits (vocab_size,), float32, after the token ids `ids`."""
        if self._logits is None:
            return self._row(ids[-2] if len(ids) > 1 else END, ids[-1])
        row = torch.as_tensor(np.asarray(self._logits(ids), dtype=np.float32))
        if row.shape != (self._info.vocab_size,):
            raise ValueError(
                f"`logits` must return {self._info.vocab_size} numbers, but gave {row.shape}"
            )
        return row

    def _built_in(self, before: int, last: int) -> torch.Tensor:
        size = len(self._vocabulary)
        row = np.full(self._info.vocab_size, -30.0, dtype=np.float32)
        must = self._follow.get((before, last), self._follow.get((last,)))
        if must is not None:
            row[must] = 10.0
            row[FIRST_WORD:size] = 0.0
            return torch.from_numpy(row)
        context = np.array([self._seed % 2**64, before, last], np.uint64)
        key = _hash(_hash(_hash(context[:1]) ^ context[1:2]) ^ context[2:3])
        noise = _hash(np.arange(size, dtype=np.uint64) ^ key)
        uniform = (noise >> np.uint64(11)).astype(np.float64) * 2.0**-53
        # A tail within [0, 2.5) under a head of 1 to 4 tokens around 6: heads above 0.1 are common.
        row[FIRST_WORD:size] = 2.5 * uniform[FIRST_WORD:]
        row[FIRST_WORD + len(WORDS) - len(HOSTILE) : size] += 1.0
        order = np.argsort(noise[FIRST_WORD:], kind="stable") + FIRST_WORD
        heads = 1 + int(noise[END] % np.uint64(4))
        row[order[:heads]] = 5.5 + 1.5 * uniform[order[::-1][:heads]]
        for character in SPELLED:
            row[FIRST_BYTE + character.encode()[0]] = 3.2
        row[END] = 1.0
        return torch.from_numpy(row)


class FakeGeneration:
    """A decode over the fake; its cache is the rows' token ids."""

    accepts_rows = True

    def __init__(self, model: FakeModel, rows: list[tuple[int, ...]]) -> None:
        self._model = model
        self._rows = rows
        self._closed = False
        model.open_generations += 1
        self._current = self._forward(rows)

    @property
    def logits(self) -> Logits:
        return self._shown(self._current)

    def advance(self, token_ids: Sequence[int]) -> Logits:
        self._check_open()
        if len(token_ids) != len(self._rows):
            raise ValueError(f"{len(self._rows)} rows need a token each, got {len(token_ids)}")
        check_room(min(map(len, self._rows)) + 2, self._model.info)
        self._rows = [(*row, int(i)) for row, i in zip(self._rows, token_ids, strict=True)]
        self._current = self._forward(self._rows)
        return self.logits

    def replace(self, places: Sequence[int], prompts: Sequence[Sequence[int]]) -> Logits:
        self._check_open()
        rows = check_prompts(prompts, self._model.info)
        logits = self._forward(rows)
        self._current = self._current[:]
        for place, row, its_logits in zip(places, rows, logits, strict=True):
            self._rows[place] = row
            self._current[place] = its_logits
        return self._shown(logits)

    def keep(self, places: Sequence[int]) -> None:
        self._check_open()
        self._rows = [self._rows[place] for place in places]
        self._current = [self._current[place] for place in places]

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._model.open_generations -= 1

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("this generation was closed")

    def _forward(self, rows: Sequence[tuple[int, ...]]) -> list[torch.Tensor]:
        if self._model.delay:
            time.sleep(self._model.delay)
        return [self._model.logits(row) for row in rows]

    def _shown(self, rows: Sequence[torch.Tensor]) -> Logits:
        if self._model.candidates is None:
            return torch.stack(list(rows))
        return [most_probable(row, self._model.candidates) for row in rows]


def most_probable(logits: torch.Tensor, candidates: int) -> PartialLogits:
    """Return what a server that shows so many candidates tells of logits, (V,)."""
    log_probs = logits.double().log_softmax(-1)
    top = log_probs.topk(min(candidates, len(log_probs)))
    outside = max(0.0, 1.0 - float(top.values.exp().sum()))
    return PartialLogits(top.indices.numpy(), top.values.float().numpy(), outside)


class FakeDetokenizer:
    """Bytes to text; the special tokens leave no trace in it."""

    def __init__(self, vocabulary: Sequence[bytes]) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token_id: int) -> str:
        if not FIRST_BYTE <= token_id < len(self._vocabulary):
            return ""
        return self._decoder.decode(self._vocabulary[token_id])

    def flush(self) -> str:
        return self._decoder.decode(b"", final=True)

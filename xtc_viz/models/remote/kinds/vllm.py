"""vLLM's server: OpenAI completions with token ids in and out, and as many candidates as its owner
allows (`--max-logprobs`, 20 by default).

What it reports in its usual `--logprobs-mode` is the softmax of the raw logits; in the others a
request without cutoffs, penalties and bias comes to the same, but for those that show logits
(`vllm/v1/sample/sampler.py`). Its tokens it tells as texts, in which half a character is U+FFFD
(`/detokenize`), and of a vocabulary only what a text needs (`/tokenize`, `/tokenizer_info`); so
their bytes, and what ends a text, come from a folder with the same tokenizer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

from xtc_viz.errors import PromptError, shown
from xtc_viz.models.load import Progress
from xtc_viz.models.remote.kinds.base import LARGEST, Facts, ask
from xtc_viz.models.remote.tokenizer import SAMPLES, FolderTokenizer, read_folder
from xtc_viz.models.remote.values import ROUNDING, Reader
from xtc_viz.models.remote.wire import LONG, SMALL, StatusError, Wire
from xtc_viz.models.tokentable import REPLACEMENT, TokenTable
from xtc_viz.records.modelinfo import ModelInfo, Served
from xtc_viz.sampling.distribution import PartialLogits

ENTRY = 60  # bytes of a candidate in an answer, at most: `"token_id:151642":-12.345678901234567,`
LOOKS = 64
"""So many tokens, spread over the vocabulary, are held against the folder's."""
TIDIED = LOOKS // 10
"""Of these so many may differ: some tokenizers tidy up what they write."""

_ID = re.compile(r"token_id:(\d{1,9})", re.ASCII)


def recognize(wire: Wire, tokenizer: str) -> VLLM | None:
    answer = ask(wire, "/v1/models")
    models = answer.get("data") if isinstance(answer, dict) else None
    card = models[0] if isinstance(models, list) and models else None
    if not isinstance(card, dict) or card.get("owned_by") != "vllm":
        return None
    return VLLM(wire, card, tokenizer)


class VLLM:
    """A `Server` of vLLM. `card` is what it says of its model, `tokenizer` a folder."""

    kind = "vLLM"
    slots = 16  # it takes whatever comes, and says nowhere how many texts it writes at once

    def __init__(self, wire: Wire, card: dict[str, Any], tokenizer: str) -> None:
        self._wire = wire
        self._read = Reader(wire)
        self._card = card
        self._folder = tokenizer
        self._model = self._read.text("`id`", card.get("id"))
        self._size = LARGEST

    def facts(self, progress: Progress) -> Facts:
        read = self._read
        if not self._folder:
            raise self._wire.error(
                "is vLLM, which tells neither the bytes of its tokens nor all that end a text. "
                "Name the folder with its model's tokenizer.json too: --tokenizer FOLDER, or the "
                "field under the address"
            )
        folder = read_folder(self._folder, progress)
        progress("holding the tokenizer against the server's", None)
        self._size = self._vocabulary()
        self._check_samples(folder)
        self._check_texts(folder)
        progress("asking how many candidates it shows", None)
        shows = self._shows()
        self._check_scale(folder.samples, shows)
        chat, thinking = self._templates()
        info = ModelInfo(
            name=self._name(),
            revision="",
            vocab_size=self._size,
            context_length=read.integer("`max_model_len`", self._card.get("max_model_len"), 1),
            eos_ids=tuple(i for i in folder.eos_ids if 0 <= i < self._size),
            newline_ids=tuple(i for i in folder.table.newline_ids() if i < self._size),
            has_chat_template=chat,
            has_thinking_switch=thinking,
            served=Served(self.kind, self._version(), shows if shows < self._size else None),
        )
        own = [self._model, self._card.get("root"), self._size]
        data = b"\0".join(folder.table.data)
        digest = blake2b(json.dumps(own).encode() + data, digest_size=8)
        return Facts(info, folder.table, digest.hexdigest())

    def still(self) -> str:
        answer = self._read.mapping("/v1/models", self._wire.get("/v1/models"))
        models = self._read.items("`data`", answer.get("data"))
        card = self._read.mapping("`data`", models[0] if models else None)
        return json.dumps([card.get(name) for name in ("id", "root", "max_model_len")])

    def candidates(self, prompts: Sequence[Sequence[int]], count: int) -> Sequence[PartialLogits]:
        answer = self._complete(prompts, count)
        choices = self._read.items("`choices`", answer.get("choices"), len(prompts))
        known: dict[int, PartialLogits] = {}
        for choice in choices:
            values = self._read.mapping("`choices`", choice)
            index = self._read.integer("`index`", values.get("index"), 0, len(prompts) - 1)
            known[index] = self._known(values, count)
        if len(known) < len(prompts):
            raise self._wire.error("answers one prompt twice, and another not at all")
        return [known[index] for index in range(len(prompts))]

    def tokenize(self, text: str) -> list[int]:
        return self._tokens({"prompt": text})

    def chat(self, user: str, system: str, thinking: bool) -> list[int]:
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": user})
        values: dict[str, Any] = {"messages": turns}
        if not thinking:
            values["chat_template_kwargs"] = {"enable_thinking": False}
        try:
            return self._tokens(values)
        except StatusError as error:
            words = f"The chat template of {self._name()} does not take this: {error.words}"
            raise PromptError(words) from None

    def piece(self, token: int) -> str:
        return self._read.name("`prompt`", self._text(token))

    # What it is asked

    def _complete(
        self, prompts: Sequence[Sequence[int]], count: int, **more: Any
    ) -> dict[str, Any]:
        """Ask for one token after each prompt, with nothing that would change its distribution.

        Whoever made the model may have said what is usual for it: all of that is said here.
        """
        values = {
            "model": self._model,
            "prompt": [list(prompt) for prompt in prompts],
            "max_tokens": 1,
            "logprobs": count,
            "return_tokens_as_token_ids": True,
            "temperature": 0,
            "top_p": 1,
            "top_k": 0,
            "min_p": 0,
            "repetition_penalty": 1,
            "presence_penalty": 0,
            "frequency_penalty": 0,
        }
        size = SMALL + ENTRY * count * len(prompts)
        answer = self._wire.post("/v1/completions", values | more, seconds=LONG, most=size)
        return self._read.mapping("/v1/completions", answer)

    def _takes(self, count: int = 0, **more: Any) -> bool:
        """Whether it takes such a request."""
        try:
            self._complete([[0]], count, **more)
        except StatusError as error:
            if error.status == 400:
                return False
            raise
        return True

    def _tokens(self, values: dict[str, Any]) -> list[int]:
        answer = self._wire.post("/tokenize", {"model": self._model, **values})
        tokens = self._read.mapping("/tokenize", answer).get("tokens")
        return self._read.tokens("`tokens`", tokens, self._size, LARGEST)

    def _text(self, token: int) -> str:
        answer = self._wire.post("/detokenize", {"model": self._model, "tokens": [token]})
        text = self._read.mapping("/detokenize", answer).get("prompt")
        return self._read.text("`prompt`", text)

    # What there is to find out

    def _vocabulary(self) -> int:
        """Return the width of the logits: no bias can be given to a token beyond it."""
        self._complete([[0]], 0)  # whatever is wrong with such requests is said here
        size = _most(lambda n: self._takes(logit_bias={str(n - 1): 0}), LARGEST + 1)
        if not 0 < size <= LARGEST:
            raise self._wire.error("does not say how many tokens its vocabulary has")
        return size

    def _shows(self) -> int:
        """Return how many candidates it shows at most."""
        shows = _most(self._takes, self._size)
        if not shows:
            raise self._wire.error(
                "shows no candidates: start it without --max-logprobs 0 (-1 shows all)"
            )
        return shows

    def _check_samples(self, folder: FolderTokenizer) -> None:
        """Refuse a tokenizer that cuts texts otherwise than the server does."""
        for text, tokens in zip(SAMPLES, folder.samples, strict=True):
            if self.tokenize(text) != tokens:
                words = f"makes other tokens of {shown(text)} than the tokenizer in {folder.name}"
                raise self._wire.error(f"{words}: that is not its model's")

    def _check_texts(self, folder: FolderTokenizer) -> None:
        """Refuse a tokenizer whose tokens are others than the server's."""
        looked = sorted({i * (self._size - 1) // (LOOKS - 1) for i in range(LOOKS)})
        differ = [i for i in looked if not _alike(folder.table, i, self._text(i))]
        if len(differ) > TIDIED:
            words = f"has other texts for {len(differ)} of {len(looked)} tokens than the tokenizer"
            raise self._wire.error(f"{words} in {folder.name}: that is not its model's")

    def _check_scale(self, prompts: Sequence[Sequence[int]], shows: int) -> None:
        """Refuse logits in place of log-probabilities, which are 0 at most."""
        answer = self._complete(prompts, min(shows, 1))
        for choice in self._read.items("`choices`", answer.get("choices"), len(prompts)):
            top = self._top(self._read.mapping("`choices`", choice)).values()
            if any(type(value) in (int, float) and value > ROUNDING for value in top):
                raise self._wire.error(
                    "shows logits in place of log-probabilities: start it without --logprobs-mode"
                )

    def _templates(self) -> tuple[bool, bool]:
        """Whether there is a chat template, and whether it has a switch for thoughts."""
        try:
            ids = self.chat("a", "", thinking=True)
            return True, ids != self.chat("a", "", thinking=False)
        except PromptError:
            return False, False

    # What it answers, read

    def _name(self) -> str:
        # Where a folder lies is nobody's business in a trace; a hub id has one slash.
        name = self._read.name("`id`", self._model).replace("\\", "/").rstrip("/")
        path = name.startswith(("/", ".", "~")) or name.count("/") > 1 or ":" in name
        return (name.rpartition("/")[2] if path else name) or "a model without a name"

    def _version(self) -> str:
        answer = ask(self._wire, "/version")
        version = answer.get("version", "") if isinstance(answer, dict) else ""
        return self._read.name("`version`", version)

    def _top(self, choice: dict[str, Any]) -> dict[str, Any]:
        """Return the log-probabilities of the only step of a choice."""
        where = "`top_logprobs`"
        values = self._read.mapping("`logprobs`", choice.get("logprobs"))
        [top] = self._read.items(where, values.get("top_logprobs"), 1)
        return self._read.mapping(where, top)

    def _known(self, choice: dict[str, Any], count: int) -> PartialLogits:
        top = self._top(choice)
        ids = [_ID.fullmatch(name) for name in top]
        if not all(ids):
            raise self._wire.error("shows candidates without their ids")
        tokens = [int(i[1]) for i in ids if i]
        known = self._read.candidates(tokens, [*top.values()], self._size)
        if len(known.ids) < count:
            words = f"shows {len(known.ids)} candidates where {count} were asked for"
            raise self._wire.error(words)
        # The token that it drew comes besides, where it is none of these.
        return self._read.known(known.ids[:count], known.log_probs[:count], self._size)


def _alike(table: TokenTable, token: int, text: str) -> bool:
    """Whether a server's text of a single token is what the table says of it."""
    data = table.bytes_of(token)
    if not data:
        return text.strip() in ("", table.pieces.get(token, "").strip())
    try:
        # A space at the beginning may be left out, as at the beginning of a text.
        return data.decode().strip() == text.strip()
    except UnicodeDecodeError:
        return REPLACEMENT in text


def _most(takes: Callable[[int], bool], limit: int) -> int:
    """Return the largest n up to `limit` that is taken, as all below it are; 0 for none."""
    low, high = 0, limit
    if takes(limit):
        return limit
    while high - low > 1:
        middle = (low + high) // 2
        if takes(middle):
            low = middle
        else:
            high = middle
    return low

"""llama.cpp's server: token ids in and out, and as many candidates as are asked for.

What `/completion` reports with `post_sampling_probs` off is the softmax of the raw logits, before
any sampler, bias or grammar (`tools/server/server-context.cpp`). Asked for as many candidates as
there are tokens, it tells the bytes of every one of them.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from xtc_viz.errors import PromptError
from xtc_viz.models.load import Progress
from xtc_viz.models.remote.kinds.base import LARGEST, MOST_SLOTS, Drawn, Facts, OwnXTC, ask
from xtc_viz.models.remote.values import Reader
from xtc_viz.models.remote.wire import LONG, SMALL, StatusError, Wire
from xtc_viz.models.tokentable import TokenTable
from xtc_viz.records.modelinfo import ModelInfo, Served
from xtc_viz.sampling.distribution import PartialLogits

ENTRY = 500  # bytes of a candidate in an answer, at most: mean 90, more for tokens of many bytes
WHERE = "`completion_probabilities`"
MARK = "<|im_start|>"
BLOCK = 16  # steps that are asked for at once
_ID, _LOG_PROB = itemgetter("id"), itemgetter("logprob")


def recognize(wire: Wire, tokenizer: str) -> LlamaCpp | None:
    props = ask(wire, "/props")
    # Others have the address too, koboldcpp among them, but not all of this.
    names = {"default_generation_settings", "build_info", "total_slots"}
    if not isinstance(props, dict) or not props.keys() >= names:
        return None
    return LlamaCpp(wire, props)


class LlamaCpp:
    """A `Server` of llama.cpp."""

    kind = "llama.cpp"

    def __init__(self, wire: Wire, props: dict[str, Any]) -> None:
        self._wire = wire
        self._read = Reader(wire)
        self._props = props
        self.slots = self._read.integer("`total_slots`", props["total_slots"], 1, MOST_SLOTS)
        self._size = LARGEST

    def facts(self, progress: Progress) -> Facts:
        read, props = self._read, self._props
        settings = read.mapping(
            "`default_generation_settings`", props["default_generation_settings"]
        )
        context = read.integer("`n_ctx`", settings.get("n_ctx"), 1)
        about = self._about()
        meta = about.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        self._size = read.integer("`n_vocab` in /v1/models", meta.get("n_vocab"), 1, LARGEST)
        progress("reading its vocabulary", None)
        table = self._table()
        template = read.text("`chat_template`", props.get("chat_template") or "")
        if MARK in template and len(self._tokens({"content": MARK})) != 1:
            template = ""  # it is the server's own, for models that have none
        parameters = meta.get("n_params")
        info = ModelInfo(
            name=self._name(),
            revision="",
            vocab_size=self._size,
            context_length=context,
            eos_ids=self._ends(),
            newline_ids=table.newline_ids(),
            has_chat_template=bool(template),
            has_thinking_switch="enable_thinking" in template,
            parameters=parameters if type(parameters) is int and parameters > 0 else None,
            served=Served(self.kind, self._version()),
        )
        own = [meta.get(name) for name in ("n_params", "n_embd", "size", "ftype")]
        digest = blake2b(json.dumps(own).encode() + b"\0".join(table.data), digest_size=8)
        return Facts(info, table, digest.hexdigest())

    def still(self) -> str:
        props = self._read.mapping("/props", self._wire.get("/props"))
        return f"{props.get('model_path')} {props.get('model_alias')}"

    def candidates(self, prompts: Sequence[Sequence[int]], count: int) -> Sequence[PartialLogits]:
        return [self._known(top) for top in self._top(prompts, count)]

    def write(
        self, prompt: Sequence[int], length: int, count: int, sampling: Mapping[str, Any]
    ) -> list[Drawn]:
        """Let the server write by itself, in one request: up to `length` tokens, each with the
        `count` most probable ones of its step."""
        values = {
            **_writing(prompt, length, count, sampling),
            "response_fields": ["completion_probabilities"],
        }
        answer = self._wire.post("/completion", values, seconds=LONG, most=_size(count, length))
        steps = self._read.mapping("/completion", answer).get("completion_probabilities")
        return self._drawn(steps, count)[:length]

    def stream(
        self, prompt: Sequence[int], length: int, count: int, sampling: Mapping[str, Any]
    ) -> Generator[Drawn, None, None]:
        """Yield the same token by token as the server writes them, and all of them.

        Of tokens that are a part of a character each it reports the last one only. From the first
        of these on the tokens are asked for once more, with the same seed, and the most probable
        ones of each step by themselves. Closing this generator stops the server.
        """
        values = {
            **_writing(prompt, length, count, sampling),
            "stream": True,
            "response_fields": ["tokens_predicted"],  # of the last event
        }
        written: list[int] = []
        events = self._wire.stream("/completion", values, seconds=LONG, most=_size(count, length))
        with closing(events):
            for answer in events:
                event = self._read.mapping("/completion", answer)
                # The last one has no token.
                drawn = self._drawn(event.get("completion_probabilities", []), count)
                counted = self._read.integer("`tokens_predicted`", event.get("tokens_predicted"))
                if counted != len(written) + len(drawn):
                    break
                written += [one.token for one in drawn]
                yield from drawn
            else:
                return
        tokens = self._tokens_of(_writing(prompt, length, 0, sampling), length)
        if tokens[: len(written)] != written:
            raise self._wire.error("writes another text with the same seed")
        for first in range(len(written), len(tokens), BLOCK):
            places = range(first, min(first + BLOCK, len(tokens)))
            known = self.candidates([[*prompt, *tokens[:place]] for place in places], count)
            yield from (Drawn(tokens[place], k) for place, k in zip(places, known, strict=True))

    def _tokens_of(self, writing: Mapping[str, Any], length: int) -> list[int]:
        values = {**writing, "return_tokens": True, "response_fields": ["tokens"]}
        answer = self._read.mapping(
            "/completion", self._wire.post("/completion", values, seconds=LONG)
        )
        return self._read.tokens("`tokens`", answer.get("tokens"), self._size, length)

    def _drawn(self, steps: object, count: int) -> list[Drawn]:
        drawn = []
        for step in self._read.items(WHERE, steps):
            entry = self._read.mapping(WHERE, step)
            top = self._entries(entry, count)
            token = self._read.token("`id`", entry.get("id"), self._size)
            drawn.append(Drawn(token, self._known(top)))
        return drawn

    def draw(self, prompt: Sequence[int], length: int, count: int, xtc: OwnXTC) -> list[Drawn]:
        # Penalties and cutoffs stand before XTC where nobody says otherwise.
        sampling = {
            "samplers": ["xtc", "temperature"],
            "xtc_probability": xtc.rho,
            "xtc_threshold": xtc.tau,
            "temperature": xtc.temperature,
            "seed": xtc.seed,
        }
        return self.write(prompt, length, count, sampling)

    def tokenize(self, text: str) -> list[int]:
        return self._tokens({"content": text, "add_special": True})

    def chat(self, user: str, system: str, thinking: bool) -> list[int]:
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": user})
        values: dict[str, Any] = {"messages": turns}
        if not thinking:
            values["chat_template_kwargs"] = {"enable_thinking": False}
        try:
            answer = self._wire.post("/apply-template", values)
        except StatusError as error:
            words = f"The chat template of {self._name()} does not take this: {error.words}"
            raise PromptError(words) from None
        prompt = self._read.mapping("/apply-template", answer).get("prompt")
        text = self._read.text("`prompt`", prompt)
        return self._tokens({"content": text, "add_special": True})

    def piece(self, token: int) -> str:
        answer = self._wire.post("/detokenize", {"tokens": [token]})
        content = self._read.mapping("/detokenize", answer).get("content")
        return self._read.name("`content`", content)

    # What it answers, read

    def _name(self) -> str:
        # Where the file lies is nobody's business in a trace. Without an alias that is its path.
        alias, path = self._props.get("model_alias"), self._props.get("model_path")
        path = self._read.text("`model_path`", path)
        name = alias if isinstance(alias, str) and alias != path else ""
        name = name or path.replace("\\", "/").rpartition("/")[2]
        return self._read.name("`model_alias`", name) or "a model without a name"

    def _version(self) -> str:
        build = self._read.name("`build_info`", self._props["build_info"])
        return "" if build.startswith("b0-") else build  # built without its own history

    def _about(self) -> dict[str, Any]:
        answer = self._read.mapping("/v1/models", self._wire.get("/v1/models"))
        models = self._read.items("`data`", answer.get("data"))
        return self._read.mapping("`data`", models[0] if models else None)

    def _tokens(self, values: dict[str, Any]) -> list[int]:
        # As transformers does at home, it takes the names of special tokens for these.
        values = {"parse_special": True, **values}
        answer = self._read.mapping("/tokenize", self._wire.post("/tokenize", values))
        return self._read.tokens("`tokens`", answer.get("tokens"), self._size, LARGEST)

    def _top(
        self, prompts: Sequence[Sequence[int]], count: int, **more: Any
    ) -> list[list[dict[str, Any]]]:
        """Return the entries of the most probable next tokens of each prompt."""
        values = {
            "prompt": [list(prompt) for prompt in prompts],
            "n_predict": 1,
            "n_probs": count,
            "temperature": 0,
            "samplers": ["top_k"],
            "top_k": 1,
            "cache_prompt": True,
            "response_fields": ["index", "completion_probabilities"],
        }
        size = SMALL + ENTRY * count * len(prompts)
        answer = self._wire.post("/completion", values | more, seconds=LONG, most=size)
        # Of one prompt the result comes without a list around it.
        listed = [answer] if isinstance(answer, dict) else answer
        results = self._read.items("/completion", listed, len(prompts))
        tops: dict[int, list[dict[str, Any]]] = {}
        for result in results:
            values = self._read.mapping("/completion", result)
            index = self._read.integer("`index`", values.get("index"), 0, len(prompts) - 1)
            steps = self._read.items(WHERE, values.get("completion_probabilities"), 1)
            tops[index] = self._entries(self._read.mapping(WHERE, steps[0]), count)
        if len(tops) < len(prompts):
            raise self._wire.error("answers one prompt twice, and another not at all")
        return [tops[index] for index in range(len(prompts))]

    def _entries(self, step: dict[str, Any], count: int) -> list[dict[str, Any]]:
        """Return the candidates of a step, as many as were asked for."""
        entries = self._read.items("`top_logprobs`", step.get("top_logprobs"))
        if not {*map(type, entries)} <= {dict}:
            raise self._wire.error("answers wrongly: `top_logprobs` must hold objects")
        if len(entries) < min(count, self._size):
            words = f"shows {len(entries)} candidates where {count} were asked for"
            raise self._wire.error(words)
        return entries

    def _known(self, entries: list[dict[str, Any]]) -> PartialLogits:
        try:
            ids, log_probs = [*map(_ID, entries)], [*map(_LOG_PROB, entries)]
        except KeyError as name:
            words = f"answers wrongly: {name} is missing in `top_logprobs`"
            raise self._wire.error(words) from None
        return self._read.candidates(ids, log_probs, self._size)

    def _table(self) -> TokenTable:
        """Ask for the bytes of all tokens."""
        [entries] = self._top([[0]], self._size)
        data = [b""] * self._size
        known = self._known(entries)
        if len(known.ids) < self._size:
            raise self._wire.error("does not tell the texts of all of its tokens")
        for entry in entries:
            own = self._read.items("`bytes`", entry.get("bytes"))
            try:
                data[entry["id"]] = bytes(own)
            except (ValueError, TypeError):
                raise self._wire.error("answers wrongly: `bytes` must be bytes") from None
        return TokenTable(
            special=frozenset(i for i, own in enumerate(data) if not own),
            data=data,
            first={},
            pieces={},
            newlines=tuple(i for i, own in enumerate(data) if b"\n" in own),
        )

    def _ends(self) -> tuple[int, ...]:
        """Return the tokens that end a text: those that `ignore_eos` forbids."""
        values = {"prompt": [0], "n_predict": 1, "ignore_eos": True, "n_probs": 0}
        answer = self._read.mapping("/completion", self._wire.post("/completion", values))
        settings = self._read.mapping("`generation_settings`", answer.get("generation_settings"))
        biased = self._read.items("`logit_bias`", settings.get("logit_bias"))
        ids = [entry.get("token") for entry in biased if isinstance(entry, dict)]
        ends = self._read.tokens("`logit_bias`", ids, self._size, 1000)
        return tuple(dict.fromkeys(ends))


def _writing(
    prompt: Sequence[int], length: int, count: int, sampling: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what asks it to write up to `length` tokens by itself."""
    return {
        **sampling,
        "prompt": list(prompt),
        "n_predict": length,
        "n_probs": count,
        "cache_prompt": True,
    }


def _size(count: int, length: int) -> int:
    """Return the most bytes in which so many tokens are answered."""
    return SMALL + ENTRY * count * length

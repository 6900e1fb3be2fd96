"""Models that run in this process, through transformers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.load import Progress, no_progress
from xtc_viz.models.local import zerogpu
from xtc_viz.models.local.apart import Apart, chat_of, encode_of, texts_of
from xtc_viz.models.local.fingerprint import weights_fingerprint
from xtc_viz.models.local.folder.download import fetch, revision_of
from xtc_viz.models.local.folder.files import make_view
from xtc_viz.models.local.folder.reader import check_fit, read_model
from xtc_viz.models.local.folder.rehearsal import plan_load
from xtc_viz.models.local.layers.activation import use_row_activations
from xtc_viz.models.local.layers.linear import use_few_rows_linear
from xtc_viz.models.local.placement import devices_of
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.local.steps.fixed import Graphs
from xtc_viz.models.local.steps.graph import graphs_for
from xtc_viz.models.local.steps.proof import TEXT, USUAL, Started, Way, prove, with_graphs
from xtc_viz.models.local.tokens.tokenizer import read_tokenizer
from xtc_viz.models.local.tokens.vocabulary import eos_ids
from xtc_viz.models.tokentable import StreamDetokenizer
from xtc_viz.records.modelinfo import ModelInfo, Placement


def leave_a_core() -> None:
    """Let torch use one thread fewer than there are cores, unless OMP_NUM_THREADS decides.

    For a process that serves a page or runs experiments: a step is one parallel section after
    another, each of which waits for its slowest thread, so a busy neighbour on the last core holds
    up all of them (135M, two cores: 50 ms a step instead of 78).
    """
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) - 1))


class LocalModel:
    """A causal language model of transformers with its tokenizer (the `LanguageModel` protocol).

    Make one with `LocalModel.load`. Logits come in the model's dtype on the model's device.
    `graphs` records the steps of a decode, where that is possible (`graphs_for`).
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        info: ModelInfo,
        graphs: Graphs | None = None,
        way: Way | None = None,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.graphs = graphs
        self._info = info
        self._texts = texts_of(tokenizer)
        self._way = way or (with_graphs(graphs) if graphs else USUAL)

    @classmethod
    def load(cls, spec: LocalSpec | str, progress: Progress = no_progress) -> LocalModel:
        """Load a hub id or a folder; raises `ModelError` with what is wrong and what to do."""
        spec = LocalSpec(spec) if isinstance(spec, str) else spec
        return cls.read(spec, fetch(spec, progress), progress)

    @classmethod
    def read(cls, spec: LocalSpec, folder: Path, progress: Progress = no_progress) -> LocalModel:
        """Read the model that `fetch` put into `folder`; raises `ModelError`.

        All in this process. `prepare` is the way for what strangers may choose.
        """
        with tempfile.TemporaryDirectory(prefix="xtc-viz-", ignore_cleanup_errors=True) as view:
            progress(f"reading {spec.short_name}", None)
            files = make_view(folder, Path(view), spec.short_name)
            plan = plan_load(files, Path(view), spec.short_name)
            tokenizer = read_tokenizer(Path(view), spec.short_name)
            model = read_model(spec, Path(view), plan, progress)
        return cls._of(model, tokenizer, spec, folder, progress)

    @classmethod
    def prepare(
        cls, spec: LocalSpec, folder: Path, progress: Progress
    ) -> Callable[[Progress], LocalModel]:
        """Check the folder in another process and return what reads the model.

        What the folder's files can make slow stays in that process. Raises `ModelError`.
        """
        apart = Apart(spec.short_name)
        plan = apart.plan(folder, progress)
        check_fit(plan, spec, now=False)
        tokenizer = apart.tokenizer(progress)

        def read(progress: Progress) -> LocalModel:
            progress(f"reading {spec.short_name}", None)
            model = read_model(spec, apart.view, plan, progress)
            return cls._of(model, tokenizer, spec, folder, progress)

        return read

    @classmethod
    def _of(
        cls, model: Any, tokenizer: Any, spec: LocalSpec, folder: Path, progress: Progress
    ) -> LocalModel:
        if devices_of(model)[0].type == "cpu":
            use_few_rows_linear(model)
            use_row_activations(model)
        info = describe(model, tokenizer, spec, folder)
        graphs = graphs_for(model)
        try:
            ids = encode_of(tokenizer, spec.short_name, TEXT)
        except PromptError as error:
            raise ModelError(str(error)) from error
        if zerogpu.here():
            # There is a GPU during a decode only.
            def start(*arguments: Any) -> Started:
                return prove(model, info, ids).start(*arguments)

            return cls(model, tokenizer, info, way=Way("", start))
        way = prove(model, info, ids, graphs, progress)
        return cls(model, tokenizer, said(info, way), graphs, way)

    @property
    def info(self) -> ModelInfo:
        return self._info

    def fingerprint(self) -> str:
        """Return a short text that other weights would change (`weights_fingerprint`)."""
        return weights_fingerprint(self.model)

    def encode(self, text: str) -> list[int]:
        return encode_of(self.tokenizer, self._info.name, text)

    def encode_chat(self, user: str, system: str = "", *, thinking: bool = True) -> list[int]:
        if not self._info.has_chat_template:
            raise PromptError(f"{self._info.name} has no chat template: send the text as it is.")
        return chat_of(self.tokenizer, self._info.name, user, system, thinking)

    def token_text(self, token_id: int) -> str:
        return self._texts.text_of(token_id)

    def detokenizer(self, prefix_ids: Sequence[int] = ()) -> StreamDetokenizer:
        return StreamDetokenizer(self._texts, prefix_ids)

    def start(self, prompts: Sequence[Sequence[int]]) -> Started:
        return self._way.start(self.model, self._info, prompts)


def describe(model: Any, tokenizer: Any, spec: LocalSpec, folder: Path) -> ModelInfo:
    """Collect what a page or a trace says about a loaded model."""
    config = model.config.get_text_config()
    texts = texts_of(tokenizer)
    dtype = str(model.dtype).removeprefix("torch.")
    return ModelInfo(
        name=spec.short_name,
        revision=revision_of(spec, folder),
        vocab_size=config.vocab_size,
        context_length=_context_length(config, tokenizer),
        eos_ids=eos_ids(tokenizer, model),
        newline_ids=texts.newline_ids(),
        has_chat_template=bool(tokenizer.chat_template),
        has_thinking_switch="enable_thinking" in str(tokenizer.chat_template),
        parameters=model.num_parameters(),
        placement=Placement(
            dtype if spec.quantization == "none" else f"{dtype}, {spec.quantization}",
            ", ".join(map(str, devices_of(model))),
        ),
    )


def said(info: ModelInfo, way: Way) -> ModelInfo:
    """Return `info` with the way in which the model is decoded."""
    assert info.placement is not None
    return replace(info, placement=replace(info.placement, decoding=way.words))


def _context_length(config: Any, tokenizer: Any) -> int:
    length = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    # Tokenizers without a limit say so by an astronomic number.
    return int(length) if length < 1 << 24 else 4096

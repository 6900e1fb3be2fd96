"""A run from its request to its trace: for the command line, experiments and recorded examples."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from xtc_viz.decode import decode_lanes
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.trace import Trace
from xtc_viz.runs.jobs import Job, fresh
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.request import Request
from xtc_viz.runs.worker import Decode


def record(model: LanguageModel, request: Request, decode: Decode = decode_lanes) -> Trace:
    """Return the trace of a whole run; the same request gives the same one, but for its seconds.

    Raises:
        SettingsError: a setting that cannot be on this model.
        PromptError: the prompt leaves no room in the model's context.
        DistributionError: the model gave logits that are no distribution.
    """
    job = fresh(request, model)
    recorder = Recorder(job.begin, job.lanes)
    with closing(write(job, recorder, model, decode)) as steps:
        for _ in steps:
            pass
    return recorder.trace()


def write(
    job: Job, recorder: Recorder, model: LanguageModel, decode: Decode = decode_lanes
) -> Generator[None, None, None]:
    """Decode a job into its recorder, one step of all lanes at a time.

    Closing this generator ends the decode; what was written is kept.
    """
    with closing(job.columns(model, decode)) as columns:
        for column in columns:
            recorder.add(column, model.token_text)
            yield

"""Vectors as text: JSON, and lines with tabs that any language reads (`docs/vectors.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isinf
from typing import Any

from xtc_viz.engines.base import Engine
from xtc_viz.engines.vectors.make import Vector

NAME, VERSION = "xtc-vectors", 2
COLUMNS = (
    "name", "safety", "temperature", "probability", "threshold", "min_keep", "protected", "logits",
    "probabilities", "survivors", "weights", "unlike",
)  # fmt: skip


def to_json(engine: Engine, vectors: Sequence[Vector], seed: int, made_by: str) -> str:
    """Return the JSON document, one case a line."""
    head: dict[str, Any] = {
        "format": NAME,
        "version": VERSION,
        "engine": engine.name,
        "dialect": asdict(engine.dialect),
        "source": asdict(engine.source) | {"read": engine.source.read.isoformat()},
        "made_by": made_by,
        "seed": seed,
    }
    lines = ",\n".join("  " + _dumped(_as_object(vector)) for vector in vectors)
    return f'{_dumped(head)[:-1]}, "cases": [\n{lines}\n]}}\n'


def to_tsv(engine: Engine, vectors: Sequence[Vector], seed: int, made_by: str) -> str:
    """Return lines of values with tabs between: comments with #, the names of columns, the cases.

    Lists have commas, `-inf` masks a token, an empty list is empty. Sets of survivors that are
    equally right have | between.
    """
    head = (
        f"# {NAME} {VERSION}, engine {engine.name}, seed {seed}, {made_by}",
        "\t".join(COLUMNS),
    )
    return "\n".join((*head, *map(_as_line, vectors))) + "\n"


def _as_object(vector: Vector) -> dict[str, Any]:
    asked = vector.asked
    return {
        "name": asked.name,
        "safety": str(asked.safety),
        "temperature": asked.temperature,
        "probability": asked.probability,
        "threshold": asked.threshold,
        "min_keep": asked.min_keep,
        "protected": sorted(asked.protected),
        "logits": [None if isinf(logit) else logit for logit in asked.logits],
        "probabilities": list(map(_short, asked.probs)),
        "survivors": [vector.survivors, *vector.or_else],
        "weights": list(map(_short, vector.weights)),
        "unlike": vector.unlike,
    }


def _as_line(vector: Vector) -> str:
    asked = vector.asked
    return "\t".join(
        (
            asked.name,
            asked.safety,
            repr(asked.temperature),
            repr(asked.probability),
            repr(asked.threshold),
            str(asked.min_keep),
            _listed(sorted(asked.protected)),
            _listed(asked.logits),
            _listed(map(_short, asked.probs)),
            "|".join(map(_listed, (vector.survivors, *vector.or_else))),
            _listed(map(_short, vector.weights)),
            _listed(vector.unlike),
        )
    )


def _listed(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


def _short(p: float) -> float:
    """Return a probability in as many digits as float32 has."""
    return float(f"{p:.9g}")


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)

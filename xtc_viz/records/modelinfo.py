"""What a page or a trace says about a model, and how a trace file holds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from xtc_viz.records.reading import read_flag, read_int, read_ints, read_object, read_text


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the weights of a model of this process lie, in words.

    `dtype` is the type in which they compute, such as `float32` or `bfloat16, 4bit`; `device` are
    the devices that do it, such as `cpu` or `cuda:0, cuda:1`. `decoding` says how lanes are decoded
    where that is not side by side over one cache, such as `without a cache`.
    """

    dtype: str
    device: str
    decoding: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    """Which server a model runs in: its `kind`, such as `llama.cpp`, and its `version` or "".

    `candidates` are the most tokens that it shows at a step, None where it shows all.
    """

    kind: str
    version: str = ""
    candidates: int | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model, wherever it runs.

    `revision` is a commit or "". `eos_ids` are all the tokens that end a text; `newline_ids` those
    whose text holds a newline. `vocab_size` is the width of the logits, `context_length` the most
    positions (prompt and new tokens together). `has_thinking_switch` says that the chat template
    can leave the thought out. `parameters` is None where nobody knows their number, `placement`
    where the weights are elsewhere: then `served` says where.
    """

    name: str
    revision: str
    vocab_size: int
    context_length: int
    eos_ids: tuple[int, ...]
    newline_ids: tuple[int, ...]
    has_chat_template: bool
    has_thinking_switch: bool = False
    parameters: int | None = None
    placement: Placement | None = None
    served: Served | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the JSON values of a trace file of the present version of the format."""
        values: dict[str, object] = {name: getattr(self, name) for name in _NAMES}
        place = self.placement
        # How lanes are decoded stands in it where that is not as usual.
        values["placement"] = place and {
            name: value for name, value in asdict(place).items() if value or name != "decoding"
        }
        # So does a server, where there is one.
        del values["served"]
        return values | ({"served": asdict(self.served)} if self.served else {})

    @classmethod
    def from_dict(cls, data: object, version: int) -> ModelInfo:
        """Return what a trace file of this version says. Raises `TraceError`, naming the field."""
        data = data if version > 1 else _nested(data)
        if isinstance(data, dict):
            data = {"served": None} | data
        values = read_object("`model`", data, _NAMES)
        for name in ("name", "revision"):
            read_text(f"model `{name}`", values[name])
        for name in ("vocab_size", "context_length"):
            read_int(f"model `{name}`", values[name])
        for name in ("eos_ids", "newline_ids"):
            values[name] = tuple(read_ints(f"model `{name}`", values[name]))
        for name in ("has_chat_template", "has_thinking_switch"):
            read_flag(f"model `{name}`", values[name])
        if values["parameters"] is not None:
            read_int("model `parameters`", values["parameters"])
        if values["placement"] is not None:
            place = values["placement"]
            if isinstance(place, dict):
                place = {"decoding": ""} | place
            place = read_object("model `placement`", place, _PLACEMENT)
            values["placement"] = Placement(
                **{name: read_text(f"model `{name}`", place[name]) for name in _PLACEMENT}
            )
        if values["served"] is not None:
            own = read_object("model `served`", values["served"], _SERVED)
            for name in ("kind", "version"):
                read_text(f"model `{name}`", own[name])
            if own["candidates"] is not None:
                read_int("model `candidates`", own["candidates"])
            values["served"] = Served(**own)
        return cls(**values)


_NAMES = tuple(field.name for field in fields(ModelInfo))
_SERVED = tuple(field.name for field in fields(Served))
_PLACEMENT = tuple(field.name for field in fields(Placement))

# Version 1 of the format knew only models of its own process: dtype and device stand beside the
# rest, and what is not known is "" or 0. They hold the thinking switch only where it is true.
_NAMES_1 = (
    "name", "revision", "dtype", "device", "parameters", "vocab_size", "context_length",
    "eos_ids", "newline_ids", "has_chat_template", "has_thinking_switch",
)  # fmt: skip
_NOWHERE: dict[str, object] = {"dtype": "", "device": ""}


def _nested(data: object) -> dict[str, object]:
    """Turn the values of version 1 into those of version 2."""
    if isinstance(data, dict):
        data = {"has_thinking_switch": False} | data
    values = read_object("`model`", data, _NAMES_1)
    place = {name: values.pop(name) for name in _NOWHERE}
    parameters = read_int("model `parameters`", values.pop("parameters"))
    placement = None if place == _NOWHERE else place
    return values | {"parameters": parameters or None, "placement": placement}

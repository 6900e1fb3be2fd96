"""The engines' own XTC, run as their packages bring it: what it leaves of a row at ρ = 1.

llama.cpp's is called in the shared library of `xllamacpp`. The others are looked for in the folder
`.engines` too, where `make test-engines` puts them: mlx-lm's function runs on mlx for the CPU,
those of ExLlamaV3 and Aphrodite on torch, and ExLlamaV2's is compiled from the file that its
package brings along. Of a package whose other parts need a GPU only the definitions that XTC is
made of are read, from its own file.
"""

from __future__ import annotations

import ast
import ctypes
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from enum import Enum
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from tests.engines.cases import Case, Logits

FOLDER = Path(__file__).parents[2] / ".engines"
if FOLDER.is_dir():
    sys.path.append(str(FOLDER))

Probs = npt.NDArray[np.float32]


class Left(NamedTuple):
    """The tokens that are left, and p (V,) float32 as the engine itself computed it."""

    survivors: frozenset[int]
    probs: Probs


def _package(name: str) -> Path:
    """Return the folder of an installed package, without importing it.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} is not installed", name=name)
    return Path(spec.origin).parent


def _definitions(path: Path, names: set[str], known: dict[str, Any]) -> SimpleNamespace:
    """Run the definitions of these classes and functions in a file, and nothing else of it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [
        node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in names
    ]
    module = ast.Module([ast.parse("from __future__ import annotations").body[0], *kept], [])
    scope = {**known, "__name__": path.stem}
    exec(compile(module, str(path), "exec"), scope)
    return SimpleNamespace(**{name: scope[name] for name in names})


class _Candidate(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float))


class _Candidates(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.POINTER(_Candidate)), ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64), ("sorted", ctypes.c_bool),
    )  # fmt: skip


@cache
def _llama_library() -> ctypes.CDLL:
    (path,) = _package("xllamacpp").glob("xllamacpp*.so")
    library = ctypes.CDLL(str(path))
    library.llama_sampler_init_xtc.restype = ctypes.c_void_p
    library.llama_sampler_init_xtc.argtypes = (
        ctypes.c_float, ctypes.c_float, ctypes.c_size_t, ctypes.c_uint32,
    )  # fmt: skip
    library.llama_sampler_apply.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Candidates))
    library.llama_sampler_free.argtypes = (ctypes.c_void_p,)
    return library


def llama_cpp(case: Case, min_keep: int = 0) -> Left:
    library = _llama_library()
    size = len(case.logits)
    data = (_Candidate * size)(*(_Candidate(i, x, 0.0) for i, x in enumerate(case.logits.tolist())))
    row = _Candidates(data, size, -1, False)
    sampler = library.llama_sampler_init_xtc(1.0, case.tau, min_keep, 0)
    library.llama_sampler_apply(sampler, ctypes.byref(row))
    library.llama_sampler_free(sampler)
    probs = np.zeros(size, np.float32)
    for one in data:
        probs[one.id] = one.p
    return Left(frozenset(row.data[i].id for i in range(row.size)), probs)


@cache
def _mlx_xtc() -> Any:
    import mlx.core as mx

    # Compiling takes seconds for each new shape and changes nothing.
    mx.disable_compile()
    path = _package("mlx_lm") / "sample_utils.py"
    spec = spec_from_file_location("mlx_sample_utils", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.apply_xtc


def mlx_lm(case: Case) -> Left:
    apply_xtc = _mlx_xtc()
    import mlx.core as mx

    logits = mx.array(case.logits)[None]
    result = np.array(apply_xtc(logits, 1.0, case.tau, sorted(case.protected)))[0]
    return Left(_finite(result), np.array(mx.softmax(logits, -1))[0])


@cache
def _exllamav3() -> SimpleNamespace:
    path = _package("exllamav3") / "generator" / "sampler" / "custom.py"
    names = {"SS", "SS_Base", "SS_XTC", "TokenMask"}
    return _definitions(path, names, {"torch": torch, "Enum": Enum})


def exllamav3(case: Case) -> Left:
    """Its state is sorted before XTC, by `torch.sort`, as its `SS_Sort` does it."""
    its = _exllamav3()
    probs = torch.softmax(torch.from_numpy(case.logits)[None], dim=-1)
    falling, ids = torch.sort(probs, dim=-1, descending=True)
    state = SimpleNamespace(state=its.SS.PROBS_N_S, probs=falling, indices=ids, dim=ids.shape[1])
    its.SS_XTC(1.0, case.tau, sorted(case.protected)).run(state)
    left = state.indices[state.probs > 0].tolist()
    return Left(frozenset(left), probs[0].numpy())


@cache
def _aphrodite() -> SimpleNamespace:
    path = _package("aphrodite") / "v1" / "sample" / "ops" / "xtc.py"
    return _definitions(path, {"xtc"}, {"torch": torch})


def aphrodite(case: Case) -> Left:
    logits = torch.from_numpy(case.logits)[None]
    probs = torch.softmax(logits, dim=-1)[0].numpy()
    settings = SimpleNamespace(
        xtc_threshold=torch.tensor([case.tau]), xtc_probability=torch.tensor([1.0])
    )
    return Left(_finite(_aphrodite().xtc(logits.clone(), settings)[0].numpy()), probs)


@cache
def _exllamav2_library() -> ctypes.CDLL:
    """Compile `xtc_cpu` as it stands in the package's own file; its profiling calls do nothing."""
    path = _package("exllamav2") / "exllamav2_ext" / "cpp" / "sampling.cpp"
    found = re.search(r"^int xtc_cpu\n.*?^}", path.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    source = (
        "#define profile_start(name)\n#define profile_stop()\n"
        f'extern "C" {{ {found[0]} }}\n'
    )  # fmt: skip
    folder = tempfile.mkdtemp(prefix="exllamav2-")
    library = Path(folder) / "xtc.so"
    subprocess.run(
        ["g++", "-O1", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)],
        input=source, text=True, check=True, capture_output=True,
    )  # fmt: skip
    return ctypes.CDLL(str(library))


def exllamav2(case: Case) -> Left:
    """Nothing has sorted its candidates; one more behind them, of p 0, ends its look ahead."""
    size = len(case.logits)
    probs = torch.softmax(torch.from_numpy(case.logits), dim=-1).numpy()
    row = (ctypes.c_float * (size + 1))(*probs.tolist(), 0.0)
    ids = (ctypes.c_int * size)(*range(size))
    open_to_it = (ctypes.c_bool * size)(*(i not in case.protected for i in range(size)))
    _exllamav2_library().xtc_cpu(
        size, row, ids, open_to_it, ctypes.c_float(1.0), ctypes.c_float(case.tau)
    )
    return Left(frozenset(i for i in range(size) if row[i] > 0), probs)


def _finite(logits: Logits) -> frozenset[int]:
    return frozenset(np.flatnonzero(np.isfinite(logits)).tolist())


ORIGINALS: dict[str, Callable[[Case], Left]] = {
    "llama.cpp": llama_cpp,
    "exllamav2": exllamav2,
    "exllamav3": exllamav3,
    "mlx-lm": mlx_lm,
    "aphrodite": aphrodite,
}
"""By the names of the engines."""


def missing(name: str) -> str:
    """Say why an engine's own code cannot run here; nothing where it can."""
    try:
        ORIGINALS[name](Case(np.zeros(2, np.float32), 0.4, frozenset()))
    except (ImportError, FileNotFoundError) as error:
        return str(error)
    return ""

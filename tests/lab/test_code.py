"""Generated code: right answers pass, wrong ones do not, and hostile programs are stopped."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.lab.checks import Verdict
from xtc_viz.lab.code import sandbox
from xtc_viz.lab.code.answers import program, same, verdicts
from xtc_viz.lab.code.judging import judge_code
from xtc_viz.lab.code.sandbox import LIMITS, MIB, Limits, Outcome, SandboxError, run
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.reading import find_run, generations
from xtc_viz.lab.runner import run as run_experiment
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import Suite, load_suite
from xtc_viz.models.fake import FakeModel
from xtc_viz.settings import LaneSettings


def _possible() -> bool:
    try:
        sandbox.check()
    except SandboxError:
        return False
    return True


shut_in = pytest.mark.skipif(not _possible(), reason="this system cannot shut code in")
SHORT, PATIENT = replace(LIMITS, wall=2.0), replace(LIMITS, wall=30.0)
CHECK = {"function": "f", "tests": [{"arguments": [n], "result": n * n} for n in (1, 2, 3)]}


def passed(text: str) -> list[bool]:
    return [verdict.passed for verdict in verdicts(text, CHECK, run)]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("def f(n):\n    return n", "def f(n):\n    return n"),
        ("Here:\n```python\ndef f(n):\n    return n\n```\nDone.", "def f(n):\n    return n\n"),
        ("```\nx\n```\n```py\ndef f(): 1\n```\n```sh\nls\n```", "def f(): 1\n"),
        ("Cut off:\n```python\ndef f(n):\n    ret", "def f(n):\n    ret"),
        ("  f = 1  ", "f = 1"),
        ("", ""),
    ],
)
def test_the_program_of_an_answer(text: str, source: str) -> None:
    assert program(text, "f") == source


def test_values_are_compared_as_json() -> None:
    assert same([1, {"a": 2.0}], [1.0, {"a": 2}])
    assert same(0.1 + 0.2, 0.3)
    for value, wanted in ((1, True), (True, 1), ("1", 1), ([1], [1, 2]), (None, 0), ({}, []),
                          (float("nan"),) * 2, (10**400, 1.5), (2**53 + 1, 2**53)):  # fmt: skip
        assert not same(value, wanted), (value, wanted)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, value)


@shut_in
def test_right_and_wrong_answers() -> None:
    assert passed("```python\ndef f(n):\n    print('hi')\n    return n * n\n```") == [True] * 4
    assert passed("def f(n):\n    return n + n") == [True, False, True, False]
    assert passed("def f(n):\n    return str(n * n)") == [True] + 3 * [False]
    assert passed("def f(n):\n    if n == 2: raise ValueError('no')\n    return n * n") == [
        True, True, False, True,
    ]  # fmt: skip
    assert passed("def g(n): return n * n") == [True] + 3 * [False]
    assert passed("def f(n) return n") == 4 * [False]
    assert passed("\ud800 = \x00") == 4 * [False]
    assert passed("(" * 5000) == 4 * [False]
    assert passed("") == [True] + 3 * [False]
    judged = verdicts("def f(n):\n    return 1 / (n - 1)", CHECK, run)
    assert judged[1] == Verdict("test 1", False, "ZeroDivisionError: division by zero")
    assert judged[2] == Verdict("test 2", False, "gave 1.0, not 4")
    assert verdicts("def f(n) return n", CHECK, run)[0].note.startswith("SyntaxError")


@shut_in
def test_what_a_program_usually_needs_is_there() -> None:
    source = """
import bisect, collections, datetime, decimal, fractions, functools, hashlib, heapq, itertools
import json, math, random, re, statistics, string, textwrap, typing, unicodedata
from dataclasses import dataclass
def f(n):
    @dataclass
    class Point:
        x: int
    return [Point(n).x, str(decimal.Decimal("1.10")), math.comb(4, 2), textwrap.shorten("a", 9)]
"""
    assert run(source, "f", [[3]]).values == {0: [3, "1.10", 6, "a"]}


@shut_in
def test_each_prompt_of_the_suite_can_be_answered() -> None:
    """With a program that knows the results, as the real ones differ by prompt."""
    for prompt in load_suite("code").prompts[:3]:
        tests = prompt.check["tests"]
        known = [(test["arguments"], test["result"]) for test in tests]
        name = prompt.check["function"]
        text = (
            f"known = {known!r}\ndef {name}(*a):\n    return [r for b, r in known if b == [*a]][0]"
        )
        assert all(verdict.passed for verdict in verdicts(text, prompt.check, run)), prompt.id


# What means harm


@contextmanager
def watched() -> Iterator[None]:
    """See that nothing is left running that was started in between, and that it ends in time."""
    own = psutil.Process()
    before, begin = {child.pid for child in own.children(recursive=True)}, monotonic()
    everyone = set(psutil.pids())
    yield
    assert monotonic() - begin < 60
    assert {child.pid for child in own.children(recursive=True)} == before
    left = [p for p in psutil.process_iter(["cmdline"]) if p.pid not in everyone]
    assert not [p for p in left if str(sandbox.CHILD) in " ".join(p.info["cmdline"] or [])]


def outcome(body: str, limits: Limits = SHORT) -> Outcome:
    """Run a function with this body, whose second call would return 1."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    source = f"def f(n):\n    if n == 0:\n{lines}\n    return 1"
    with watched():
        return run(source, "f", [[0], [1]], limits=limits)


@shut_in
@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import time; time.sleep(1000)",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\n"
        "signal.sigwait([signal.SIGUSR1])",
        "x = 9 ** 9 ** 9",
        "import os; os._exit(0)",
        "import os; os.abort()",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.close(3); os.closerange(0, 99)",
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
        "import sys; sys.setrecursionlimit(10 ** 8)\ng = lambda: g()\ng()",
    ],
)
def test_what_does_not_come_back_is_ended(body: str) -> None:
    got = outcome(body)
    assert got.values.keys() <= {1}
    assert got.parsed
    assert got.ended or got.errors


@shut_in
@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return len(bytearray(2 * 10 ** 9))", "MemoryError"),
        ("x = [0]\nwhile True: x += x", "MemoryError"),
        ("import socket; socket.socket()", "PermissionError"),
        ("import socket; socket.create_connection(('127.0.0.1', PORT))", "PermissionError"),
        ("import socket; socket.getaddrinfo('localhost', 80)", "gaierror"),
        ("open('FILE', 'w').write('x')", "PermissionError"),
        ("open('FILE', 'a').write('x')", "PermissionError"),
        ("open('/dev/shm/xtc-viz-test', 'w')", "PermissionError"),
        ("return open('/etc/passwd').read()", "PermissionError"),
        ("return open('FILE').read()", "PermissionError"),
        ("import os; return os.listdir('/')", "PermissionError"),
        ("return open('/proc/self/environ').read()", "PermissionError"),
        ("import os; os.remove('FILE')", "PermissionError"),
        ("import os; os.rename('FILE', 'FILE.2')", "PermissionError"),
        ("import os; os.truncate('FILE', 0)", "PermissionError"),
        ("import os; os.chmod('FILE', 0)", "PermissionError"),
        ("import os; os.utime('FILE', (0, 0))", "PermissionError"),
        ("import os; os.chown('FILE', 1, 1)", "PermissionError"),
        ("import os; os.setxattr('FILE', 'user.a', b'b')", "PermissionError"),
        ("import os; os.symlink('/etc', 'FILE.2')", "PermissionError"),
        ("import os; os.link('FILE', 'FILE.2')", "PermissionError"),
        ("import os; os.mkfifo('FILE.2')", "PermissionError"),
        ("import os; os.execv('/bin/sh', ['sh', '-c', 'echo > FILE'])", "PermissionError"),
        ("import subprocess; subprocess.run(['sh', '-c', 'echo > FILE'])", "PermissionError"),
        ("import os; os.system('echo > FILE') and 1 / 0", "ZeroDivisionError"),
        ("import os; os.fork()", "PermissionError"),
        ("import os\nwhile True: os.fork()", "PermissionError"),
        ("import multiprocessing as m; m.Process(target=print).start()", "PermissionError"),
        ("import threading; threading.Thread(target=print).start()", "RuntimeError"),
        ("import os; os.kill(PARENT, 15)", "PermissionError"),
        ("import os; os.kill(os.getppid(), 9)", "PermissionError"),
        ("import os; os.kill(0, 9)", "PermissionError"),
        ("import os; os.kill(-1, 9)", "PermissionError"),
        ("import os; os.setsid()", "PermissionError"),
        ("import os; os.memfd_create('x')", "PermissionError"),
        ("import os; os.unshare(0x10000000)", "AttributeError|PermissionError"),
        (
            "import ctypes\nctypes.CDLL(None).syscall(56, 17, 0) == -1 and 1 / 0",
            "ZeroDivisionError",
        ),
        ("import resource as r; r.setrlimit(r.RLIMIT_AS, (2 ** 40, 2 ** 40))", "ValueError"),
        ("import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (9, 9))", "ValueError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("return object()", "TypeError"),
        ("return [(x := []), x.append(x), x][2]", "ValueError"),
        ("class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", "E"),
    ],
)
def test_what_it_may_not_is_refused(body: str, error: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("mine")
    before = file.stat()
    ended: list[int] = []
    was = signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
            body = body.replace("FILE", str(file)).replace("PORT", port)
            got = outcome(body.replace("PARENT", str(os.getpid())), PATIENT)
    finally:
        signal.signal(signal.SIGTERM, was)
    assert 0 in got.errors, got
    assert got.errors[0].partition(":")[0] in error.split("|"), got
    assert got.values == {1: 1}
    assert not ended
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    after = file.stat()
    assert file.read_text() == "mine"
    for name in ("st_mode", "st_uid", "st_mtime", "st_size", "st_nlink"):
        assert getattr(after, name) == getattr(before, name), name


@shut_in
def test_it_knows_nothing_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "a-secret")
    got = run("import os, sys\ndef f():\n    return [dict(os.environ), sys.argv, os.getpid()]",
              "f", [[]])  # fmt: skip
    environment, words, number = got.values[0]
    assert "TOKEN" not in environment
    assert "a-secret" not in str(environment)
    assert words == [str(sandbox.CHILD)]
    assert number == 1


@shut_in
@pytest.mark.parametrize(
    "body",
    [
        "import os\nwhile True: os.write(3, b'x' * 65536)",
        "import os\nwhile True: os.write(3, b'[0, \"value\", 1]\\n' * 999)",
        "return 'x' * (2 * 2 ** 20)",
    ],
)
def test_a_flood_is_ended(body: str) -> None:
    begin = psutil.Process().memory_info().rss
    got = outcome(body)
    assert got.ended == "wrote more than 1,024 KiB" or not got.values
    assert psutil.Process().memory_info().rss - begin < 100 * MIB


@shut_in
def test_what_is_printed_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    got = outcome("import sys\nfor _ in range(10 ** 5): print('x' * 99)\nsys.stderr.write('y')\n"
                  "return 5")  # fmt: skip
    assert got.values == {0: 5, 1: 1}
    assert capfd.readouterr() == ("", "")


@shut_in
@pytest.mark.parametrize(
    "top",
    [
        "print('[0, \"value\", 1]')",
        "import os; os._exit(0)",
        "import os; os.write(3, b'{\"ready\": []}\\n'); os._exit(0)",
        "import os; os.write(3, b'[-1, \"parsed\", null]\\n' * 9); os._exit(0)",
        'import os; os.write(3, b\'[2, "value", 9]\\n[1, "value", 4]\\n\'); os._exit(0)',
        "import os; os.write(3, b'[[\"value\"]]\\n' + b'[' * 9999 + b'\\n'); os._exit(0)",
        'import os; os.write(3, b\'{"refused": "x"}\\n\'); os._exit(0)',
        "class Same(int):\n    def __eq__(self, other): return True\n"
        "def f(n):\n    return Same(7)\nraise SystemExit",
    ],
)
def test_a_faked_result_is_none(top: str) -> None:
    with watched():
        judged = verdicts(top, CHECK, run)
    assert not any(verdict.passed for verdict in judged[1:])


@shut_in
def test_an_equality_of_its_own_says_nothing() -> None:
    text = (
        "class Same(int):\n    __eq__ = lambda *_: True\n    __hash__ = int.__hash__\n"
        "def f(n):\n    return Same(7)"
    )
    assert passed(text) == [True] + 3 * [False]


@shut_in
def test_a_stopped_judge_leaves_no_process() -> None:
    with watched():
        pool = [threading.Thread(target=run, args=("while True: pass", "f", [[]]),
                                 kwargs={"limits": SHORT}) for _ in range(3)]  # fmt: skip
        for thread in pool:
            thread.start()
        for thread in pool:
            thread.join()


def test_where_it_cannot_be_shut_in_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a system without Landlock: its number is that of no system call."""
    source = sandbox.CHILD.read_text(encoding="utf-8")
    assert "= 444, 445, 446" in source
    other = tmp_path / "child.py"
    other.write_text(source.replace("= 444, 445, 446", "= 99444, 99445, 99446"), encoding="utf-8")
    monkeypatch.setattr(sandbox, "CHILD", other)
    mark = tmp_path / "ran"
    program = f"def f():\n    open({str(mark)!r}, 'w')\n    return 1"
    with pytest.raises(SandboxError, match=r"cannot be shut in here .*so none is run"):
        run(program, "f", [[]])
    assert not mark.exists()
    # Told otherwise, it runs with what there is.
    assert run("def f():\n    return 1", "f", [[]], shut=False).values == {0: 1}


# All answers of a run


def store_with(path: Path, answers: list[str]) -> Store:
    """Return a store with a run of one prompt, whose samples are these answers."""
    prompt = replace(load_suite("code").prompts[0], check=CHECK)
    experiment = Experiment("code", "code", (LaneSettings("baseline"),), samples=len(answers),
                            length=4)  # fmt: skip
    store = Store(path)
    [*run_experiment(experiment, Suite("code", (prompt,)), FakeModel(), store)]
    names = [row[0] for row in store._db.execute("SELECT name FROM cells ORDER BY name")]
    for name, text in zip(names, answers, strict=True):
        store._db.execute("UPDATE cells SET text = ? WHERE name = ?", (text, name))
    return store


@shut_in
def test_answers_are_judged_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xtc_viz.lab.metrics import METRICS
    from xtc_viz.lab.samples import Samples

    answers = ["def f(n): return n * n", "def f(n): return n + n", "no code", "def f(n): return 4"]
    with store_with(tmp_path / "a.sqlite", answers) as store:
        record = find_run(store, "code")
        samples = Samples(generations(store, record))
        assert METRICS["passed"].value(samples) is None
        reports = [*judge_code(store, record, processes=2)]
        assert (reports[0].done, reports[-1].done, reports[-1].total) == (0, 4, 4)
        assert reports[-1].passed == 1
        read = {one.text: one.verdicts for one in generations(store, record)}
        assert [v.passed for v in read["def f(n): return 4"]] == [True, False, True, False]
        samples = Samples(generations(store, record))
        assert METRICS["passed"].value(samples) == 1 / 4
        assert METRICS["parses"].value(samples) == 3 / 4
        assert METRICS["rules_kept"].value(samples) == pytest.approx((3 + 1 + 0 + 1) / 12)
        monkeypatch.setattr(sandbox, "run", None)  # nothing is run again
        (again,) = judge_code(store, record, processes=2)
        assert again.total == 0

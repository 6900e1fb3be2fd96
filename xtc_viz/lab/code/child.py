"""The other side of the sandbox: shuts itself in, and runs one generated program.

Run by itself, as `python -I -S -B child.py`, with nothing but the standard library; standard input
is one JSON object: `source`, `function`, `calls` (lists of arguments), `limits`, `shut`. What is
written to standard output, a JSON line each:

    {"ready": […]}   this process is shut in, by these means; before any line of the program ran
    [n, "value", v]  the n-th call gave v
    [n, "error", t]  it raised this
    [-1, "parsed", null]  the program is one; [-1, "error", t] it is none, or raised this itself

After `ready` all of it may have been written by the program: nobody may believe more of it than
that these values came. What is right to return is not known here.

In this order: no new privileges; namespaces of its own for users, network, IPC and processes, and a
fork into them; Landlock, which leaves the standard library to be read, and nothing to be written;
limits; and a filter of system calls, as a limit on processes does not hold root, and Landlock lets
the rights and times of files be changed.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import sys
import sysconfig
import types
from collections.abc import Iterable
from typing import Any

CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
LANDLOCK_CREATE, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
READ_FILE, READ_DIR = 1 << 2, 1 << 3
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights on files each version of Landlock knows; later ones know those of the last."""

_SYSCALLS = {
    "x86_64": (0xC000003E, {
        "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "clone3": 435,
        "socket": 41, "socketpair": 53, "kill": 62, "tkill": 200, "tgkill": 234,
        "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_open": 434,
        "pidfd_send_signal": 424, "ptrace": 101, "process_vm_readv": 310,
        "process_vm_writev": 311, "prctl": 157, "setsid": 112, "setpgid": 109, "unshare": 272,
        "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
        "memfd_create": 319, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64,
        "mq_open": 240, "bpf": 321, "perf_event_open": 298, "io_uring_setup": 425,
        "userfaultfd": 323, "keyctl": 250, "add_key": 248, "request_key": 249,
        "open_by_handle_at": 304, "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452,
        "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "utime": 132, "utimes": 235,
        "futimesat": 261, "utimensat": 280, "truncate": 76, "setxattr": 188, "lsetxattr": 189,
        "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
        "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
    }),
    "aarch64": (0xC00000B7, {
        "clone": 220, "clone3": 435, "execve": 221, "execveat": 281, "socket": 198,
        "socketpair": 199, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240, "pidfd_open": 434, "pidfd_send_signal": 424, "ptrace": 117,
        "process_vm_readv": 270, "process_vm_writev": 271, "prctl": 167, "setsid": 157,
        "setpgid": 154, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
        "pivot_root": 41, "chroot": 51, "memfd_create": 279, "shmget": 194, "shmat": 196,
        "msgget": 186, "semget": 190, "mq_open": 180, "bpf": 280, "perf_event_open": 241,
        "io_uring_setup": 425, "userfaultfd": 282, "keyctl": 219, "add_key": 217,
        "request_key": 218, "open_by_handle_at": 265, "fchmod": 52, "fchmodat": 53,
        "fchmodat2": 452, "fchown": 55, "fchownat": 54, "utimensat": 88, "truncate": 45,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15,
        "fremovexattr": 16, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
    }),
}  # fmt: skip
"""The system calls that are refused: what starts, signals or looks into processes, opens sockets,
shares memory, mounts, changes what is said of files, or talks to the kernel in other ways; by
architecture, with its number."""


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _do(what: str, result: int) -> int:
    """Return the result of a call of the system. Raises `OSError` where it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def no_new_privileges() -> None:
    _do("prctl", _libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def namespaces() -> None:
    """Stand apart from the network, other users and other processes; what is forked next does."""
    _do("unshare", _libc().unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID))


def read_only(folders: Iterable[str]) -> None:
    """Let this process read what lies in these folders, and touch no other file."""
    libc = _libc()
    version = _do("Landlock", libc.syscall(LANDLOCK_CREATE, None, 0, 1))
    rights = (1 << FILE_RIGHTS.get(version, max(FILE_RIGHTS.values()))) - 1
    attributes = struct.pack("<Q", rights)
    ruleset = _do("Landlock", libc.syscall(LANDLOCK_CREATE, attributes, len(attributes), 0))
    for folder in folders:
        place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("<Qi", READ_FILE | READ_DIR, place)
        _do("Landlock", libc.syscall(LANDLOCK_ADD_RULE, ruleset, 1, rule, 0))
        os.close(place)
    _do("Landlock", libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def limits(seconds: int, memory: int) -> None:
    """Bound the processor's seconds, the memory in bytes, files and processes."""
    import resource

    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 32),
        (resource.RLIMIT_NPROC, 1),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def filter_calls() -> None:
    """Refuse the calls of `_SYSCALLS`; end the process at a call of another architecture."""
    machine = os.uname().machine
    if machine not in _SYSCALLS:
        raise OSError(0, f"seccomp: no list of system calls for {machine}")
    architecture, numbers = _SYSCALLS[machine]
    load, jump_equal, jump_greater, give = 0x20, 0x15, 0x35, 0x06
    kill, refuse, allow = 0x80000000, 0x00050000 | 1, 0x7FFF0000  # EPERM
    refused = sorted(numbers.values())
    program = [
        (load, 0, 0, 4),
        (jump_equal, 1, 0, architecture),
        (give, 0, 0, kill),
        (load, 0, 0, 0),
        (jump_greater, 0, 1, 0x40000000),  # x32, on x86_64
        (give, 0, 0, kill),
        *((jump_equal, len(refused) - place, 0, n) for place, n in enumerate(refused)),
        (give, 0, 0, allow),
        (give, 0, 0, refuse),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in program))
    pointer = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program),
                                                      ctypes.addressof(code)))  # fmt: skip
    _do("seccomp", _libc().prctl(PR_SET_SECCOMP, 2, pointer, 0, 0))


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    replies = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for place in (0, 1, 2):
        os.dup2(nothing, place)
    os.close(nothing)
    means: list[str] = []

    def shut(name: str, step: Any, *arguments: Any) -> None:
        try:
            step(*arguments)
        except (OSError, AttributeError, ImportError, TypeError, ValueError) as error:
            if request["shut"]:
                _say(replies, {"refused": f"{name}: {error}"})
                os._exit(1)
        else:
            means.append(name)

    shut("parent", _end_with_parent)
    shut("privileges", no_new_privileges)
    shut("namespaces", namespaces)
    if "namespaces" in means:
        _wait_for(os.fork())
        shut("parent", _end_with_parent)
    preload()
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    shut("files", read_only, sorted(folder for folder in own if os.path.isdir(folder)))
    shut("limits", limits, request["limits"]["seconds"], request["limits"]["memory"])
    shut("calls", filter_calls)
    _say(replies, {"ready": means})
    run(request, replies)
    os._exit(0)


def _end_with_parent() -> None:
    _do("prctl", _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def _wait_for(child: int) -> None:
    """In the parent of the two, wait for the child, end it where this one is asked to end."""
    if not child:
        return
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    os.closerange(3, 64)
    os.waitpid(child, 0)
    os._exit(0)


def preload() -> None:
    """Import what is often needed, some of which needs libraries beside the standard one."""
    import collections  # noqa: F401
    import math  # noqa: F401


def run(request: Any, replies: int) -> None:
    """Run the program, and then each call; say what came of it."""
    module = types.ModuleType("answer")
    sys.modules["answer"] = module  # dataclasses look for it there
    space = module.__dict__
    try:
        program = compile(request["source"], "answer", "exec")
        _say(replies, [-1, "parsed", None])
        exec(program, space)
        function = space[request["function"]]
    except BaseException as error:
        _say(replies, [-1, "error", _words(error)])
        return
    for number, arguments in enumerate(request["calls"]):
        try:
            line = json.dumps([number, "value", function(*arguments)])
        except BaseException as error:
            line = json.dumps([number, "error", _words(error)])
        os.write(replies, line.encode() + b"\n")


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:300]
    except BaseException:
        return type(error).__name__


def _say(replies: int, value: Any) -> None:
    os.write(replies, json.dumps(value).encode() + b"\n")


if __name__ == "__main__":
    main()

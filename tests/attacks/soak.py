"""Half an hour with fifty visitors who run, stop, leave and come back.

    python -m tests.attacks.soak --minutes 30

What is looked at: whether every text is what it should be, how much memory the page has at the end
against after the first minute, and whether a thread or a handle is left when all have gone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks.campaign import ROOT, resident
from tests.attacks.client import Visitor, added
from tests.attacks.visitors import request
from tests.process import served

PROMPTS = tuple(
    f"{name} and {other}" for name in ("Tom", "Lily", "Anna") for other in ("he", "she")
)
TOKENS = 16
QUIET = 15.0  # seconds until what visitors left behind is gone
FLAGS = ("--model", "fake", "--trusted-proxies", "1", "--max-waiting", "200")


@dataclass
class Soak:
    """What happened so far."""

    expected: dict[str, list[str]] = field(default_factory=dict)
    ended: int = 0
    stopped: int = 0
    left: int = 0
    opened: int = 0
    turned_away: int = 0
    wrong: list[str] = field(default_factory=list)

    def hold(self, prompt: str, texts: list[str]) -> None:
        """Note texts that are no beginning of what this prompt becomes."""
        for text, whole in zip(texts, self.expected[prompt], strict=False):
            if not whole.startswith(text):
                self.wrong.append(f"{prompt!r}: {text!r} instead of {whole!r}")


async def visit(url: str, number: int, until: float, soak: Soak) -> None:
    """One visitor after the other at one address: each comes, writes some runs, and goes."""
    dice = random.Random(number)
    while time.monotonic() < until:
        await asyncio.sleep(dice.uniform(0.0, 3.0))
        async with Visitor(url, f"198.51.{number}.7", timeout=300.0) as visitor:
            for _ in range(dice.randrange(1, 4)):
                await write(visitor, dice, soak)


async def write(visitor: Visitor, dice: random.Random, soak: Soak) -> None:
    """One run, which goes to its end, is stopped, or is left in the middle and looked at later."""
    prompt, does = dice.choice(PROMPTS), dice.choice(("ends", "stops", "leaves"))
    texts, run, count = [""] * len(soak.expected[prompt]), "", 0
    async with aclosing(visitor.run(request(TOKENS, prompt))) as messages:
        async for message in messages:
            if "error" in message:
                soak.turned_away += 1
                return
            run = message["run"]
            texts = added(texts, message)
            count += "add" in message
            if count > 2 and does == "stops":
                await visitor.door.ask(visitor.http, "stop", run)
            if count > 2 and does == "leaves":
                break
    soak.hold(prompt, texts)
    if does == "leaves":
        soak.left += 1
        await asyncio.sleep(dice.uniform(0.0, 4.0))
        soak.opened += await look(visitor, run, prompt, soak)
    elif does == "stops":
        soak.stopped += 1
    else:
        soak.ended += 1
        if texts != soak.expected[prompt]:
            soak.wrong.append(f"{prompt!r}: {texts} instead of {soak.expected[prompt]}")


async def look(visitor: Visitor, run: str, prompt: str, soak: Soak) -> bool:
    """Come back to a run; whether the server still has it."""
    whole = await visitor.door.ask(visitor.http, "open", run, [])
    soak.hold(prompt, added([], whole))
    return "add" in whole


def handles(pid: int) -> tuple[int, int]:
    """The threads and the open files of a process."""
    tasks, files = (list(Path(f"/proc/{pid}/{name}").iterdir()) for name in ("task", "fd"))
    return len(tasks), len(files)


async def soaked(url: str, pid: int, visitors: int, seconds: float) -> tuple[Soak, list[str]]:
    """Let visitors come and go for so long; returns what happened, and what is told of it."""
    soak = Soak()
    async with Visitor(url, "203.0.113.1") as first:
        for prompt in PROMPTS:
            soak.expected[prompt] = await first.text(prompt, TOKENS)
    await asyncio.sleep(QUIET)
    before = handles(pid)
    begin = time.monotonic()
    crowd = [asyncio.create_task(visit(url, n, begin + seconds, soak)) for n in range(visitors)]
    await asyncio.sleep(min(60.0, seconds / 2))
    early = resident(pid)
    await asyncio.gather(*crowd)
    late = resident(pid)
    await asyncio.sleep(QUIET)
    after = handles(pid)
    growth = late / early - 1
    lines = [
        f"{visitors} visitors in {(time.monotonic() - begin) / 60:.0f} minutes: {soak.ended} runs "
        f"to their end, {soak.stopped} stopped, {soak.left} left, {soak.opened} of these seen "
        f"again, {soak.turned_away} turned away",
        f"memory: {early / 2**20:.0f} MiB after the first minute, {late / 2**20:.0f} MiB at the "
        f"end ({growth:+.1%})",
        f"threads and open files: {before[0]} and {before[1]} before, {after[0]} and {after[1]} "
        "after",
        f"wrong texts: {len(soak.wrong)}",
        *soak.wrong[:5],
    ]
    return soak, lines


def main() -> None:
    flags = argparse.ArgumentParser(prog="python -m tests.attacks.soak", description=__doc__)
    flags.add_argument("--minutes", type=float, default=30.0)
    flags.add_argument("--visitors", type=int, default=50)
    options = flags.parse_args()
    with served([sys.executable, "app.py", *FLAGS], ROOT) as page:
        soak, lines = asyncio.run(
            soaked(page.url, page.pid, options.visitors, 60 * options.minutes)
        )
    print("\n".join(lines))
    sys.exit(1 if soak.wrong else 0)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()

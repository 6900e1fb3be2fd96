"""`xtc-viz audit`: does a server do XTC as it is asked to?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing

from xtc_viz.audit.asking import MOST, PROMPTS, check_claim, check_steps, drawing, source, verdicts
from xtc_viz.audit.coins import coins
from xtc_viz.audit.verdict import Verdict
from xtc_viz.errors import PromptError, SettingsError, XTCVizError
from xtc_viz.models.remote.key import VARIABLE, key_of
from xtc_viz.models.remote.kinds import recognize
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.models.remote.wire import Wire
from xtc_viz.settings import XTCSettings

AS_CLAIMED, NOT_AS_CLAIMED, WRONG_INPUT, NOT_KNOWN, FAILED, STOPPED = 0, 1, 2, 3, 4, 130

_EPILOG = f"""examples:
  xtc-viz audit http://127.0.0.1:8080
  xtc-viz audit http://127.0.0.1:8080 --rho 1 --tau 0.05 --json
  xtc-viz audit http://127.0.0.1:8080 --coins

A key that the server wants is read from the environment variable {VARIABLE}.

exit codes: 0 it does as it is asked, 1 it does not, 2 wrong input, 3 not known after --steps,
4 the server failed, 130 stopped; with --coins: 0 the dice of llama.cpp, 1 others"""


def main(arguments: Sequence[str]) -> int:
    """Do the audit and return its exit code. Raises `SystemExit` for help."""
    options = parser().parse_args(arguments)
    try:
        return _audit(options)
    except (SettingsError, PromptError) as error:
        return _complain(str(error), WRONG_INPUT)
    except XTCVizError as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
        return _complain("stopped.", STOPPED)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="xtc-viz audit",
        description="Find out whether a server does XTC as it is asked to.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("address", metavar="URL", help="the server, such as http://127.0.0.1:8080")
    add("--rho", type=float, default=0.5, help="ρ that it is asked for (default: %(default)s)")
    add("--tau", type=float, default=0.1, help="τ that it is asked for (default: %(default)s)")
    many = f"look at no more tokens than these (default: {MOST})"
    add("--steps", type=int, default=MOST, metavar="N", help=many)
    other = "what it is to go on with, in place of openings of stories; may be given often"
    add("--prompt", action="append", metavar="TEXT", help=other)
    dice = "look instead at the dice of llama.cpp, whose coins are draws of earlier tokens"
    add("--coins", action="store_true", help=dice)
    add("--json", action="store_true", help="print JSON, for scripts")
    return made


def _audit(options: argparse.Namespace) -> int:
    claim, most = check_claim(options.rho, options.tau), check_steps(options.steps)
    prompts = options.prompt or PROMPTS
    spec = RemoteSpec(options.address, key=key_of())
    with closing(Wire(spec.name, spec.key)) as wire:
        drawing(recognize(wire), wire)  # one without XTC says so, before it wants a tokenizer
    model = RemoteModel.connect(spec)
    if options.coins:
        found = coins(model, XTCSettings(claim.rho, claim.tau), prompts)
        print(json.dumps(found.to_dict()) if options.json else found.sentence)
        return AS_CLAIMED if found.known else NOT_AS_CLAIMED
    asked = source(model, claim, prompts)
    last: Verdict | None = None
    for last in verdicts(asked, claim, frozenset(model.info.eos_ids), most):
        if options.json:
            print(json.dumps(last.to_dict()), flush=True)
        else:
            print(f"{last.steps:>9,} steps  {last.best.interval}", file=sys.stderr, flush=True)
    if last is None:
        return NOT_KNOWN
    if not options.json:
        print(f"{last.sentence} {last.effort}")
    return {True: AS_CLAIMED, False: NOT_AS_CLAIMED, None: NOT_KNOWN}[last.as_claimed]


def _complain(words: str, code: int) -> int:
    print(f"xtc-viz audit: {words}", file=sys.stderr)
    return code

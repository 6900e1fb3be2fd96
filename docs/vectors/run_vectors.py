"""Run golden vectors of XTC against an implementation. Plain Python (3.9 or newer), nothing else.

    xtc-viz vectors --dialect llama.cpp -o vectors.json
    python run_vectors.py vectors.json my_module:my_xtc

`my_xtc(logits, settings)` gets a list of floats, `-inf` for a masked token, and a dict with
`probability`, `threshold`, `protected` (token ids), `temperature`, `min_keep` and `probabilities`
(the softmax of the logits, for a rule that is given these). It returns the ids of the tokens that
are left, or a dict with their probabilities, which are then checked too.

Left out unless they are asked for: cases that rounding may decide (--safety any,plain,probs), those
that are about temperature 0 (--temperature-0), where one token is to be left, and those about
llama.cpp's min_keep (--min-keep).
"""

import argparse
import importlib
import json
import os
import sys

VERSION = 2
TOLERANCE = 1e-5


def load(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if document.get("format") != "xtc-vectors" or document.get("version") != VERSION:
        raise SystemExit(f"{path} does not hold xtc-vectors of version {VERSION}")
    return document


def chosen(document, safety=("any",), temperature_0=False, min_keep=False):
    for case in document["cases"]:
        if case["temperature"] == 0 and not temperature_0:
            continue
        if case["safety"] in safety and (case["min_keep"] == 0 or min_keep):
            yield case


def wrong(case, implementation):
    """Return what is wrong with an implementation's answer to a case, None if nothing is."""
    logits = [float("-inf") if logit is None else logit for logit in case["logits"]]
    names = (
        "probability", "threshold", "protected", "temperature", "min_keep", "probabilities"
    )  # fmt: skip
    answer = implementation(logits, {name: case[name] for name in names})
    left = sorted(answer)
    if left not in case["survivors"]:
        wanted = " or ".join(map(str, case["survivors"]))
        hint = f", unlike {', '.join(case['unlike'])}" if case["unlike"] else ""
        return f"leaves {left} where {wanted} should be left{hint}"
    if isinstance(answer, dict) and left == case["survivors"][0]:
        for token in left:
            if abs(answer[token] - case["weights"][token]) > TOLERANCE:
                return f"gives token {token} {answer[token]}, not {case['weights'][token]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("vectors", help="a JSON file of xtc-viz vectors")
    parser.add_argument("implementation", help="such as my_module:my_xtc")
    parser.add_argument("--safety", default="any", help="any, any,plain or any,plain,probs")
    parser.add_argument("--temperature-0", action="store_true")
    parser.add_argument("--min-keep", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    module, _, name = options.implementation.partition(":")
    implementation = getattr(importlib.import_module(module), name)
    document = load(options.vectors)
    safety = options.safety.split(",")
    cases = list(chosen(document, safety, options.temperature_0, options.min_keep))
    failed = 0
    for case in cases:
        problem = wrong(case, implementation)
        if problem:
            failed += 1
            print(f"{case['name']} (threshold {case['threshold']}): {problem}")
    print(f"{len(cases) - failed} of {len(cases)} cases agree with {document['engine']}")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())

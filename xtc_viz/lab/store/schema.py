"""The tables of a store.

    models     identity (what decides a text), info (`ModelInfo` of the one that wrote first)
    samplers   the settings of a condition as they were decoded, with the ids that they protect
    prompts    a prompt as a model took it: text, system message, template, token ids
    tokens     the texts of the tokens that steps name, by model
    cells      one row a text, by its name (`cell`); small, so that thousands are read at once
    steps      the packed steps of a cell (`records.packed`), in a table of their own
    runs       the experiments that were run here, with their prompts, by name
    failures   why cells of a run are missing, by condition and prompt; since version 2
    verdicts   what came of a cell's text where that was costly to find out; since version 2

`user_version` is the version of this format.
"""

from __future__ import annotations

APPLICATION = 0x5854434C  # "XTCL"
VERSION = 2

_VERSION_1 = """
CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, info TEXT NOT NULL);
CREATE TABLE samplers (id INTEGER PRIMARY KEY, data TEXT NOT NULL UNIQUE);
CREATE TABLE prompts (id INTEGER PRIMARY KEY, data TEXT NOT NULL UNIQUE);
CREATE TABLE tokens (
    model INTEGER NOT NULL REFERENCES models, token INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (model, token)
) WITHOUT ROWID;
CREATE TABLE cells (
    name TEXT PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES models,
    sampler INTEGER NOT NULL REFERENCES samplers,
    prompt INTEGER NOT NULL REFERENCES prompts,
    dice INTEGER NOT NULL, length INTEGER NOT NULL, stop TEXT NOT NULL,
    finish TEXT NOT NULL, count INTEGER NOT NULL, tokens BLOB NOT NULL, text TEXT NOT NULL,
    seconds REAL NOT NULL, made REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE steps (cell TEXT PRIMARY KEY REFERENCES cells, data BLOB NOT NULL);
CREATE TABLE runs (
    name TEXT PRIMARY KEY, experiment TEXT NOT NULL, suite TEXT NOT NULL,
    model INTEGER NOT NULL REFERENCES models, sampling INTEGER NOT NULL, begun REAL NOT NULL
) WITHOUT ROWID;
"""
# An empty prompt means every prompt of the condition, an empty condition the whole run. `judge` is
# a hash of all that decides a verdict beside the text; `data` a list of [name, passed, note].
_VERSION_2 = """
CREATE TABLE failures (
    run TEXT NOT NULL REFERENCES runs, condition TEXT NOT NULL, prompt TEXT NOT NULL,
    message TEXT NOT NULL, made REAL NOT NULL, PRIMARY KEY (run, condition, prompt)
) WITHOUT ROWID;
CREATE TABLE verdicts (
    cell TEXT NOT NULL REFERENCES cells, judge TEXT NOT NULL, data TEXT NOT NULL,
    made REAL NOT NULL, PRIMARY KEY (cell, judge)
) WITHOUT ROWID;
"""
MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2)
"""What makes a file of version n one of version n + 1, n from 0, which is an empty file."""

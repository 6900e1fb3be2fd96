"""Trains the embedded story model: corpus in, `assets/story-model/` out. See `training.train`."""

from xtc_viz.threads import wait_passively

wait_passively()

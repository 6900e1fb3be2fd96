"""Trains the embedded story model: corpus in, `assets/story-model/` out. See `training.train`."""

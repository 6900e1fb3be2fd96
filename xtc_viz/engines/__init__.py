"""Engines that have XTC: their rules as data, what they leave, and settings in their words."""

"""Layers that give the same bits alone and together, and in less time."""

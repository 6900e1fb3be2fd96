"""Models that run in a server: they show their most probable tokens, and the draw is made here."""

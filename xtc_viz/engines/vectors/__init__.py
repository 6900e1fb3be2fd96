"""Golden vectors: distributions, settings, and what an engine's XTC leaves of them."""

"""A run without a page: what is asked for, what it protects, how it is recorded and goes on."""

"""A model's folder: fetched, looked at, read."""

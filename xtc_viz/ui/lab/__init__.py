"""The laboratory as a page: one run at a time beside the visitors' runs, its numbers and texts."""

"""The laboratory: the paper's evaluation on a model of one's own, without a page."""

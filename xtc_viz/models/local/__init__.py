"""Models that run in this process, through transformers."""

"""The report of a run: what is in it (`content`), as one HTML file (`page`), as Markdown."""

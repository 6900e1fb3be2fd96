"""See what the XTC decoding rule does to every single token."""

__version__ = "0.1.0"

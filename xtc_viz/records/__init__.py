"""What was decided, as frozen values: steps, traces, and their files."""

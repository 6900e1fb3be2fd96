"""How a loaded model takes its steps, proved at load."""

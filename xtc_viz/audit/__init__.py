"""Does a server do XTC as it says? What it drew, held against its own probabilities."""

"""Speed and memory of two commits, each in an environment of its own."""

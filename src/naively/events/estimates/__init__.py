"""What is asked of an estimate: its numbers, densities, curves, and pictures."""

"""Ways out: a model for other programs."""

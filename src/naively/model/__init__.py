"""The model: a schema, a tally, settings and weights; what follows from them, and its file."""

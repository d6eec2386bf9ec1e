"""A model answers over HTTP: rows in JSON become probabilities and reasons."""

MAX_ROWS = 10_000  # of a request
MAX_BYTES = 10_000_000

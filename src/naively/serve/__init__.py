"""A model answers over HTTP: rows in JSON become probabilities and reasons."""

MAX_ROWS = 10_000  # of a request
MAX_BYTES = 10_000_000
MAX_AT_ONCE = 1000  # requests; more are told to come back

"""A model answers over HTTP: rows in JSON become probabilities and reasons."""

MAX_ROWS = 10_000  # of a request
MAX_BYTES = 10_000_000
MAX_CELLS = 2_000_000  # and probabilities: of many columns or classes fewer rows are taken
MAX_EVIDENCE = 100_000  # weights of evidence of an answer
EXPLAINED = 0.1  # of the bytes, which may be explained: that takes a thousand times their memory
MAX_AT_ONCE = 1000  # requests; more are told to come back

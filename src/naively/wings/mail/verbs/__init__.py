"""The verbs of `naively mail`: each has a `run`, and `parser_of` its arguments."""

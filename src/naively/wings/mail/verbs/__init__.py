"""The verbs of `naively mail`: each has a `parser_of` its arguments, and a `run`."""

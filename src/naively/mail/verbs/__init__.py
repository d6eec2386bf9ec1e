"""The verbs of `naively mail`: each has a `parser` of its arguments, and a `run`."""

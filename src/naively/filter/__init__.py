"""The mail filter: one message in, its class and probability out, in the time of starting Python.

Nothing here imports NumPy, nor a library for command lines (docs/decisions/0007-mail.md).
"""

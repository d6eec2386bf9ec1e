"""Mail: one message as words by column, the messages of a mailbox, and the mail filter.

The filter takes one message in and gives its class and probability out, in the time of starting
Python. Nothing here imports NumPy, nor a library for command lines (docs/decisions/0011-mail.md).
"""

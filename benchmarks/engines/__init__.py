"""Counting, scoring and sharing, where the rows are: measurements."""

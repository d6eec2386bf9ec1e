"""Counting, scoring and sharing, where the rows are: measured beside the engines themselves."""

"""Counting: rows as blocks, their axes, and the tally of sums by class."""

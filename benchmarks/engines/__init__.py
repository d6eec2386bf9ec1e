"""Counting and scoring where the rows are, measured beside the engines themselves."""

"""Counting and scoring in a database: what is asked is a query, and only answers travel."""

"""Counts and scores where the data lives: tables of a database or a cluster."""

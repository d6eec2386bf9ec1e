"""Counts that are published with noise: differential privacy."""

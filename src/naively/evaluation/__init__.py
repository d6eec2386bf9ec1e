"""Evaluation: weights, scores and interactions from rows as if they had not been counted."""

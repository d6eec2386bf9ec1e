"""Evaluation: what is fitted and measured on rows as if they had not been counted."""

"""Scorecards: a model as numbers to be added up, which programs in any language can read."""

"""Likelihoods: log tables derived from a tally, and how a block is scored with them."""

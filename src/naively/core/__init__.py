"""Counting: kernels, sums, tallies, likelihoods; the only caller of the native kernels."""

"""Kernels: sums, scores, cells, strings, tokens; native or in NumPy. They import no other room."""

"""Kernels: sums, scores, cells and tokens, in NumPy or natively; they import nothing of naively."""

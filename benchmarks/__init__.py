"""Benchmarks: side by side with peers, interleaved in one run, as ratios."""

"""How fast naively is, beside its peers: ``make bench`` and ``make bench-text``.

What is measured is listed in ``parts.py``; how, in ``beside.py`` and ``benchmarks/timing.py``.
"""

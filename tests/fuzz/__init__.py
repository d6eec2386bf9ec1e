"""Hostile inputs, made from seeds: what is wrong with one is a sentence, never a crash or a loss.

A test here is a function of a random generator, which makes one input and checks what becomes of
it; ``fuzz`` calls it with some seeds, always the same, so that a run in a minute can be repeated.
``make fuzz SECONDS=600`` gives each of the tests ten minutes of new ones.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from itertools import count
from time import monotonic

SEED = int(os.environ.get("FUZZ_SEED", "0"))  # the first
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))  # of each test; 0 is as many as it says


def fuzz(check: Callable[[random.Random], None], times: int) -> None:
    """Call a check so many times, or for so many seconds; of a failure the seed is told."""
    end = monotonic() + SECONDS
    for seed in count(SEED):
        if monotonic() > end if SECONDS else seed >= SEED + times:
            break
        try:
            check(random.Random(seed))
        except BaseException as error:
            error.add_note(f"Repeat it: FUZZ_SEED={seed} make fuzz SECONDS=1 ARGS='-k NAME'")
            raise

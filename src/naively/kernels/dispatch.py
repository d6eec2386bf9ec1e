"""The implementation of each kernel that is in use: native if it was built, else plain NumPy.

Everything else calls the kernels through this module. In the environment ``NAIVELY_NATIVE=0``
chooses NumPy, ``NAIVELY_THREADS``, or else ``OMP_NUM_THREADS``, the most threads that the native
kernels use, and ``NAIVELY_INSTRUCTION_SET`` (baseline or avx2) the version of them.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from naively.kernels import forms, reference, rules, sparse, strings, vocabulary
from naively.kernels import reference as cells
from naively.kernels import reference as hashes
from naively.kernels import search as newton
from naively.kernels import search as softmax
from naively.kernels import sparse as sparse_total
from naively.kernels.native import NATIVE, choose
from naively.kernels.reference import Floats
from naively.kernels.splitting import Splitter as Splitter  # noqa: PLC0414
from naively.kernels.vocabulary import Vocabulary as Vocabulary  # noqa: PLC0414

HINT = (
    "naively runs in plain NumPy, several times slower; "
    "install a C++ compiler (g++ or clang++) and reinstall it."
)


tally_dense = choose(reference.tally_dense)
tally_csr = choose(reference.tally_csr)
tally_codes = choose(reference.tally_codes)
find_ranges = choose(reference.find_ranges)
tally_cells = choose(cells.tally_cells)
find_bins = choose(cells.find_bins)
score_bins = choose(cells.score_bins)
hash_rows = choose(hashes.hash_rows)
pack_strings = choose(strings.pack_strings)
pack_views = choose(strings.pack_views)
take_strings = choose(strings.take_strings)
encode_strings = choose(strings.encode_strings)
encode_views = choose(strings.encode_views)
repair_utf8 = choose(strings.repair_utf8)
read_forms = choose(forms.read_forms)
score_linear = choose(reference.score_linear)
score_quadratic = choose(reference.score_quadratic)
score_csr = choose(reference.score_csr)
score_codes = choose(reference.score_codes)
finish_rows = choose(reference.finish_rows)
tally_sparse = choose(sparse.tally_sparse)
score_sparse = choose(sparse.score_sparse)
leave_out_words = choose(sparse.leave_out_words)
leave_out_lengths = choose(sparse.leave_out_lengths)
take_rows = choose(sparse.take_rows)
# Without them ``naively.events.histogram`` computes the same in NumPy.
cut_bins: Callable[..., tuple[NDArray[np.bool_], Floats]] | None = getattr(NATIVE, "cut_bins", None)
leave_out_bins: Callable[..., Floats] | None = getattr(NATIVE, "leave_out_bins", None)
sum_sparse = choose(sparse_total.sum_sparse)
softmax_loss = choose(softmax.softmax_loss)
minimise_softmax = choose(newton.minimise_softmax)
grow_rules = choose(rules.grow_rules)
score_rules = choose(rules.score_rules)
encode_together = choose(vocabulary.encode_together)
give_back = choose(reference.give_back)
if NATIVE is not None:
    forms.check_names(NATIVE.FORM_NAMES)
    Vocabulary = NATIVE.Vocabulary  # type: ignore[misc]  # a class with the same methods
    Splitter = NATIVE.Splitter  # type: ignore[misc]


def set_threads(count: int) -> None:
    """Set the most threads that the native kernels use.

    Parameters
    ----------
    count : int
        At least 1. The default is the number of CPUs this process may use, or what the
        environment variable ``NAIVELY_THREADS`` says, or else ``OMP_NUM_THREADS``, which joblib
        sets for its worker processes, so that they share the CPUs.

    Examples
    --------
    >>> set_threads(1)
    """
    if count < 1:
        raise ValueError(f"The number of threads must be at least 1, got {count}.")
    if NATIVE is not None:
        NATIVE.set_threads(count)


def show_config() -> None:
    """Print which kernels are in use, on how many threads, and the versions beneath.

    Examples
    --------
    >>> show_config()
    naively ...
    """
    from naively import __version__

    kernels_in_use = f"NumPy. {HINT}"
    if NATIVE is not None:
        kernels_in_use = f"native, {NATIVE.instruction_set()}, at most {NATIVE.threads()} threads"
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"naively {__version__}, {versions}\nkernels: {kernels_in_use}")  # noqa: T201


def default_threads() -> int:
    """Return how many threads are used at most unless ``set_threads`` says another number."""
    for name in ("NAIVELY_THREADS", "OMP_NUM_THREADS"):
        asked = os.environ.get(name, "").split(",")[0].strip()  # "4,2": 2 are of nested loops
        if asked.isdecimal() and int(asked) > 0:
            return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


set_threads(default_threads())

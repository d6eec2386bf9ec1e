"""One thread for the linear algebra of small problems.

The searches of weights and slopes multiply matrices of some thousand rows many hundred times. More
threads do not pay there, and where other programs keep the processors busy they wait for each
other: on a busy machine of two cores a fit took eight times as long with two threads as with one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, wraps
from threading import Lock
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _controller() -> ThreadpoolController:
    """Return what sets the number of threads; to find the libraries takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _OneThread:
    """Whoever comes first sets one thread, and whoever leaves last sets back what there was."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._back = ExitStack()

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._back.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._back.close()


_ONE = _OneThread()


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Let the linear algebra of a function run on one thread, however many there are.

    Examples
    --------
    >>> import numpy as np
    >>> on_one_thread(np.dot)(np.ones(2), np.ones(2))
    np.float64(2.0)
    """

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        _ONE.enter()
        try:
            return function(*args, **kwargs)
        finally:
            _ONE.leave()

    return alone

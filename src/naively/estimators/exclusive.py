"""One thread at a time changes an estimator; others wait, and read the model as it was.

The model is frozen and exchanged whole, so that who only asks needs no lock.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, TypeVar, cast

Verb = TypeVar("Verb", bound=Callable[..., Any])

LOCK = "_lock"  # neither pickled nor copied: another object has one of its own


def exclusive(verb: Verb) -> Verb:
    """Let a method that changes an estimator in place run in one thread at a time."""

    @wraps(verb)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        # dict.setdefault is atomic: all threads get the same lock.
        with self.__dict__.setdefault(LOCK, RLock()):
            return verb(self, *args, **kwargs)

    return cast("Verb", alone)

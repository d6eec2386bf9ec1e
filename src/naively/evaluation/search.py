"""The least of a convex function, some of whose arguments may not be negative.

A quasi-Newton search (L-BFGS: Nocedal & Wright, Numerical Optimization, 2006, section 7.2) that
begins with an estimate of the curvature rather than with none, so that few passes over the rows
are enough. Arguments at 0 that would fall below it rest for a step, and a step ends where it meets
0 (Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

MEMORY = 12  # steps that are remembered
SLOPE = 1e-4  # of what the gradient promises, the least that a step must gain
SHORTER = 12  # times that a step is shortened, at most
ROUNDING = 1e-9  # of the loss, which a step may seem to lose by rounding
AGAIN = 3  # steps, after which the curvature is estimated again: it is another by then

Loss = Callable[[Floats], tuple[float, Floats]]


class Curvature(ABC):
    """The second derivatives of a function, about."""

    @abstractmethod
    def plus(self, diagonal: Floats) -> Curvature:
        """Return it with more on the diagonal, of shape (arguments,)."""

    @abstractmethod
    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        """Return what multiplies by the inverse of the free arguments' matrix.

        The vectors that it multiplies are 0 elsewhere.
        """


def minimise(
    loss: Loss,
    start: Floats,
    bounded: NDArray[np.bool_],
    curvature: Callable[[Floats], Curvature],
    *,
    steps: int,
    tolerance: float,
    again: bool = True,
) -> Floats:
    """Return the arguments of least loss.

    Parameters
    ----------
    loss : callable
        Returns the loss at the arguments, and its gradient.
    start : ndarray of shape (arguments,)
        Where the search begins.
    bounded : ndarray of bool, of shape (arguments,)
        Which arguments may not be negative.
    curvature : callable
        Returns an estimate of the second derivatives at arguments; the better, the fewer steps.
    steps : int
        The most steps.
    tolerance : float
        The search ends where a step would gain less than this share of the loss.
    again : bool, default True
        Whether to estimate the second derivatives a second time, some steps later.
    """
    least = np.where(bounded, 0.0, -np.inf)
    every = np.ones(len(start), np.bool_).tobytes()  # if all are free
    x = np.maximum(start, least)
    value, gradient = loss(x)
    remembered: list[Remembered] = []
    last: tuple[bytes, Callable[[Floats], Floats]] | None = None
    current = curvature(x)
    for n in range(steps):
        if again and n == AGAIN:
            current, remembered, last = curvature(x), [], None
        free = (x > least) | (gradient <= 0)
        key = free.tobytes()
        if last is None or last[0] != key:
            last = key, current.inverse(free)
        if key == every:
            way = -_newton(gradient, remembered, last[1])
        else:
            some = [Remembered.of(one.step * free, one.change * free) for one in remembered]
            way = -_newton(gradient * free, some, last[1])
        if -way.dot(gradient) / 2 < tolerance * abs(value):
            break
        found = _step(loss, x, value, gradient, way, least)
        if found is None:
            if not remembered:
                break
            remembered = []
            continue
        new, new_value, new_gradient = found
        remembered = [*remembered, Remembered.of(new - x, new_gradient - gradient)][-MEMORY:]
        gain, x, value, gradient = value - new_value, new, new_value, new_gradient
        if gain < tolerance * abs(value) / 10:
            break
    return x


class Remembered(NamedTuple):
    """A step, how the gradient changed along it, and the product of the two."""

    step: Floats
    change: Floats
    curve: float

    @classmethod
    def of(cls, step: Floats, change: Floats) -> Remembered:
        return cls(step, change, float(step.dot(change)))


def _step(
    loss: Loss, x: Floats, value: float, gradient: Floats, way: Floats, least: Floats
) -> tuple[Floats, float, Floats] | None:
    """Return the end of a step, its loss and gradient; None if none gains anything."""
    length = 1.0
    for _ in range(SHORTER):
        new = np.maximum(x + length * way, least)
        promised = float(gradient.dot(new - x))
        new_value, new_gradient = loss(new)
        if new_value <= value + SLOPE * promised + ROUNDING * abs(value):
            return new, new_value, new_gradient
        # The minimum of the parabola through what is known.
        excess = new_value - value - promised
        shorter = -promised / (2 * excess) if excess > 0 else 0.5
        length *= min(max(shorter, 0.1), 0.5)
    return None


def _newton(
    gradient: Floats, remembered: Sequence[Remembered], inverse: Callable[[Floats], Floats]
) -> Floats:
    """Return the inverse of the second derivatives, as remembered steps say, times a gradient."""
    convex = [one for one in remembered if one.curve > 0]
    left, parts = gradient, []
    for s, y, curve in reversed(convex):
        part = float(s.dot(left)) / curve
        left = left - part * y
        parts.append(part)
    found = inverse(left)
    if convex:  # the estimate is as large as the last step says
        _, y, curve = convex[-1]
        found *= curve / float(y.dot(inverse(y)))
    for (s, y, curve), part in zip(convex, reversed(parts), strict=True):
        found += (part - float(y.dot(found)) / curve) * s
    return found


def root(
    of: Callable[[float], float], low: float, high: float, near: float, within: float
) -> float:
    """Return where a function that goes from below 0 to above is 0, or the end that is nearest.

    Parameters
    ----------
    of : callable
        The function.
    low, high : float
        Where it is looked for.
    near : float
        Where to begin, between them.
    within : float
        How near it must be.

    Notes
    -----
    Regula falsi, where an end that stays counts half (Dowell & Jarratt, A modified regula falsi
    method for computing the root of an equation, 1971, the Illinois method).

    Examples
    --------
    >>> round(root(lambda x: x**3 - 8, -9.0, 9.0, 1.0, 1e-6), 6)
    2.0
    """
    x, value = near, of(near)
    away = high if value < 0 else low
    stride = 0.5
    while value != 0:  # until the root is between two points
        end = min(x + stride, high) if away == high else max(x - stride, low)
        of_end = of(end)
        if (of_end < 0) != (value < 0):
            break
        if end == away:
            return end
        x, value, stride = end, of_end, 2 * stride
    else:
        return x
    while abs(end - x) > within:
        new = end - of_end * (end - x) / (of_end - value)
        of_new = of(new)
        if of_new == 0:
            return new
        if (of_new < 0) != (of_end < 0):
            x, value = end, of_end
        else:
            value /= 2
        if abs(new - end) < within / 10:
            return new
        end, of_end = new, of_new
    return end

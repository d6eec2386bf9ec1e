"""How estimates, priors and distributions are printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from naively.events.base import Distribution
from naively.kernels.reference import Floats

# A number, an array with one for each column, or a mapping by level or by parameter.
Parameters: TypeAlias = Any
SHOWN = 10  # the most numbers that are printed


def flat(table: Floats) -> Parameters:
    """Return the first column of a table (rows × classes), or a number where it has one row."""
    values = table[:, 0]
    return values.item() if values.size == 1 else values


def shown(value: object) -> str:
    """Write a number, levels or parameters with their numbers, a prior or a distribution."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "undefined" if np.isnan(value) else f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_plain_key(name)} {shown(of)}" for name, of in value.items())
    if isinstance(value, tuple | np.ndarray):
        numbers = np.asarray(value)
        texts = [shown(number) for number in numbers[:SHOWN].tolist()]
        more = [f"and {len(numbers) - SHOWN} more"] if len(numbers) > SHOWN else []
        return f"[{', '.join(texts + more)}]"
    if is_dataclass(value):
        options = {field.name: getattr(value, field.name) for field in fields(value)}
        given = ", ".join(f"{name}={shown(_number(of))}" for name, of in options.items())
        return f"{type(value).__name__}({given})"
    return _distribution(value)


def _distribution(frozen: Distribution) -> str:
    """Write a frozen distribution of SciPy's by its name and parameters."""
    from scipy.stats import distributions

    if isinstance(frozen, distributions.rv_frozen):
        given = [shown(_number(of)) for of in frozen.args]
        given += [f"{name}={shown(_number(of))}" for name, of in frozen.kwds.items()]
        return f"{frozen.dist.name}({', '.join(given)})"
    name = type(frozen).__name__.removesuffix("_frozen").removesuffix("_gen")
    found = vars(frozen)
    given = [shown(_number(found[option])) for option in ("alpha", "p") if option in found]
    return f"{name}({', '.join(given)})" if given else name


def _number(value: object) -> Parameters:
    return flat(np.asarray(value, np.float64).reshape(-1, 1))


def _plain_key(name: object) -> str:
    return name if isinstance(name, str) else repr(name)

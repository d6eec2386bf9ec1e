"""A reader of scorecards in plain Python: what their documentation says, written once more.

It knows nothing of naively but the JSON, and scores a row that is a dictionary of cells.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from itertools import accumulate
from operator import mul
from typing import Any

from tests import words

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (times are in UTC, and say so nowhere)

Row = dict[str, Any]
Read = dict[str, Any]


def scores(card: Read, row: Row) -> list[float]:
    """Return the score of each class."""
    of_class = [list(map(float, card["start"]))]
    of_class += [list(map(float, added(term, row))) for term in card["terms"]]
    return [sum_of(of) for of in zip(*of_class, strict=True)]


def posterior(card: Read, row: Row) -> list[float]:
    """Return the probability of each class."""
    joint = scores(card, row)
    if max(joint) == -math.inf:
        joint = list(map(float, card["log_prior"]))
    p = [math.exp(score - max(joint)) for score in joint]
    return [of / math.fsum(p) for of in p]


def sum_of(values: Any) -> float:
    values = list(values)
    return -math.inf if -math.inf in values else math.fsum(values)


def added(term: Read, row: Row) -> list[Any]:
    """Return what a term adds to each class."""
    none = [0.0] * len(first(term))
    match term["term"]:
        case "rule":
            number = [3 if "others" in of else 2 for of in term["conditions"]]
            assert math.prod(number) == len(term["points"])
            strides = accumulate(number, mul, initial=1)
            sides = (side(of, row) for of in term["conditions"])
            return list(term["points"][sum(map(mul, sides, strides))])
        case "product":
            both = factor(term["a"], row) * factor(term["b"], row) / term["scale"]
            both = min(max(both, -term["most"]), term["most"])
            return [both * slope for slope in term["slope"]]
        case "presence":
            return list(term["missing" if cell(term, row) is None else "there"])
    x = cell(term, row)
    if x is None:
        return none
    match term["term"]:
        case "bins":
            return list(term["points"][sum(x >= float(edge) for edge in term["edges"])])
        case "levels":
            levels = term["levels"]
            return list(term["points"][levels.index(x) if x in levels else -1])
        case "line":
            line = min(max(x, term["low"]), term["high"]) - term["centre"]
            return [line * float(slope) if line else 0.0 for slope in term["slope"]]
        case "parabola":
            both = zip(term["mean"], term["half_precision"], strict=True)
            apart = ((min(max(x - mean, -1e140), 1e140), half) for mean, half in both)
            return [-min(half * x * x, 1e290) for x, half in apart]
        case "tokens":
            return of_text(term, x)
    raise ValueError(term["term"])


def first(term: Read) -> list[Any]:
    """Return numbers of a term, one for each class."""
    for name in ("there", "slope", "mean", "points"):
        if name in term:
            found = term[name]
            while found and isinstance(found[0], list):
                found = found[0]
            return list(found)
    raise ValueError(term)


def cell(of: Read, row: Row) -> Any:
    """Return a cell as a term reads it; None where it is missing."""
    if both := of.get("combined"):
        x, y = (cell({"column": name}, row) for name in (of["column"], both["column"]))
        if x is None or y is None or (both["operator"] == "/" and y == 0):
            return None
        sign = -1 if both["operator"] == "-" else 1
        return x / y if both["operator"] == "/" else x + sign * both["times"] * y
    x = row.get(of["column"])
    if x is None or x != x:
        return None
    if isinstance(x, dt.datetime):
        if part := of.get("part"):
            names = {"weekday": WEEKDAYS[x.weekday()], "month": MONTHS[x.month - 1]}
            return {**names, "hour": f"{x.hour:02}"}[part]
        x = (x - EPOCH) / dt.timedelta(seconds=1)
    return math.log(x) if of.get("log") else x


def side(of: Read, row: Row) -> int:
    x = cell(of, row)
    if x is None:
        return int(of["missing"])
    holds = bool(x in of["levels"] if "levels" in of else x >= float(of["edge"]))
    return 2 if not holds and x not in of.get("others", [x]) else int(holds)


def factor(of: Read, row: Row) -> float:
    x = cell(of, row)
    if x is None:
        return 0.0
    if "level" in of:
        if of["among"] and x not in of["among"]:
            return 0.0
        x = float(x == of["level"])
    elif "above" in of:
        x = float(x > of["above"])
    if "low" in of:
        x = min(max(x, of["low"]), of["high"])
    return float((x - of["centre"]) / of["scale"])


def of_text(term: Read, text: Any) -> list[float]:
    known = {token: i for i, token in enumerate(term["tokens"])}
    count = Counter(known[token] for token in tokens(term["split"], text) if token in known)
    if term["binary"]:
        count = Counter(list(count))
    over = max(count.total(), 1) ** term["length_power"]
    sums = list(map(float, term["there"]))
    for c in range(len(sums)):
        points = (n * float(term["points"][i][c]) for i, n in count.items())
        sums[c] += sum_of(points) / over
    return sums


def tokens(split: Read, text: str) -> list[str]:
    plain = {name: tuple(of) if isinstance(of, list) else of for name, of in split.items()}
    return words.tokens(text, **plain)

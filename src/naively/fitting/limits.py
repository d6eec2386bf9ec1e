"""What is asked of interactions: how many rules, of which columns, rising or falling, and given."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Derived, Level, Levels, Name, title
from naively.counting.block import Block, BlockKey
from naively.data.columns import missing_column
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.terms.functions import (
    MOST_CONDITIONS,
    MOST_POWER,
    Above,
    Combined,
    Condition,
    OneOf,
    Points,
    Term,
)

MOST_RULES = 200  # unless another number is asked for
NAMES = ("rules", "without", "monotone", "given")  # of what may be asked


class Limits(Frozen, eq=True):
    """What interactions may be."""

    rules: int = MOST_RULES  # the most that are chosen
    without: tuple[str, ...] = ()  # columns that have no part in interactions
    # Columns with which steps and rules may only raise (1) or only lower (-1) the odds of the
    # second of two classes. They are in no product.
    monotone: Mapping[str, int] = field(default_factory=dict)
    given: tuple[str, ...] = ()  # rules in words, such as "age < 30 and pay > 5"

    @classmethod
    def of(cls, asked: str | Mapping[str, Any] | None) -> Limits:
        """Read the option ``interactions``, or raise a ValueError that names what is wrong."""
        if not isinstance(asked, Mapping):
            return cls()
        for name in asked:
            if name not in NAMES:
                why = (
                    "what scikit-learn calls so is 'monotone': {column: 1 or -1}."
                    if name == "monotonic_cst"
                    else f"it may have {', '.join(map(repr, NAMES))}."
                )
                raise ValueError(f"interactions has no {name!r}; {why}")
        rules = asked.get("rules", MOST_RULES)
        if not isinstance(rules, int) or isinstance(rules, bool) or rules < 0:
            raise ValueError(f"interactions['rules'] must be a number from 0 on, got {rules!r}.")
        monotone = asked.get("monotone", {})
        if not isinstance(monotone, Mapping) or not all(
            sign in (1, -1) for sign in monotone.values()
        ):
            raise ValueError(
                f"interactions['monotone'] must be 1 or -1 for each column, got {monotone!r}."
            )
        lists = {}
        for name in ("without", "given"):
            of = asked.get(name, ())
            if isinstance(of, str) or not all(isinstance(one, str) for one in of):
                raise ValueError(f"interactions[{name!r}] must be a list of strings, got {of!r}.")
            lists[name] = tuple(of)
        if len(set(lists["given"])) < len(lists["given"]):
            raise ValueError("interactions['given'] names a rule twice.")
        return cls(rules, lists["without"], dict(monotone), lists["given"])

    def check(self, columns: Sequence[str], classes: int) -> None:
        """Raise a ValueError if a column is named that there is not, or two classes are needed."""
        for what in ("without", "monotone"):
            for name in getattr(self, what):
                if name not in columns:
                    of = f"column of interactions[{what!r}]"
                    raise ValueError(missing_column(name, columns, of))
        if self.monotone and classes > 2:
            raise ValueError(
                f"interactions['monotone'] is for two classes, of which the odds of the second "
                f"rise or fall; there are {classes:,}."
            )

    def may_be(self, column: Name) -> bool:
        """Whether interactions may be of a column."""
        return title(column) not in self.without and not (
            isinstance(column, Derived) and any(title(of) in self.without for of in column.roots)
        )

    def are_multiplied(self, terms: Sequence[Term]) -> NDArray[np.bool_]:
        """Return which functions of columns may be multiplied, (terms,)."""
        may = [self.may_be(of.column) and title(of.column) not in self.monotone for of in terms]
        return np.array(may, np.bool_)


# --- Rules in words ------------------------------------------------------------------------------


class GivenRule(NamedTuple):
    """A rule in words: its conditions, and which of them are to hold."""

    conditions: tuple[Condition, ...]
    holds: tuple[bool, ...]

    def of(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.bool_]:
        """Return whether it holds for each row, of shape (rows,)."""
        each = [of.of(blocks) == true for of, true in zip(self.conditions, self.holds, strict=True)]
        return np.asarray(np.logical_and.reduce(each))

    def points(self, added: Floats) -> Points:
        """Return the points of its cells, which add so much to each class where it holds."""
        cell = sum(true << at for at, true in enumerate(self.holds))
        table = np.zeros((2 ** len(self.holds), len(added)))
        table[cell] = added
        return tuple(map(tuple, table.tolist()))


class KnownColumn(NamedTuple):
    """A column that a rule may be of; its levels, or None of numbers."""

    group: BlockKey
    name: Name
    levels: Sequence[Level] | None


def known_columns(model: Model) -> dict[str, KnownColumn]:
    """Return the columns of a model that rules may be of, by their titles."""
    found = {}
    for group in model.view.schema.of_columns:
        if not group.is_by_column:
            continue
        axis = model.view.counts[group.key].axis
        for j, name in enumerate(axis.columns):
            levels = axis.levels[j] if isinstance(axis, Levels) else None
            found[title(name)] = KnownColumn(group.key, name, levels)
    return found


HALF = 0.5  # what a power of two is of the next
SIGN = re.compile(r" ([-+/]) (?:([\d.]+(?:e[-+]?\d+)?) \* )?")


def read_combined(said: str, columns: Mapping[str, KnownColumn]) -> tuple[BlockKey, Combined]:
    """Read a sum, a difference or a ratio of two columns, which may have signs in their names."""
    for sign in SIGN.finditer(said):
        a, b = columns.get(said[: sign.start()].strip()), columns.get(said[sign.end() :].strip())
        if a is None or b is None:
            continue
        if a.levels is not None or b.levels is not None or a.group != b.group:
            raise ValueError(
                f"derived has {said!r}, but the two columns are not both numbers, or both times, "
                "of one event model."
            )
        power = _power(sign[2] or "1")
        if power is None or (power and sign[1] == "/"):
            raise ValueError(
                f"derived has {said!r}: a factor is a power of two, such as 4 or 0.25, of what is "
                "added or taken away."
            )
        if a.group.kind == "time" and (sign[1] != "-" or power):
            raise ValueError(f"derived has {said!r}: of two times only the difference is known.")
        operator = cast("Literal['+', '-', '/']", sign[1])
        return a.group, Combined(a.name, operator, b.name, power)
    known = ", ".join(name for name, of in columns.items() if of.levels is None)
    raise ValueError(
        f"derived has {said!r}, which is no sum, difference or ratio of two columns of numbers: "
        f"write it as 'debt / income'; the columns of numbers are {known or 'none'}."
    )


def _power(factor: str) -> int | None:
    """Return which power of two a factor is; None if it is none."""
    try:
        share, power = math.frexp(float(factor))
    except ValueError:
        return None
    return power - 1 if share == HALF and abs(power - 1) <= MOST_POWER else None


AND = re.compile(r"\s+and\s+", re.IGNORECASE)
TEST = re.compile(r"\s*(<=|>=|==|!=|<|>|=|\bnot in\b|\bin\b|\bis missing\b)\s*(.*)", re.IGNORECASE)


def read_rule(said: str, columns: Mapping[str, KnownColumn]) -> GivenRule:
    """Read a rule in words: conditions of columns, joined by "and"."""
    conditions: list[Condition] = []
    holds: list[bool] = []
    for part in AND.split(said.strip()):
        for condition, true in _read(part, said, columns):
            conditions.append(condition)
            holds.append(true)
    if len(conditions) > MOST_CONDITIONS:
        raise ValueError(
            f"The rule {said[:60]!r}... has {len(conditions)} conditions, of {MOST_CONDITIONS} at "
            "most; a number that equals another has two."
        )
    return GivenRule(tuple(conditions), tuple(holds))


def _read(part: str, said: str, columns: Mapping[str, KnownColumn]) -> list[tuple[Condition, bool]]:
    """Read one condition, which may become two: a number that equals another is between two."""
    column, operator, value = _split(part, said, columns)
    if column.levels is None:
        return _of_number(column, operator, value, part, said)
    equal = operator in ("=", "==", "in")
    if not equal and operator not in ("!=", "not in"):
        raise ValueError(
            f"The rule {said!r} asks {part!r}, but the column {title(column.name)!r} holds levels; "
            "ask for =, != or in {a, b}."
        )
    words = [value] if "in" not in operator else value.strip("{}[]() ").split(",")
    test = OneOf(tuple(_level(word.strip(), column, part, said) for word in words))
    return [(Condition(column.group, column.name, test, int(not equal)), equal)]


def _split(
    part: str, said: str, columns: Mapping[str, KnownColumn]
) -> tuple[KnownColumn, str, str]:
    """Split a condition into its column, its operator and its value."""
    for name in sorted(columns, key=len, reverse=True):
        found = TEST.fullmatch(part[len(name) :]) if part.startswith(name) else None
        if found:
            operator = re.sub(r"\s+", " ", found[1].lower())
            return columns[name], operator, found[2].strip().strip("'\"")
    first = TEST.search(part)
    name = part[: first.start()].strip() if first else part
    if first is None or name in columns:
        raise ValueError(
            f"The rule {said!r} has {part!r}, which is no condition; write it as 'age < 30', "
            "'colour = red' or 'colour in {red, blue}', and join several by 'and'."
        )
    there = missing_column(name, [*columns])
    raise ValueError(f"In the rule {said!r}: {there[0].lower()}{there[1:]}")


def _of_number(
    column: KnownColumn, operator: str, value: str, part: str, said: str
) -> list[tuple[Condition, bool]]:
    """Return conditions of a column of numbers."""
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if np.isnan(number) or operator not in ("<", "<=", ">", ">=", "=", "=="):
        raise ValueError(
            f"The rule {said!r} asks {part!r}, but the column {title(column.name)!r} holds "
            "numbers; compare it with a number by <, <=, >, >= or =."
        )
    after = float(np.nextafter(number, np.inf))

    def at_least(edge: float, *, true: bool) -> tuple[Condition, bool]:
        # A missing cell is not in the rule.
        return Condition(column.group, column.name, Above(edge), int(not true)), true

    found = {
        "<": [at_least(number, true=False)],
        "<=": [at_least(after, true=False)],
        ">": [at_least(after, true=True)],
        ">=": [at_least(number, true=True)],
    }
    return found.get(operator, [at_least(number, true=True), at_least(after, true=False)])


def _level(word: str, column: KnownColumn, part: str, said: str) -> Level:
    """Return the level of a column that is written so."""
    for level in column.levels or ():
        if str(level) == word.strip("'\""):
            return level
    raise ValueError(
        f"The rule {said!r} asks {part!r}, but the column {title(column.name)!r} never held "
        f"{word!r}."
    )

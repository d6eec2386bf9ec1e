"""What the tally says of the columns: constant, infinite, like an identifier, leaking the target.

No column is dropped for what is said of it. A column is said to determine the label only where that
is certain: without exception, in every class, and in so many rows that it is no chance. There is a
warning only of columns that are the label under other names; others may determine it legitimately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    PRESENT,
    SQUARE,
    VALUE,
    Analyser,
    ByValue,
    Cells,
    Columns,
    Levels,
    Name,
    Statistic,
    Words,
    title,
)
from naively.counting.labels import Label
from naively.counting.tally import BlockTally, Tally
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import RepeatedSums, as_dense
from naively.messages import warn
from naively.schema.schema import DERIVED, SHOWN, Group, Schema, list_names
from naively.schema.text import Text, name_of

TWO = 2
ENOUGH = 100  # rows, before it is no chance that a column determines the label
PER_LEVEL = 10  # rows on average; levels that hardly recur determine the label by being many
ABOUT = 1e-9  # of the mean square: a lesser variance may be only rounding, and is computed exactly
CHANCE = 20.0  # nats by which it is no chance that rows are all of one class
NAMED = 0.99  # of the strings of a class, that hold its name
MOST_NAMED = 100  # classes whose names are looked for
PIECE = 5  # characters of the longest n-gram of a text by default
IDENTIFIER_ROWS = 50  # of a column, before it is said to be like an identifier
IDENTIFIER_SHARE = 0.95  # of these rows, that have a level of their own
STOOD_IN = 3  # times that a number of nines came, before it may stand for a missing cell
NINES = [sign * float("9" * n) for n in range(2, 7) for sign in (1, -1)]
OWN_LEVELS = "nearly every row has its own: like an identifier"

Flags = NDArray[np.bool_]


def describe(schema: Schema, tally: Tally) -> Schema:
    """Return the schema with notes: what each column holds, and what is odd about it."""
    few = len(schema.columns) <= SHOWN
    notes = {name: [note] for name, note in schema.notes.items() if few or note != "given"}
    if few:
        texts: dict[Name, list[str]] = {}
        for group in schema.of_columns:
            for name, held in _held(group, tally.blocks[group.key]):
                if group.kind == "text":
                    texts.setdefault(name, []).append(held)
                else:
                    notes.setdefault(name, []).insert(0, held)
        for name, each in texts.items():
            notes.setdefault(name, []).insert(0, f"texts: {', '.join(each)} on average")
    for name, finding in _findings(schema, tally):
        notes.setdefault(name, []).append(finding)
    return replace(schema, notes={name: "; ".join(of) for name, of in notes.items()})


def leaking(schema: Schema, tally: Tally) -> tuple[dict[Name, Label], dict[Name, bool]]:
    """Return the columns that are there in rows of one class only, and that class.

    With them come those that determine the label alone, and whether they are its other names.
    """
    of_one_class: dict[Name, Label] = {}
    telling: dict[Name, bool] = {}
    rows = tally.weight.high
    classes = rows > 0
    if classes.sum() < TWO or rows.sum() < ENOUGH:
        return of_one_class, telling
    with np.errstate(divide="ignore"):
        unlikely = -np.log(rows / rows.sum())
    for group in schema.of_columns:
        block = tally.blocks[group.key]
        axis, present = block.axis, present_in(group, block)
        if present is not None:
            there, number = present
            n, c = there.high.max(axis=1, initial=0.0), there.high.argmax(axis=1)
            one = ((there.high > 0).sum(axis=1) == 1) & (n * unlikely[c] >= CHANCE)
            for j in np.flatnonzero(one[number]).tolist():
                of_one_class[group.columns[j]] = tally.classes.tolist()[c[number[j]]]
        for j in np.flatnonzero(_leaks(group, block, classes)).tolist():
            renamed = not isinstance(axis, ByValue) or np.diff(axis.first)[j] == classes.sum()
            telling[axis.columns[j]] = bool(renamed)
    return of_one_class, telling


def leaks(schema: Schema, tally: Tally) -> Iterator[str]:
    """Say which columns are the label under other names, or are there for one class only."""
    of_one_class, telling = leaking(schema, tally)
    for name, label in of_one_class.items():
        yield (
            f"Column {title(name)!r} is there in rows of class {label!r} only; if it will not be "
            "known when predicting, leave it out."
        )
    if found := [name for name, renamed in telling.items() if renamed]:
        rows = f"{tally.class_count.sum():,.0f}"
        yield (
            f"Column {list_names(found)} is the label under other names, without exception in "
            f"{rows} rows; if it will not be known when predicting, leave it out."
        )
    of_words = [g for g in schema.of_columns if isinstance(g.analyser, Text) and g.analyser.binary]
    for name, label in (naming_labels(of_words, tally) if of_words else {}).items():
        yield (
            f"Column {title(name)!r} holds the name of the label, such as {label!r}; if it will "
            "not when predicting, leave it out."
        )


def naming_labels(groups: Sequence[Group], tally: Tally) -> dict[Name, str]:
    """Return the columns of words that hold the name of the label, and an example of a name."""
    labels = [str(label).lower() for label in tally.classes.tolist()]
    if not TWO <= len(labels) <= MOST_NAMED or tally.class_count.sum() < ENOUGH:
        return {}
    pieces = [(c, piece) for c, label in enumerate(labels) for piece in _pieces(label)]
    found: dict[Name, str] = {}
    for group in groups if pieces else ():
        block = tally.blocks[group.key]
        if block.axis.hashed:
            continue
        texts = block[PRESENT].high.reshape(-1, len(labels))[0]
        there = block.axis.vocabulary.find([piece for _, piece in pieces])
        own = np.array([c for c, _ in pieces])[there >= 0]
        at = np.repeat(there[there >= 0][:, None], len(labels), axis=1)
        count = block.sums[VALUE].at(at, np.broadcast_to(np.arange(len(labels)), at.shape))
        of_own = np.take_along_axis(count, own[:, None], axis=1)[:, 0]
        names = (of_own >= NAMED * texts[own]) & (of_own > 0) & (count.sum(axis=1) == of_own)
        named = set(own[names].tolist())
        if len(named) >= max((texts > 0).sum() - 1, 1):
            found[group.columns[0]] = labels[min(named)]
    return found


def _pieces(label: str) -> set[str]:
    """Return what a label's name may be counted as: itself, and its longest character n-grams."""
    if len(label) < TWO:
        return set()
    return {label, *(label[i : i + PIECE] for i in range(max(len(label) - PIECE + 1, 1)))}


def warn_of_no_tokens(schema: Schema, tally: Tally) -> None:
    """Warn of texts in none of which a token was found, and say what is looked for."""
    texts: dict[Name, list[Group]] = {}
    for group in schema.groups:
        for name in group.columns if group.kind == "text" else ():
            texts.setdefault(name, []).append(group)
    for name, groups in texts.items():
        blocks = [tally.blocks[group.key] for group in groups]
        if any(block.sums[VALUE].rows_there().any() for block in blocks):
            continue
        if not any(block[PRESENT].high.any() for block in blocks):
            continue  # every text is missing, or of no weight
        warn(
            f"No token was found in any text of column {title(name)!r}, so nothing was "
            f"learned from it; its tokens are {_sought(groups[0].analyser)}. Others are found by "
            "Text(token_pattern=...) or Text(analyzer='char') as its event model."
        )


def warn_of_marked_numbers(
    schema: Schema, tally: Tally, marks_of: Callable[[Name], Sequence[str]]
) -> None:
    """Warn of numbers that stand for missing cells where they are strings, and here do not."""
    for group in schema.of_columns:
        axis = tally.blocks[group.key].axis
        if not isinstance(axis, Cells):
            continue
        n = tally.blocks[group.key][axis.statistic].high.sum(axis=1)
        for j, name in enumerate(axis.columns):
            marks = () if name in schema.readings else marks_of(name)
            for mark in marks:
                number = _number(mark)
                here = (axis.column == j) & (axis.low <= number) & (number <= axis.high)
                if (n[here] > 0).any():
                    near = " or next to it" * bool((axis.low < axis.high)[here].any())
                    warn(
                        f"Column {title(name)!r} holds numbers, {n[here].sum():,.0f} of them "
                        f"{mark}{near}: missing_values is of strings; put NaN in their place."
                    )


def _number(mark: str) -> float:
    try:
        return float(mark)
    except ValueError:
        return np.nan


def _sought(analyser: Analyser | None) -> str:
    """Say what was looked for in texts."""
    if not isinstance(analyser, Text) or analyser.analyzer != "word":
        return "tokens" if analyser is None else analyser.counted
    if analyser.token_pattern is not None:
        return f"words that match '{analyser.token_pattern}'"
    return (
        "words that {} makes".format(*map(name_of, analyser.functions.values()))
        if (analyser.functions)
        else "words, numbers, hashtags, mentions, smileys and emoji"
    )


def _leaks(group: Group, block: BlockTally, classes: Flags) -> Flags:
    """Return which columns of a group determine the label alone, of shape (columns,)."""
    axis, none = block.axis, np.zeros(len(block.axis.columns), np.bool_)
    if isinstance(axis, ByValue):
        counts = block[axis.statistic].high  # of many classes large, and copied only if need be
        return _levels_leak(axis, counts if classes.all() else counts[:, classes])
    if not isinstance(axis, Columns) or not {PRESENT, VALUE} <= set(block.sums):
        return none
    if group.event.name == "bernoulli":
        if classes.sum() != TWO:  # a truth cannot tell more classes apart
            return none
        n, value = (as_dense(block.sums[s][:, classes]).high for s in (PRESENT, VALUE))
        return _truths_leak(n, value)
    if SQUARE not in block.sums:
        return none
    return _numbers_leak({s: block[s] for s in block.sums}, classes)


def _levels_leak(axis: ByValue, counts: Floats) -> Flags:
    """Return which columns came, at each of their levels, with one class only."""
    # ``counts``, of shape (levels, classes), are the rows of each level in the classes that have
    # rows. What is returned has shape (columns,).
    by_class = axis.sum_by_column(counts)
    n = by_class.sum(axis=1)
    often = (n >= ENOUGH) & (n >= PER_LEVEL * np.diff(axis.first)) & (by_class > 0).all(axis=1)
    for j in np.flatnonzero(often).tolist():
        of_levels = counts[axis.first[j] : axis.first[j + 1]]
        often[j] = (of_levels.max(axis=1, initial=0.0) == of_levels.sum(axis=1)).all()
    return np.asarray(often)


def _truths_leak(n: Floats, value: Floats) -> Flags:
    """Return which columns are always true in one of two classes, and never in the other."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = value / n
    opposite = ((p == 0) | (p == 1)).all(axis=1) & (p[:, 0] != p[:, 1])
    return np.asarray(opposite & (n > 0).all(axis=1) & (n.sum(axis=1) >= ENOUGH))


def _numbers_leak(sums: Mapping[Statistic, Sums], classes: Flags) -> Flags:
    """Return which columns are one number in each class, and another in each."""
    # The cheap question first: is a column about the same throughout the first class?
    c = int(np.flatnonzero(classes)[0])
    n, value, square = (sums[s].high[:, c] for s in (PRESENT, VALUE, SQUARE))
    with np.errstate(over="ignore", invalid="ignore"):
        about = n * square - value * value <= ABOUT * n * square
    found = np.zeros(len(about), np.bool_)
    if about.any():
        found[about] = _are_constant({s: sums[s][about][:, classes] for s in sums})
    return found


def _are_constant(sums: Mapping[Statistic, Sums]) -> Flags:
    """Return which columns are exactly one number in each class, and another in each."""
    n, value = sums[PRESENT], sums[VALUE]
    enough = (n.high > 0).all(axis=1) & (n.high.sum(axis=1) >= ENOUGH)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.sort(value.high / n.high, axis=1)
    same = (_spread(n, value, sums[SQUARE]) == 0).all(axis=1)
    return np.asarray(enough & same & (np.diff(mean, axis=1) > 0).all(axis=1))


def _spread(n: Sums, value: Sums, square: Sums) -> Floats:
    """Return n² times the variance, which is exactly 0 where all cells are the same."""
    return (n * square - value * value).high


def _held(group: Group, block: BlockTally) -> Iterator[tuple[Name, str]]:
    """Say what each column of a group holds."""
    match block.axis:
        case Words(columns=(name,)) as axis:
            texts, words = (block.sums[s].by_row().sum() for s in (PRESENT, VALUE))
            yield name, f"{words / max(texts, 1.0):.1f} {axis.analyser.counted}"
        case Levels() as axis:
            for name, n in zip(axis.columns, np.diff(axis.first).tolist(), strict=True):
                yield name, f"{n} level{'' if n == 1 else 's'}"
        case axis:
            yield from ((name, f"{group.kind}s") for name in axis.columns)


def _findings(schema: Schema, tally: Tally) -> Iterator[tuple[Name, str]]:
    """Say what is odd about each column that has something odd about it."""
    for group in schema.of_columns:
        block = tally.blocks[group.key]
        match block.axis:
            case Levels() as axis:
                yield from _odd_levels(axis, block[axis.statistic])
            case Cells() as axis:
                yield from _odd_cells(axis, block[axis.statistic])
            case Columns() if PRESENT in block.sums and VALUE in block.sums:
                yield from _constant(group, block)
    of_one_class, telling = leaking(schema, tally)
    for name in telling:
        yield name, "determines the label alone"
    for name, label in of_one_class.items():
        yield name, f"there for class {label!r} only"
    for name in schema.order:
        if name not in schema.columns:
            yield name, "missing throughout"


def _odd_levels(axis: Levels, counts: Sums) -> Iterator[tuple[Name, str]]:
    """Say which columns always have the same level, or nearly as many levels as rows."""
    levels, n = np.diff(axis.first), axis.sum_by_column(counts.high).sum(axis=1)
    for j in np.flatnonzero((levels == 1) & (n > 1)).tolist():
        yield axis.columns[j], f"always {axis.levels[j][0]!r}"
    own = (n >= IDENTIFIER_ROWS) & (levels >= IDENTIFIER_SHARE * n)
    for j in np.flatnonzero(own).tolist():
        yield axis.columns[j], OWN_LEVELS


def _odd_cells(axis: Cells, counts: Sums) -> Iterator[tuple[Name, str]]:
    """Say which columns of numbers, counted in cells, hold infinite ones or always the same."""
    for j in np.unique(axis.column[np.isinf(axis.low)]).tolist():
        yield axis.columns[j], "some are infinite"
    alone = (np.diff(axis.first) == 1) & (axis.sum_by_column(counts.high).sum(axis=1) > 1)
    for j in np.flatnonzero(alone).tolist():
        yield axis.columns[j], f"always {axis.middle[axis.first[j]]:.6g}"
    yield from _nines(axis, counts.high.sum(axis=1))


def _nines(axis: Cells, n: Floats) -> Iterator[tuple[Name, str]]:
    """Say which columns have a number such as -999 at one end, often and far from others."""
    # It is farther from the next number than all others are from each other.
    for number in NINES:
        for row in np.flatnonzero((axis.low <= number) & (number <= axis.high) & (n >= STOOD_IN)):
            j = int(axis.column[row])
            first = int(axis.first[j])
            last = first + int(np.diff(axis.first)[j]) - 1
            at_end, more = row == (first if number < 0 else last), last - first >= TWO
            if at_end and more:
                others = axis.middle[first + (row == first) : last + (row == first)]
                if np.abs(others - number).min() > np.ptp(others):
                    said = f"{number:.0f} recurs far from all others: missing?"
                    yield axis.columns[j], f"{said} then give missing_values=, of numbers NaN"


def _constant(group: Group, block: BlockTally) -> Iterator[tuple[Name, str]]:
    """Say which columns always hold the same truth, or by their moments the same number."""
    if group.event.name != "bernoulli" and SQUARE not in block.sums:
        return
    n, value = (block.sums[s].total_by_row() for s in (PRESENT, VALUE))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = value.high / n.high
    if group.event.name == "bernoulli":
        same = (mean == 0) | (mean == 1)
    else:
        same = _spread(n, value, block[SQUARE].total(axis=1)) == 0
    for j in np.flatnonzero(same & (n.high > 1)).tolist():
        shown = bool(mean[j]) if group.kind == "boolean" else f"{mean[j]:.6g}"
        yield block.axis.columns[j], f"always {shown}"


def present_in(group: Group, block: BlockTally) -> tuple[Sums, NDArray[np.integer]] | None:
    """Return how many rows of each class have a value in each column; None if it is not counted."""
    # The rows that differ are sums of shape (different, classes), and the numbers say which of them
    # is that of each column, (columns,).
    alone = group.analyser is not None or not (group.event.joined or group.event.layout == "rows")
    if not alone or group.kind in DERIVED:
        return None
    axis, columns = block.axis, len(block.axis.columns)
    if not isinstance(axis, ByValue):
        present = block.sums[PRESENT]
        if isinstance(present, RepeatedSums):
            return present.different, present.number
        return block[PRESENT], np.arange(columns)
    some = np.flatnonzero(np.diff(axis.first))  # the columns of which a value came
    there = block[axis.statistic].total_by_group(axis.first[some])
    return there.place(some, columns), np.arange(columns)

"""What the tally says of the columns: constant, infinite, like an identifier, telling the label.

Nothing is dropped for it. A column is said to tell the label only where that is certain: without
exception, in every class, and in so many rows that it is no chance. Of such columns only those
that are the label under other names are warned of; what else determines it may be legitimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.analyser import Analyser
from naively.counting.axis import Columns, Levels, Words, sum_by_column, title
from naively.counting.cells import Cells
from naively.counting.statistic import CELL, LEVEL, PRESENT, SQUARE, VALUE, Statistic
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import Name
from naively.kernels.double_double import Sums
from naively.messages import warn
from naively.schema.schema import SHOWN, Group, Schema, list_names
from naively.schema.text import TOKEN_PATTERN, Text

ENOUGH = 100  # rows, before a column that tells the label is no chance
PER_LEVEL = 10  # rows on average; levels that hardly ever recur tell the label by being many
ABOUT = 1e-9  # of the square; what is rounding is decided exactly
IDENTIFIER_ROWS = 50
IDENTIFIER_SHARE = 0.95  # of the rows that have a level of their own

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


def leaking(schema: Schema, tally: Tally, *, renamed: bool = False) -> list[Name]:
    """Return the columns that determine the label alone; or that are it, under other names.

    A column of levels or booleans does if every level came with one class only. So does one of
    numbers that were counted in cells (for a histogram), which are its levels; one of which moments
    are counted, if it was the same number throughout each class and another in each. It must have
    been there in at least 100 rows, at least 10 for each level, and some of every class.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X, y = {"paid": [True, False] * 50, "sum": [1.0, 2.0, 2.0, 1.0] * 25}, [1, 0] * 50
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     nb = NaiveBayes().fit(X, y)
    >>> leaking(nb.schema_, nb.tally_)
    ['paid']
    """
    classes = tally.class_count > 0
    if classes.sum() < 2 or tally.class_count.sum() < ENOUGH:
        return []
    found: list[Name] = []
    for group in schema.of_columns:
        block = tally.blocks[group.key]
        columns = block.axis.columns
        tells = _leaks(group, block, classes)
        if renamed and isinstance(block.axis, Levels | Cells):
            tells &= np.diff(block.axis.first) == classes.sum()
        found += [columns[j] for j in np.flatnonzero(tells).tolist()]
    return found


def warn_of_leaks(schema: Schema, tally: Tally) -> None:
    """Warn of columns that are the label under other names."""
    found = leaking(schema, tally, renamed=True)
    if found:
        rows = f"{tally.class_count.sum():,.0f}"
        warn(
            f"Column {list_names(found)} is the label under other names, without exception in "
            f"{rows} rows; if it will not be known when predicting, leave it out."
        )


def warn_of_no_tokens(schema: Schema, tally: Tally) -> None:
    """Warn of texts in none of which a token was found, and say what is looked for."""
    for name, groups in schema.groups_of.items():
        blocks = [tally.blocks[group.key] for group in groups if group.kind == "text"]
        if not blocks or any(block[VALUE].high.any() for block in blocks):
            continue
        if not any(block[PRESENT].high.any() for block in blocks):
            continue  # every text is missing, or of no weight
        warn(
            f"No token was found in any text of column {title(name)!r}, so that nothing was "
            f"learned from it; looked for were {_sought(groups[0].analyser)}. Others are found by "
            "Text(token_pattern=...) or Text(analyzer='char') as its event model."
        )


def _sought(analyser: Analyser | None) -> str:
    if not isinstance(analyser, Text) or analyser.analyzer != "word":
        return "tokens" if analyser is None else analyser.counted
    usual = " (two characters or more)" if analyser.token_pattern == TOKEN_PATTERN else ""
    return f"words that match '{analyser.token_pattern}'{usual}"


def _leaks(group: Group, block: BlockTally, classes: Flags) -> Flags:
    sums = block.sums
    none = np.zeros(len(block.axis.columns), np.bool_)
    if isinstance(block.axis, Levels | Cells):
        counts = sums[LEVEL if isinstance(block.axis, Levels) else CELL].high[:, classes]
        pure = counts.max(axis=1, initial=0.0) == counts.sum(axis=1)
        by_column = sum_by_column(block.axis.first, counts)
        n = by_column.sum(axis=1)
        levels = np.diff(block.axis.first)
        all_pure = sum_by_column(block.axis.first, (~pure)[:, None].astype(np.float64))[:, 0] == 0
        often = (n >= ENOUGH) & (n >= PER_LEVEL * levels)
        return np.asarray(all_pure & often & (by_column > 0).all(axis=1))
    if not isinstance(block.axis, Columns) or PRESENT not in sums or VALUE not in sums:
        return none
    if group.event.name != "bernoulli":
        if SQUARE not in sums:
            return none
        # The cheap question first: is a column about the same throughout the first class?
        c = int(np.flatnonzero(classes)[0])
        n, value, square = (sums[s].high[:, c] for s in (PRESENT, VALUE, SQUARE))
        with np.errstate(over="ignore", invalid="ignore"):
            about = n * square - value * value <= ABOUT * n * square
        if not about.any():
            return none
        found = none
        found[about] = _numbers_tell({s: sums[s][about][:, classes] for s in sums})
        return found
    n, value = sums[PRESENT].high[:, classes], sums[VALUE].high[:, classes]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = value / n
    same = ((p == 0) | (p == 1)).all(axis=1) & (np.ptp(p, axis=1) > 0)
    return np.asarray(same & (n > 0).all(axis=1) & (n.sum(axis=1) >= ENOUGH) & (p.shape[1] == 2))


def _numbers_tell(sums: Mapping[Statistic, Sums]) -> Flags:
    """Return which columns are one number in each class, and another in each."""
    n, value = sums[PRESENT], sums[VALUE]
    enough = (n.high > 0).all(axis=1) & (n.high.sum(axis=1) >= ENOUGH)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.sort(value.high / n.high, axis=1)
    same = (_spread(n, value, sums[SQUARE]) == 0).all(axis=1)
    return np.asarray(enough & same & (np.diff(mean, axis=1) > 0).all(axis=1))


def _spread(n: Sums, value: Sums, square: Sums) -> NDArray[np.float64]:
    """Return n² times the variance; 0 if it is none."""
    return (n * square - value * value).high


def _held(group: Group, block: BlockTally) -> Iterator[tuple[Name, str]]:
    axis = block.axis
    if isinstance(axis, Words):
        texts, words = (block[s].high.sum() for s in (PRESENT, VALUE))
        yield axis.columns[0], f"{words / max(texts, 1.0):.1f} {axis.analyser.counted}"
    elif isinstance(axis, Levels):
        for name, levels in zip(axis.columns, axis.levels, strict=True):
            yield name, f"{len(levels)} level{'' if len(levels) == 1 else 's'}"
    else:
        yield from ((name, f"{group.kind}s") for name in axis.columns)


def _findings(schema: Schema, tally: Tally) -> Iterator[tuple[Name, str]]:
    for group in schema.of_columns:
        block = tally.blocks[group.key]
        axis, sums = block.axis, block.sums
        if isinstance(axis, Levels):
            n = sum_by_column(axis.first, sums[LEVEL].high).sum(axis=1)
            levels = np.diff(axis.first)
            for j in np.flatnonzero((levels == 1) & (n > 1)).tolist():
                yield axis.columns[j], f"always {axis.levels[j][0]!r}"
            own = (n >= IDENTIFIER_ROWS) & (levels >= IDENTIFIER_SHARE * n)
            for j in np.flatnonzero(own).tolist():
                yield axis.columns[j], "nearly every row has its own: like an identifier"
        elif isinstance(axis, Cells):
            yield from _odd_cells(axis, sums[CELL])
        elif isinstance(axis, Columns) and PRESENT in sums and VALUE in sums:
            yield from _constant(group, block)
    for name in leaking(schema, tally):
        yield name, "determines the label alone"
    for name in schema.order:
        if name not in schema.columns:
            yield name, "missing throughout"


def _odd_cells(axis: Cells, counts: Sums) -> Iterator[tuple[Name, str]]:
    for j in np.unique(axis.column[np.isinf(axis.low)]).tolist():
        yield axis.columns[j], "some are infinite"
    alone = (np.diff(axis.first) == 1) & (sum_by_column(axis.first, counts.high).sum(axis=1) > 1)
    for j in np.flatnonzero(alone).tolist():
        yield axis.columns[j], f"always {axis.middle[axis.first[j]]:.6g}"


def _constant(group: Group, block: BlockTally) -> Iterator[tuple[Name, str]]:
    n, value = (block[s].total(axis=1) for s in (PRESENT, VALUE))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = value.high / n.high
    if group.event.name == "bernoulli":
        same = (mean == 0) | (mean == 1)
    elif SQUARE in block.sums:
        same = _spread(n, value, block[SQUARE].total(axis=1)) == 0
    else:
        return
    for j in np.flatnonzero(same & (n.high > 1)).tolist():
        shown = bool(mean[j]) if group.kind == "boolean" else f"{mean[j]:.6g}"
        yield block.axis.columns[j], f"always {shown}"

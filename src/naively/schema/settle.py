"""What was counted decides what each column is taken for; schemas of two models are made one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import add
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import CELL, LEVEL, PRESENT, VALUE, ByValue, Cells, Columns, Levels, Name
from naively.counting.block import Block
from naively.counting.labels import Labels
from naively.counting.tally import BlockTally, Tally, Total
from naively.data.columns import CYCLES, READ_AS, Reading, column_rows
from naively.data.reading import Forms, read, readings_with_words
from naively.events import Bernoulli, Categorical, EventModel, Histogram
from naively.frozen import Frozen
from naively.kernels.double_double import Sums
from naively.kernels.folding import unspaced
from naively.kernels.reference import sortable
from naively.schema.diagnose import present_in
from naively.schema.encode import encode_texts, read_levels
from naively.schema.schema import EMPTY, Group, GroupKey, Missing, MissingAs, Schema, TimePart
from naively.schema.settings import Settings
from naively.schema.text import Text, text_group

# --- What a column is taken for follows from what was counted of it, not from how its rows came ---
#
# A column that was given no event model is counted so that nothing is decided too early: numbers
# as truths while they are 0 and 1, else in cells; strings as levels while they may be categories.
# What the column is, is then read from its counts whenever it is asked. So it is the same for rows
# that were learned at once, in batches, or by models that were merged.
#
# Truths are counts of the cells of 0 and 1, and levels are texts that came so many times, so that
# both become the other exactly where tallies that are added have one of each. A text does not
# become levels again: once there are many different ones, they are not kept.


OF_NUMBERS = Histogram  # unless they are named, or sparse
TEXT_WORDS = 4.0  # strings of so many words on average are sentences: texts, if they are
TEXT_DISTINCT = 0.5  # mostly different ones,
MANY = 1_000  # or more different ones than that
# Shorter strings are texts where
TEXT_OWN = 0.9  # so many rows have one of their own; or, where blocks of pieces have weights, where
SHORT_DISTINCT = 0.5  # so many differ
TEXT_ROWS = 50  # of so many rows at least,
SHORT_MANY = 100  # or more than that do,
SHORT_SHARE = 0.2  # and so many of the rows; their levels are kept
MOST_LEVELS = 10_000  # up to so many.
OWN = "nearly every row has its own, a text by its pieces: like an identifier"
PIECES = "many differ: a text by its pieces, and levels"
LOOKED_AT = 1_000  # strings that are looked at to tell hashes
HASH = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
CountedAs: TypeAlias = Literal["truths", "cells", "levels"]
ZERO, ONE = sortable(np.array([0.0, 1.0])).tolist()


class Grouped(NamedTuple):
    """A schema, and what was counted of its groups."""

    schema: Schema
    tally: Tally

    def without(self, keys: Collection[GroupKey]) -> Grouped:
        """Return the same without some groups."""
        if not keys:
            return self
        groups = tuple(group for group in self.schema.groups if group.key not in keys)
        blocks = {key: block for key, block in self.tally.blocks.items() if key not in keys}
        return Grouped(replace(self.schema, groups=groups), replace(self.tally, blocks=blocks))


class Move(Frozen, eq=True):
    """Columns of a group that are taken for something else, and what was counted of that."""

    source: Group
    columns: Sequence[Name]
    targets: Sequence[tuple[Group, BlockTally]]


def reads_as_text(strings: Collection[str], n: float, *, blocks: bool = True) -> bool:
    """Whether these different strings of n rows are texts rather than categories."""
    # Sentences are, where most differ or there are many; whatever else nearly every row has its own
    # of is too, such as names, titles and codes, whose pieces may tell. Where texts are counted in
    # blocks, which have weights, it is enough that many differ. Hashes have no such pieces.
    d = len(strings)
    differ = d > MANY or d >= TEXT_DISTINCT * n
    some = n >= TEXT_ROWS and d >= (SHORT_DISTINCT if blocks else TEXT_OWN) * n
    some |= blocks and d > SHORT_MANY and d >= SHORT_SHARE * n
    if not d or not (differ or some):
        return False
    if not (some or _are_sentences(strings)):
        return False
    of = [HASH.fullmatch(string) is not None for string in islice(strings, LOOKED_AT)]
    return sum(of) < TEXT_OWN * len(of)


def is_many(strings: Collection[str]) -> bool:
    """Whether there are so many different strings that none is kept, if they are texts."""
    return len(strings) > MANY and (len(strings) > MOST_LEVELS or _are_sentences(strings))


def _are_sentences(strings: Collection[str]) -> bool:
    return sum(map(count_words, strings)) >= TEXT_WORDS * len(strings)


def count_words(string: str) -> float:
    """Return how many words a string has; in scripts without blanks, two characters are one.

    >>> count_words("a red car"), count_words("这个产品非常好")
    (3, 3.5)
    """
    words = len(string.split())
    return words if string.isascii() else max(words, len(unspaced().findall(string)) / 2)


def settle(schema: Schema, tally: Tally, settings: Settings) -> Grouped:
    """Return what the columns are taken for, and the tally of that."""
    moves: list[Move] = []
    notes: dict[Name, str] = {}
    for group in schema.of_columns:
        block = tally.blocks.get(group.key)
        free = schema.free.intersection(group.columns) if schema.free and block else None
        if not free or block is None:
            continue
        match counted_as(group):
            case "truths" if names := _constant(block) & free:
                moves.append(into_cells(group, block, names, OF_NUMBERS.of_options(settings)))
            case "cells" if names := _truths(block) & free:
                moves.append(_into_truths(group, block, names, settings))
            case "levels":
                found = {n: s for n, s in _texts(block, settings).items() if n in free}
                for name, share in found.items():
                    move = into_texts(group, block, name, settings.texts)
                    if settings.counts_blocks and share < TEXT_OWN:
                        move = replace(move, targets=[*move.targets, (group, block.of({name}))])
                    moves.append(move)
                levels = dict(zip(block.axis.columns, block.axis.levels, strict=True))
                short = (name for name in found if not _are_sentences(levels[name]))
                notes |= {name: OWN if found[name] >= TEXT_OWN else PIECES for name in short}
    of_parts = [group for group in schema.of_columns if group.kind == "part"]
    idle = _idle_parts(schema, tally) if of_parts else set()
    moves += [
        Move(group, parts, [])
        for group in of_parts
        if (parts := [name for name in group.columns if name in idle])
    ]
    schema = replace(schema, notes={**notes, **schema.notes}) if notes else schema
    view = moved(schema, tally, moves) if moves else Grouped(schema, tally)
    texts = {group.columns[0] for group in view.schema.of_columns if group.kind == "text"}
    return _without_idle_texts(view, texts) if texts else view


def make_sure(schema: Schema, tally: Tally, settings: Settings) -> Grouped:
    """Return the tally in which levels that are many different texts are counted as texts."""
    moves = [
        into_texts(group, tally.blocks[group.key], name, settings.texts)
        for group in schema.of_columns
        if not schema.free.isdisjoint(group.columns) and counted_as(group) == "levels"
        for name in _texts(tally.blocks[group.key], settings, many=True).keys() & schema.free
    ]
    return moved(schema, tally, moves) if moves else Grouped(schema, tally)


def regroup(schema: Schema, to: Mapping[Name, Iterable[Group]]) -> Schema:
    """Return the schema with some columns in groups like these; their own columns do not matter."""
    groups: dict[GroupKey, Group] = {}
    for group in schema.groups:
        stay = group.columns
        if group.kind != "word" and not to.keys().isdisjoint(stay):
            stay = tuple(name for name in stay if name not in to)
        if stay or not group.columns:
            groups[group.key] = replace(group, columns=stay)
    place = {name: j for j, name in enumerate(schema.order)}
    more: dict[GroupKey, list[Name]] = {}
    for name, targets in to.items():
        for target in targets:
            like = replace(target, columns=(name,))
            groups.setdefault(like.key, replace(like, columns=()))
            more.setdefault(like.key, []).append(name)
    for key, names in more.items():
        every = sorted([*groups[key].columns, *names], key=lambda name: place.get(name, len(place)))
        whole = every == list(schema.order)
        groups[key] = replace(groups[key], columns=schema.order if whole else tuple(every))
    last = len(place)
    first = {
        key: min(place.get(name, last) for name in group.columns) for key, group in groups.items()
    }
    return replace(
        schema, groups=tuple(groups[key] for key in sorted(groups, key=first.__getitem__))
    )


def counted_as(group: Group) -> CountedAs | None:
    """Return what a group's columns are counted as, if they may be taken for something else."""
    match group:
        case Group(kind="number", event=Bernoulli()):
            return "truths"
        case Group(kind="number", event=Histogram()):
            return "cells"
        case Group(kind="string", event=Categorical()):
            return "levels"
    return None


def _constant(block: BlockTally) -> set[Name]:
    """Return the columns that do not hold both 0 and 1."""
    n, ones = (block.sums[s].total_by_row() for s in (PRESENT, VALUE))
    both = np.asarray((ones.high > 0) & ((n - ones).high > 0))
    return {block.axis.columns[j] for j in np.flatnonzero(~both).tolist()}


def _truths(block: BlockTally[Cells]) -> set[Name]:
    """Return the columns that hold 0 and 1, and nothing else."""
    axis, first, count = block.axis, block.axis.first.tolist(), block[CELL].high
    found: set[Name] = set()
    with_zero = np.searchsorted(axis.first, np.flatnonzero(axis.keys == ZERO), side="right") - 1
    for j in with_zero[axis.shifts[with_zero] == 0].tolist():
        rows = slice(first[j], first[j + 1])
        if axis.keys[rows][(count[rows] > 0).any(axis=1)].tolist() == [ZERO, ONE]:
            found.add(axis.columns[j])
    return found


def _texts(
    block: BlockTally[Levels], settings: Settings, *, many: bool = False
) -> dict[Name, float]:
    """Return the columns whose levels read as texts, and how many there are to a row."""
    # Only those of many, if such are asked for.
    axis = block.axis
    n = block[LEVEL].high.sum(axis=1)
    every = dict(zip(axis.columns, zip(axis.levels, axis.first, strict=False), strict=True))
    texts = {}
    for name, rows in _there(block).items():
        if many and len(rows) <= MANY:
            continue
        levels, first = every[name]
        strings, total = [levels[row] for row in (rows - first).tolist()], float(n[rows].sum())
        if many and not is_many(strings):
            continue
        if reads_as_text(strings, total, blocks=settings.counts_blocks):
            texts[name] = len(strings) / total
    return texts


def _idle_parts(schema: Schema, tally: Tally) -> set[Name]:
    """Return the parts of times that say nothing yet."""
    # Their cycle has not come twice, or only one of their levels has come.
    idle: set[Name] = set()
    for group in schema.of_columns:
        block = tally.blocks.get(group.key)
        if block is None or group.kind not in ("part", "time"):
            continue
        for name, rows in _there(block).items():
            if group.kind == "part":
                idle |= {name} if len(rows) < 2 else set()
            elif isinstance(block.axis, Cells):
                span = np.ptp(block.axis.low[rows]) if len(rows) else 0.0
                idle |= {TimePart(name, part) for part, least in CYCLES.items() if span < least}
    return idle


def _without_idle_texts(view: Grouped, names: Iterable[Name]) -> Grouped:
    """Leave out groups of texts in which nothing was counted, as character n-grams of long ones."""
    schema, tally = view
    idle: set[GroupKey] = set()
    for name in names:
        texts = [
            g.key for g in schema.groups_of[name] if g.kind == "text" and g.key in tally.blocks
        ]
        none = {key for key in texts if not tally.blocks[key][PRESENT].high.any()}
        idle |= none if len(none) < len(texts) else set()
    return view.without(idle)


def _there(block: BlockTally) -> dict[Name, NDArray[np.int64]]:
    """Return, by column, the rows of the levels or cells that came, each of shape (rows,)."""
    axis = block.axis
    if not isinstance(axis, ByValue):
        return {}
    found = np.flatnonzero((block[axis.statistic].high > 0).any(axis=1))
    each = np.split(found, np.searchsorted(found, axis.first[1:-1]))
    return dict(zip(axis.columns, each, strict=False))


def into_cells(group: Group, block: BlockTally, names: set[Name], event: EventModel) -> Move:
    """Count truths as the numbers 0 and 1, by cell."""
    truths = block.of(names)
    columns = tuple(truths.axis.columns)
    n, ones = truths[PRESENT], truths[VALUE]
    zeros = n - ones
    pairs = (zeros.high, ones.high), (zeros.low, ones.low)  # which come in turn, column by column
    both = (np.stack(of, axis=1).reshape(2 * len(columns), -1) for of in pairs)
    keys = (np.array([ZERO, ONE], np.int64),) * len(columns)
    cells = BlockTally(Cells.join(columns, (0,) * len(columns), keys), {CELL: Sums(*both)}).pruned()
    return Move(group, columns, [(Group(event, "number", columns), cells)])


def _into_truths(
    group: Group, block: BlockTally[Cells], names: set[Name], settings: Settings
) -> Move:
    """Count numbers that are all in the cells of 0 and 1 as truths."""
    cells = block.of(names)
    axis = cells.axis
    zeros, ones = cells[CELL][axis.keys == ZERO], cells[CELL][axis.keys == ONE]
    truths = BlockTally(Columns(axis.columns), {PRESENT: zeros + ones, VALUE: ones})
    event = Bernoulli.of_options(settings)
    return Move(group, tuple(axis.columns), [(Group(event, "number", axis.columns), truths)])


def into_texts(
    group: Group, block: BlockTally[Levels], name: Name, analysers: Iterable[Text]
) -> Move:
    """Count levels as texts, each as often as it came."""
    levels = block.of({name})
    rows = column_rows({name: list(levels.axis.levels[0])}, {name: "string"})
    targets = []
    for text in analysers:
        target = text_group(name, text)
        texts = encode_texts(rows, name, text)
        targets.append((target, _count_levels(target, texts, levels[LEVEL])))
    return Move(group, (name,), targets)


def _count_levels(group: Group, block: Block, sums: Sums) -> BlockTally:
    """Count a block with a row for each level, of which these are the sums, (levels, classes)."""
    # First by the high parts of the sums that are not 0, then by the low parts.
    classes, counted = np.arange(sums.shape[1]), []
    for part in (sums.high, sums.low):
        level, c = np.nonzero(part)
        if len(level) or part is sums.high:
            labels = Labels(c.astype(np.int32), classes, part[level, c])
            counted.append(group.event.tally(block.select(level), labels))
    return _sum(counted)


def _sum(blocks: Sequence[BlockTally]) -> BlockTally:
    return reduce(add, blocks)


def moved(schema: Schema, tally: Tally, moves: Sequence[Move]) -> Grouped:
    """Return the schema and the tally after moves."""
    to: dict[Name, list[Group]] = {}
    gone: dict[GroupKey, set[Name]] = {}
    new: dict[GroupKey, list[BlockTally]] = {}
    for move in moves:
        gone.setdefault(move.source.key, set()).update(move.columns)
        for name in move.columns:
            to[name] = [target for target, _ in move.targets]
        for target, block in move.targets:
            new.setdefault(target.key, []).append(block)
    blocks = {}
    for key, block in tally.blocks.items():
        stay = set(block.axis.columns) - gone[key] if key in gone else None
        if stay is None or stay:
            blocks[key] = block if stay is None else block.of(stay)
    for key, counted in new.items():
        blocks[key] = _sum([blocks[key], *counted] if key in blocks else counted)
    return Grouped(regroup(schema, to), replace(tally, blocks=blocks))


# --- Tallies that were made apart are counted alike before they are added up ---------------------
#
# A column that was given no event model may have been counted as truths in one place and in cells
# in another, or as levels and as texts. What can become the other does, exactly.


def alike(mine: Grouped, theirs: Grouped) -> tuple[Grouped, Grouped]:
    """Return both, each with its free columns counted as in the other where they can be."""
    return as_in(theirs, mine), as_in(mine, theirs)


def as_in(other: Grouped, counted: Grouped) -> Grouped:
    """Return what was counted, with its free columns as they are counted in another place."""
    schema, tally = counted
    moves = []
    numbers: dict[Name, Group] = {}
    for group, of in _otherwise(other.schema, schema):
        block = tally.blocks[group.key]
        moves += [into_texts(group, block, name, texts) for name, texts in of.texts.items()]
        moves += [into_cells(group, block, names, event) for event, names in of.cells.items()]
        numbers |= {
            name: group
            for name, reading in of.read.items()
            if _reads_so(block.of({name}), other, name, reading)
        }
    moves += [Move(group, (name,), []) for name, group in numbers.items()]
    now = moved(schema, tally, moves) if moves else counted
    for name, group in numbers.items():
        more, blocks = _into_read(tally.blocks[group.key].of({name}), other.schema, name)
        none = Tally(tally.classes, tally.weight * 0.0, blocks)
        now = Grouped(now.schema.union(replace(more, order=schema.order)), now.tally + none)
    return now


def is_as_in(other: Schema, schema: Schema) -> bool:
    """Whether no free column of a schema is counted otherwise by another."""
    return not any(True for _ in _otherwise(other, schema))


class Otherwise(Frozen, eq=True):
    """Columns of a group that another schema counts otherwise."""

    cells: dict[EventModel, set[Name]]  # truths that are cells there
    texts: dict[Name, list[Text]]  # levels that are texts there
    # Levels that are numbers, times or truths there, and how they are read.
    read: dict[Name, Reading]


def _otherwise(other: Schema, schema: Schema) -> Iterator[tuple[Group, Otherwise]]:
    """Yield the groups with free columns that another schema counts otherwise, and how."""
    if schema is other or not schema.free:
        return
    for group in schema.of_columns:
        counted = counted_as(group)
        if counted not in ("truths", "levels"):
            continue
        found = Otherwise({}, {}, {})
        for name in schema.free.intersection(group.columns).intersection(other.columns):
            theirs = other.groups_of[name]
            if counted == "truths" and counted_as(theirs[0]) == "cells":
                found.cells.setdefault(theirs[0].event, set()).add(name)
            elif counted == "levels" and theirs[0].kind == "text":
                found.texts[name] = [of.analyser for of in theirs if isinstance(of.analyser, Text)]
            elif counted == "levels" and theirs[0].kind in READ_AS:
                found.read[name] = other.readings.get(name, READ_AS[theirs[0].kind])
        if found.cells or found.texts or found.read:
            yield group, found


def _reads_so(levels: BlockTally[Levels], other: Grouped, name: Name, reading: Reading) -> bool:
    """Whether a column is not levels if it has these and what was counted in another place."""
    (found,) = forms_of(levels).values()
    kind = other.schema.columns[name].kind
    forms = reading.forms or Forms.of_values(kind, other.tally.class_count.sum())
    return read(found + forms).kind == kind or reading.content == "clock"


def forms_of(levels: BlockTally[Levels]) -> dict[Name, Forms]:
    """Return the forms of the cells of columns of strings, by their levels."""
    axis, times = levels.axis, levels[LEVEL].high.sum(axis=1)
    each = zip(axis.columns, axis.levels, axis.first, strict=False)
    return {
        name: Forms.of_levels([str(level) for level in of], times[first : first + len(of)])
        for name, of, first in each
    }


def _into_read(
    levels: BlockTally[Levels], other: Schema, name: Name
) -> tuple[Schema, dict[GroupKey, BlockTally]]:
    """Count levels of a column as what they are in another schema, each as often as it came."""
    with_parts = {name, *(TimePart(name, part) for part in CYCLES)}
    groups = tuple(
        replace(group, columns=own)
        for group in other.of_columns
        if (own := tuple(of for of in group.columns if of in with_parts))
    )
    kind = other.columns[name].kind
    reading = other.readings.get(name, READ_AS[kind])
    rows = read_levels(name, levels.axis.levels[0], reading)
    if name in rows.words and not any(group.kind == "word" for group in groups):
        groups += (Group(WORDS, "word", (name,)),)
    reading = readings_with_words(rows).get(name, reading)
    readings = {name: replace(reading, forms=forms_of(levels)[name])}
    schema = Schema(groups, (name,), {}, frozenset((name,)), readings)
    counted = levels[LEVEL]
    blocks = {of.key: _count_levels(of, of.encode(rows, None), counted) for of in groups}
    return schema, blocks


@final
class CountedTotal:
    """A sum of what was counted, to which more is added in a time that follows from its own size.

    What it begins with stays as it is, unless it is to be consumed (see ``Total``).
    """

    def __init__(self, first: Grouped, *, consume: bool = False) -> None:
        self._schema, self._total = first.schema, Total(first.tally, consume=consume)

    def add(self, counted: Grouped) -> None:
        """Add what was counted in another place, or raise a ValueError that says why not."""
        if not is_as_in(counted.schema, self._schema):
            self._schema, tally = as_in(counted, self.counted())
            self._total = Total(tally)
        schema, tally = counted
        if not is_as_in(self._schema, schema):
            schema, tally = as_in(self.counted(), counted)
        readings = self._schema.readings_with(schema)
        self._schema = replace(self._schema.union(schema), readings=readings)
        self._total.add(tally)

    def counted(self) -> Grouped:
        """Return the sum of what was added until now."""
        return Grouped(self._schema, self._total.tally())


# --- Missing cells as evidence: whether each cell of a column is there ---------------------------
#
# How many rows of a class have no value in a column is counted already: it is the rows of the
# class less the cells that are present. So nothing is counted again, and the counts merge, forget
# and fade with those of the columns.


MOST = 1_000  # columns that have such evidence; of more, those with most missing cells
EVENT = Categorical(m=2.0)  # shrunk towards the share of all classes, as few cells may be missing
WORDS = EVENT  # of what stands in their place
ROUNDING = 1e-20  # of the rows: sums of fractional weights are right to about 1e-30 of them


def without_words(counted: Grouped) -> Grouped:
    """Return the schema and the tally without the words in place of values."""
    return counted.without({group.key for group in counted.schema.groups if group.kind == "word"})


def with_missing(counted: Grouped) -> Grouped:
    """Return the schema and the tally with a derived column for each that has missing cells."""
    # If several words stand in place of its values, or one and nothing, another says which. A
    # column that follows from others has none, nor have the columns of a bag of counts or of whole
    # rows, which are one event together.
    words = [counted.tally.blocks[g.key] for g in counted.schema.groups if g.kind == "word"]
    schema, tally = counted = without_words(counted) if words else counted
    missing: dict[Name, tuple[Sums, Sums]] = {}
    for group in schema.of_columns:
        block = tally.blocks[group.key]
        present = present_in(group, block)
        if present is None:
            continue
        there, number = present
        rows = tally.weight.high, tally.weight.low
        if (there.high == rows[0]).all() and (there.low == rows[1]).all():
            continue  # the cheap question first: in most tables no cell is missing
        lacking = Sums(*(np.broadcast_to(of, there.shape) for of in rows))
        lacking -= there
        least = ROUNDING * tally.class_count
        some = np.any(lacking.high > least, axis=1) & np.any(there.high > 0, axis=1)
        for j in np.flatnonzero(some[number]).tolist():
            row = number[j]
            missing.setdefault(block.axis.columns[j], (there[row], lacking[row]))
    if not missing:
        return counted
    if len(missing) > MOST:
        most = set(sorted(missing, key=lambda name: -missing[name][1].high.sum())[:MOST])
        missing = {name: of for name, of in missing.items() if name in most}
    columns = tuple(map(Missing, missing))
    lacking_in = {name: lacking for name, (_, lacking) in missing.items()}
    more = [
        (Group(EVENT, "missing", columns), [row for both in missing.values() for row in both]),
        *(_in_place(schema, block, lacking_in) for block in words),
    ]
    groups, blocks = list(schema.groups), dict(tally.blocks)
    for group, table in more:
        if table:
            sums = Sums(np.stack([row.high for row in table]), np.stack([row.low for row in table]))
            groups.append(group)
            blocks[group.key] = BlockTally(Levels.of_all(group.derived), {LEVEL: sums})
    return Grouped(replace(schema, groups=tuple(groups)), replace(tally, blocks=blocks))


def _in_place(
    schema: Schema, words: BlockTally[Levels], lacking: Mapping[Name, Sums]
) -> tuple[Group, list[Sums]]:
    """Return what stands in place of values, where that differs, and how often it does."""
    # ``lacking`` is how many cells are missing, (classes,), of each column that has some.
    columns: list[MissingAs] = []
    table: list[Sums] = []
    for name, rows in _there(words).items():
        reading = schema.readings.get(name)
        if name not in lacking or reading is None or reading.words is None:
            continue
        place = words.axis.columns.index(name)
        levels, first = words.axis.levels[place], int(words.axis.first[place])
        counts = {str(levels[row - first]): words[LEVEL][row] for row in rows.tolist()}
        empty = lacking[name]
        for count in counts.values():
            empty = empty - count
        if np.any(empty.high > ROUNDING * np.maximum(lacking[name].high, 1.0)):
            counts[EMPTY] = empty
        if len(counts) > 1:
            columns.append(MissingAs(name, tuple(sorted(counts))))
            table += [counts[word] for word in sorted(counts)]
    return Group(EVENT, "missing as", tuple(columns)), table

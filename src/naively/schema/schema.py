"""Which columns go to which event model, and what follows from columns: parts, prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, islice, pairwise
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    VALUE,
    Analyser,
    Axis,
    Columns,
    Derived,
    DerivedLevels,
    Encoded,
    Level,
    Levels,
    Name,
    Words,
    title,
)
from naively.counting.block import Batch, Block, Codes, Dense, Documents, Sparse
from naively.counting.labels import OF_EQUAL_ROWS, Labels, hash_cell, is_missing
from naively.counting.leave_one_out import Part, Parts
from naively.counting.tally import BlockTally
from naively.data.columns import (
    LEVELS,
    NAMES,
    READ_AS,
    TIME,
    ColumnRows,
    Cycle,
    Kind,
    Reading,
    Rows,
    SparseRows,
    column_rows,
    part_codes,
    part_of,
)
from naively.data.reading import (
    joined_readings,
    look_at,
    odd_words,
    say_bare,
    say_contrary,
    with_readings,
)
from naively.events.base import EventModel
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import SALT, Hashes, hash_numbers
from naively.kernels.strings import Row, Strings
from naively.messages import Shown, warn
from naively.schema.encode import (
    CellArray,
    Held,
    OfTable,
    decode,
    encode_sparse,
    encode_texts,
    encode_words,
    find_levels,
    look_up_levels,
    split_rows,
    whole_rows,
    with_declared,
)

# --- The schema: which columns go to which event model, and how they are encoded -----------------
#
# The only place where data and event models meet. A group is all columns of one event model; it
# becomes one block.


BANDS = 16  # that a text has, about
SHOWN = 30  # as many columns have a line each when a schema is printed; else each group has
EVIDENCE = "; missing cells are evidence"
WIDEST = 40  # of the names, in characters
LAST_BITS = np.uint64(0xFFFF)  # of a fingerprint
LAST_OF_GROUPS = np.uint64(0xFFFFFFFF)  # as many, where rows are of groups
EMPTY = ""  # among the words in place of values: there is none
# What a column may come as, beside what it was learned as.
ALSO: dict[Kind, tuple[Kind, ...]] = {"text": ("string",), "string": ("text",)}


class Schema(Shown, Frozen, eq=True):
    """Groups of columns; every column of the table is in one, unless it was missing throughout.

    A text may be in several, each with an analyser of its own. A column of a group may follow from
    columns of the table: a part of a time, or whether its cells are missing (see
    ``schema.derived``). Columns that are free were given no event model: it follows from what is
    counted of them (see ``schema.settle``). Printed, a schema says one line a column: its event
    model, and why; or one line a group if there are many.
    """

    groups: tuple[Group, ...]
    order: range | tuple[Name, ...]  # the columns of the table, as they came
    notes: Mapping[Name, str] = field(default_factory=dict)  # what else is to be said of a column
    free: frozenset[Name] = frozenset()
    readings: Mapping[Name, Reading] = field(default_factory=dict)  # of columns that were strings

    @cached_property
    def columns(self) -> dict[Name, Group]:
        """The group of each column: those of the table in its order, then parts of times.

        A text that is counted by several groups is named once, by the first. The columns that say
        which cells are missing, and as what, are left out.
        """
        of = {
            name: groups[0]
            for name, groups in self.groups_of.items()
            if groups[0].kind not in BESIDE
        }
        return {name: of[name] for name in self.order if name in of} | of

    @cached_property
    def groups_of(self) -> dict[Name, list[Group]]:
        """All groups of each column, but for that of the words in place of its values."""
        of: dict[Name, list[Group]] = {}
        for group in self.groups:
            for name in group.columns if group.kind != "word" else ():
                of.setdefault(name, []).append(group)
        return of

    def is_part_of(self, other: Schema) -> bool:
        """Whether each of these columns is in the same groups there."""
        if [(g.key, g.columns) for g in self.groups] == [(g.key, g.columns) for g in other.groups]:
            return True
        theirs = other.groups_of
        return all(
            {group.key for group in groups} == {group.key for group in theirs.get(name, ())}
            for name, groups in self.groups_of.items()
        )

    @cached_property
    def of_columns(self) -> tuple[Group, ...]:
        """The groups of columns, without what is said beside them: of missing cells."""
        return tuple(group for group in self.groups if group.kind not in BESIDE)

    @cached_property
    def settles(self) -> bool:
        """Whether what some columns are taken for follows from what is counted of them."""
        return bool(self.free) or any(g.kind in ("text", "part", "word") for g in self.groups)

    @property
    def written(self) -> list[Group]:
        """The groups that the table's cells are written from: of a text in several, its words."""
        of = {
            name: next((g for g in groups if g.analyser and g.analyser.single_words), groups[0])
            for name, groups in self.groups_of.items()
            if not isinstance(name, Derived)
        }
        return list(dict.fromkeys(of.values()))

    @cached_property
    def of_character_ngrams(self) -> frozenset[GroupKey]:
        """The groups of character n-grams, of texts whose words are counted too."""
        found = set()
        for groups in self.groups_of.values():
            ngrams = {g.key for g in groups if g.analyser and not g.analyser.legible}
            found |= ngrams if len(ngrams) < len(groups) else set()
        return frozenset(found)

    @cached_property
    def derived(self) -> tuple[DerivedLevels, ...]:
        """The columns that follow from others: parts of times, and which cells are missing."""
        return tuple(name for group in self.groups for name in group.derived)

    @cached_property
    def names(self) -> list[str]:
        """The columns of the table that have names, rather than places in an array."""
        if isinstance(self.order, range):
            return []
        return [name for name in self.order if isinstance(name, str)]

    def by_place(self, rows: Rows) -> bool:
        """Whether a table's columns are known by their places: it has no names, or none here do."""
        if isinstance(rows.names, range) or not self.names:
            return True
        return len(rows.names) > 0 and not any(isinstance(name, str) for name in rows.names)

    @property
    def n_parts(self) -> int:
        """About how many weights each class has, one for each part of the evidence."""
        return sum(
            BANDS if g.analyser and g.analyser.binary else 1 if g.event.joined else len(g.columns)
            for g in self.groups
        )

    @property
    def width(self) -> int:
        """The number of columns of the table."""
        return len(self.order)

    @cached_property
    def kinds(self) -> Mapping[Name, Kind]:
        """What the columns of the table hold, where they held anything."""
        return {name: self.columns[name].kind for name in self.order if name in self.columns}

    @property
    def event_models(self) -> Any:
        """The event models that, given for other rows, make this schema again."""
        with_parts = {
            of for group in self.of_columns for name in group.derived for of in name.roots
        }
        named = {
            name: self._chosen(name)
            for name in self.names
            if name in self.columns and name not in with_parts and self._chosen(name)
        }
        alone = len(self.of_columns) == 1 and not self.names
        return named or (self.groups[0].event if alone else "auto")

    def _chosen(self, name: Name) -> Any:
        """Return what makes the groups of a column; nothing of a text with levels beside it."""
        chosen = [group.analyser or group.event for group in self.groups_of[name]]
        alike = len({group.kind for group in self.groups_of[name]}) == 1
        return chosen[0] if len(chosen) == 1 else chosen if alike else None

    @cached_property
    def times(self) -> frozenset[Name]:
        """The columns that are times."""
        timed = (group.columns for group in self.groups if group.kind == "time")
        return frozenset(name for columns in timed for name in columns)

    def encode(
        self, rows: Rows, labels: Labels, axes: Mapping[GroupKey, Axis] | None = None
    ) -> Batch:
        """Encode rows into one block a group, by known axes, or finding them."""
        return self.encode_own(self.match(rows), labels, axes)

    def encode_own(
        self, rows: Rows, labels: Labels, axes: Mapping[GroupKey, Axis] | None = None
    ) -> Batch:
        """Encode rows that match this schema, as those do that it was inferred from."""
        known = axes or {}
        blocks = {
            g.key: g.encode(
                rows, known.get(g.key), free=bool(g.columns) and g.columns[0] in self.free
            )
            for g in self.groups
        }
        batch = Batch(blocks, labels, labels.frequency)
        if labels.group is None or labels.group.all():
            return batch
        equal = mixed(contents(batch, by_name=True) + SALT)
        group = np.where(labels.group == OF_EQUAL_ROWS, equal, labels.group)
        return replace(batch, labels=replace(labels, group=group))

    def recode(self, batch: Batch, axes: Mapping[GroupKey, Axis]) -> Batch:
        """Encode rows by known axes, as any schema has encoded them; absent columns are missing."""
        # Texts stay as they are where they are not split yet: those of one source are read once.
        known = [(batch.blocks.get(g.key), axes[g.key]) for g in self.groups]
        if all(_is_on(block, axis) for block, axis in known):
            return batch
        held, blocks = Held(batch, self.readings), dict[GroupKey, Block]()
        for group in self.groups:
            match axes[group.key]:
                case Words() as axis:
                    blocks[group.key] = held.texts(group.key, axis)
                case Levels() as axis if group.kind == "word":
                    blocks[group.key] = held.coded_words(axis)
                case Levels() as axis:
                    blocks[group.key] = held.codes(axis)
                case axis:  # numbers, in the order in which they were counted
                    blocks[group.key] = held.matrix(axis.columns)
        return replace(batch, blocks=blocks)

    def decode(self, blocks: Mapping[GroupKey, Block]) -> Rows:
        """Return the rows that these blocks encode."""
        columns: dict[Name, CellArray] = {}
        kinds: dict[Name, Kind] = {}
        for group in self.written:
            block = blocks[group.key]
            if group.event.layout == "rows":
                columns |= split_rows(block, group.columns)
            else:
                columns |= decode(block, group.kind)
                kinds |= dict.fromkeys(group.columns, group.kind)
        nothing = [None] * len(next(iter(blocks.values()), ()))
        return column_rows({name: columns.get(name, nothing) for name in self.order}, kinds)

    def match(self, rows: Rows) -> Rows:
        """Return the rows with exactly these columns, read as in training, or say which differ."""
        if self.by_place(rows):
            rows = self._read(rows if rows.names == self.order else self.named(rows))
            for group in self.groups:
                _check_kinds(rows, group, group.columns)
            return rows
        rows = self._read(rows)
        if len(self.groups) == 1 and rows.names == self.groups[0].columns:
            _check_kinds(rows, self.groups[0], rows.names)
            return rows
        same = rows.names == self.order
        lacking = [] if same else [name for name in self.order if name not in rows.place]
        extra = [] if same else [name for name in rows.names if name not in self._known]
        if lacking and len(lacking) == self.width:
            raise ValueError(
                "The table has none of the learned columns: it has "
                f"{list_names(rows.names)}, but {list_names(self.order)} were learned."
            )
        if lacking:
            warn(f"No column {list_names(lacking)}: counted as missing.")
        if extra:
            warn(f"Column {list_names(extra)} was not learned: ignored.")
        for group in self.groups:
            there = [name for name in group.columns if same or name in rows.place]
            _check_kinds(rows, group, there)
        return rows.padded(self.order) if lacking else rows

    def named(self, rows: Rows) -> Rows:
        """Return the rows with the names of these columns, where columns go by their places."""
        if not self.by_place(rows):
            return rows
        if rows.names == self.order or (
            len(rows.names) == self.width and set(rows.names) == self._known
        ):
            return rows
        if len(rows.names) != self.width:
            raise ValueError(
                f"X has {len(rows.names)} features, but NaiveBayes is expecting {self.width} "
                "features as input."
            )
        return rows.renamed(tuple(self.order))

    @cached_property
    def known_readings(self) -> dict[Name, Reading]:
        """How columns of strings are read when more rows are learned; levels stay as written."""
        written = (name for name, kind in self.kinds.items() if kind in ("string", "text"))
        return {**dict.fromkeys(written, LEVELS), **self.readings}

    def _read(self, rows: Rows) -> Rows:
        """Return rows in which strings, and 0 and 1 for truths, are read as in training."""
        maybe = [name for group in self.groups if group.kind == "boolean" for name in group.columns]
        if maybe:
            rows = _with_truths(rows, maybe)
        if timed := {name: of for name, of in self.readings.items() if of.scaled == "days"}:
            say_bare(rows, timed)
        if rows.one_kind is not None:
            return rows
        spelled = {name for name in rows.names if isinstance(rows.cells(name), Strings)}
        readings = {name: of for name, of in self.readings.items() if name in spelled}
        # Columns that were no strings in training, and are now.
        for group in self.groups if spelled - readings.keys() else ():
            others = (n for n in group.columns if n in spelled and n not in readings)
            readings |= dict.fromkeys(others, READ_AS[group.kind]) if group.kind in READ_AS else {}
        if not readings:
            return rows
        found = {}
        for name, of in readings.items():
            cells = rows.cells(name)
            if isinstance(cells, Strings) and not of.is_levels:
                found[name] = look_at(cells, of.missing)
                say_contrary(name, found[name], of, of.forms)
        read = with_readings(rows, readings, found)
        for name in readings.keys() - self.readings.keys():
            words = read.words.get(name)
            count = 0 if words is None else odd_words(words, readings[name])[0]
            if count and count == odd_words(cast("Strings", rows.cells(name)), LEVELS)[0]:
                raise other_kind(name, self.columns[name].kind, "string")
        self.say_odd(read, readings)
        return read

    def say_odd(self, rows: Rows, readings: Mapping[Name, Reading]) -> None:
        """Warn of words in columns of numbers or times that were not there in training."""
        for name in readings.keys() & rows.words.keys() & self.columns.keys():
            count, row = odd_words(rows.words[name], readings[name])
            if not count:
                continue
            held, word = self.columns[name].kind, str(rows.words[name][row])[:SHOWN]
            more = f", and so do {count - 1:,} more cells" if count > 1 else ""
            warn(
                f"Column {title(name)!r} held {held}s in training: {word!r} in row {row} counts "
                f"as missing{more}."
            )

    @cached_property
    def _known(self) -> frozenset[Name]:
        return frozenset(self.order)

    def union(self, other: Schema) -> Schema:
        """Return the schema with the columns of both; a column must have one event model."""
        if other is self:
            return self
        if self.order and other.order and bool(self.names) != bool(other.names):
            raise ValueError(
                "The columns have names in one model and only places in the other; "
                "they cannot be merged."
            )
        if self.order and other.order and not self.names and self.width != other.width:
            raise ValueError(
                f"The columns have no names; there are {self.width} in one model and {other.width} "
                "in the other, so they cannot be merged."
            )
        self._check_words(other)
        mine = {group.key: group for group in self.groups}
        for group in other.groups:
            own = mine.get(group.key)
            if own is None or own.columns != group.columns:
                if group.kind != "word":
                    self._check_same(group, other)
                both = Columns((own or group).columns).union(Columns(group.columns))[0]
                mine[group.key] = replace(group, columns=both.columns)
        order = Columns(self.order).union(Columns(other.order))[0].columns
        notes = {**other.notes, **self.notes}
        readings = {**self.readings, **other.readings}
        return Schema(tuple(mine.values()), order, notes, self._free_in_both(other), readings)

    def readings_with(self, other: Schema) -> dict[Name, Reading]:
        """Return how columns are read of which two models were counted, or say why they cannot be.

        Numbers that came as such have no unit.
        """
        for one, beside in ((self, other), (other, self)):
            for name in one.readings.keys() & beside.kinds.keys() - beside.readings.keys():
                unit = one.readings[name].unit
                if unit and beside.kinds[name] == "number":
                    raise ValueError(
                        f"Column {title(name)!r} is in {unit} in one model and numbers without a "
                        "unit in the other; they cannot be merged: write its numbers in one unit."
                    )
        return joined_readings(self.readings, other.readings)

    def without(self, other: Schema) -> Schema:
        """Return the schema with the columns of both, after the other's rows are forgotten."""
        readings = {**other.readings, **self.readings}
        for name in self.readings.keys() & other.readings.keys():
            mine, theirs = readings[name].forms, other.readings[name].forms
            left = None if mine is None or theirs is None else mine - theirs
            readings[name] = replace(readings[name], forms=left)
        return replace(self.union(other), readings=readings)

    def _free_in_both(self, other: Schema) -> frozenset[Name]:
        if self.free == other.free:
            return self.free
        given = (own.columns.keys() - own.free for own in (self, other))
        return (self.free | other.free).difference(*given)

    def _check_words(self, other: Schema) -> None:
        """Check that words of texts, and n-grams of them, are counted in the same blocks."""
        of_texts = [{n for g in of.groups if g.analyser for n in g.columns} for of in (self, other)]
        for name in of_texts[0] & of_texts[1]:
            mine, theirs = (
                [str(g.key) for g in of.groups_of[name] if g.analyser and g.analyser.legible]
                for of in (self, other)
            )
            if set(mine) & set(theirs) and set(mine) != set(theirs):
                raise ValueError(
                    f"Column {title(name)!r} is {' and '.join(mine)} in one model and "
                    f"{' and '.join(theirs)} in the other; they cannot be merged."
                )

    def _check_same(self, group: Group, other: Schema) -> None:
        """Check that a column is counted alike; of a text, one may count more blocks."""
        for name in group.columns:
            keys = [own.key for own in self.groups_of.get(name, ())]
            theirs = {their.key for their in other.groups_of[name]}
            if keys and theirs.isdisjoint(keys):
                mine, its = " and ".join(map(str, keys)), str(group.key)
                if mine == its:  # alike but for what is by default, and is not printed
                    mine, its = " and ".join(map(repr, keys)), repr(group.key)
                raise ValueError(
                    f"Column {title(name)!r} is {mine} in one model and {its} in the other; they "
                    "cannot be merged: give both the same event model, by event_models=."
                )

    def said_of(self, name: Name) -> str:
        """Return what is said of a column: its kind, how its strings are read, and notes."""
        if name not in self.columns:
            return self.notes.get(name, "missing throughout")
        note, reading = self.notes.get(name), self.readings.get(name)
        is_clock = reading is not None and reading.content == "clock"
        kind = "times of day" if is_clock else f"{self.columns[name].kind}s"
        said = ", ".join(filter(None, [note or kind, reading.note if reading else ""]))
        if name not in self._missing:
            return said
        words = self._missing[name]
        return f"{said}{EVIDENCE}, each: {_listed(words)}" if words else f"{said}{EVIDENCE}"

    @cached_property
    def _missing(self) -> dict[Name, tuple[str, ...]]:
        """The columns whose missing cells are evidence, and the words in place of their values."""
        found: dict[Name, tuple[str, ...]] = {}
        for name in self.derived:
            if isinstance(name, Missing):
                found.setdefault(name.of, ())
            elif isinstance(name, MissingAs):
                found[name.of] = name.words
        return found

    def __str__(self) -> str:
        if len(self.columns) > SHOWN:
            lines = [
                (event_name(group), f"{list_names(group.columns)} ({group.kind}s)")
                for group in self.groups
                if group.kind not in ("missing", "missing as", "word")
            ]
            some = [("missing cells are evidence", list_names(self._missing))]
            lines += some if self._missing else []
            noted = [(title(name), note) for name, note in self.notes.items()]
            read: dict[str, list[Name]] = {}
            for name in self.columns:
                reading = self.readings.get(name)
                if reading is not None and reading.note:
                    read.setdefault(reading.note, []).append(name)
            noted += [(list_names(names), note) for note, names in read.items()]
            return "\n".join(f"{name}: {what}" for name, what in lines + noted)
        table = [
            (title(name), event_names(self.groups_of[name]), self.said_of(name))
            for name in self.columns
        ]
        table += [
            (title(name), "not learned", self.said_of(name))
            for name in self.order
            if name not in self.columns
        ]
        wide = [min(max((len(row[i]) for row in table), default=0), WIDEST) for i in range(2)]
        return "\n".join(f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c}" for a, b, c in table)


def _with_truths(rows: Rows, columns: Iterable[Name]) -> Rows:
    """Return rows in which those columns are truths that hold only 0 and 1 now."""
    truths = {}
    for name in columns:
        if name in rows.place and rows.kind(name) == "number":
            cells = rows.numbers([name])[:, 0]
            if np.isin(cells[~np.isnan(cells)], (0, 1)).all():
                truths[name] = cells
    if not truths:
        return rows
    cells_of = {name: truths.get(name, rows.cells(name)) for name in rows.names}
    kinds: dict[Name, Kind | None] = {
        name: "boolean" if name in truths else rows.kind(name) for name in rows.names
    }
    return ColumnRows(cells_of, kinds, len(rows), rows.readings, rows.words)


def _is_on(block: Block | None, axis: Axis) -> bool:
    """Whether numbers have these columns, in their order, or codes are of these levels."""
    match block:
        case Dense() | Sparse(axis=Columns()):
            return block.axis.columns == axis.columns
        case Codes():
            return block.axis is axis
    return False


def _listed(words: Sequence[str], most: int = 4) -> str:
    """List words in place of values, so many at most."""
    shown = ["empty" if word == EMPTY else repr(word) for word in words[:most]]
    last = f"{len(words) - most} more" if len(words) > most else shown.pop()
    return f"{', '.join(shown)} and {last}"


def list_names(names: Iterable[Name], most: int = 10) -> str:
    """List names for a message, so many at most."""
    every = list(names)
    shown = ", ".join(repr(title(name)) for name in islice(every, most))
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


def other_kind(name: Name, held: Kind, now: Kind | None) -> ValueError:
    """Return the error for a column that held cells of another kind in training."""
    return ValueError(
        f"Column {title(name)!r} held {held}s in training and holds {now}s now; convert it, or "
        "train again."
    )


def _check_kinds(rows: Rows, group: Group, names: Iterable[Name]) -> None:
    """Raise a ValueError if a column holds another kind of values than in training."""
    if group.event.layout == "rows" or group.kind in (*DERIVED, "word"):
        return  # of any kinds, or following from columns that are checked
    allowed = (group.kind, None, *ALSO.get(group.kind, ()))
    if rows.one_kind in allowed and rows.one_kind is not None:
        return
    for name in names:
        kind = rows.kind(name)
        if kind not in allowed:
            raise other_kind(name, group.kind, kind)


# --- Columns that follow from others -------------------------------------------------------------
#
# They are the parts of times, whether a cell is missing, and as which word.


@final
class TimePart(DerivedLevels):
    """The hour, weekday or month of a column of times."""

    part: Cycle

    def __str__(self) -> str:
        return f"{title(self.of)} ({self.part})"

    @property
    def levels(self) -> tuple[str, ...]:
        return NAMES[self.part]

    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        return part_codes(columns.number(self.of), self.part)

    def cells(self, cells: Callable[[Name], Sequence[object]]) -> list[object]:
        return cast("list[object]", part_of(np.asarray(cells(self.of), TIME), self.part).tolist())


@final
class Missing(DerivedLevels):
    """Whether a cell of a column is missing: 0 where there is a value, 1 where there is none."""

    beside = True

    def __str__(self) -> str:
        return f"{title(self.of)} is missing"

    @property
    def levels(self) -> tuple[bool, ...]:
        return (False, True)

    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        return columns.missing(self.of).astype(np.int64)

    def cells(self, cells: Callable[[Name], Sequence[object]]) -> list[object]:
        return [is_missing(cell) for cell in cells(self.of)]


@final
class MissingAs(DerivedLevels):
    """What stands in place of a value: one of these words, or nothing, which is the empty word.

    A cell that has a value has no level.
    """

    words: tuple[str, ...]
    beside = True

    def __str__(self) -> str:
        return f"{title(self.of)} is missing as"

    @property
    def levels(self) -> tuple[str, ...]:
        return self.words

    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        codes = columns.words(self.of, self.words)
        if self.words[0] == EMPTY:
            codes = np.where((codes < 0) & columns.missing(self.of), 0, codes)
        return codes

    def cells(self, cells: Callable[[Name], Sequence[object]]) -> list[object]:
        return [None] * len(cells(self.of))


# --- Groups: the columns of one event model, which become one block ------------------------------


USUAL_KIND: dict[str, Kind] = {  # of others it is "number"
    "bernoulli": "boolean",
    "categorical": "string",
    "joint": "string",
}

BESIDE: tuple[Kind, ...] = ("missing", "missing as")  # say something beside what columns say
DERIVED: tuple[Kind, ...] = ("part", *BESIDE)  # from other columns


class GroupKey(Frozen, eq=True):
    """What identifies a group and its block: settings, which are compared by their values.

    Groups that were made apart count the same exactly if their keys are equal, whatever is printed.
    """

    event: EventModel  # with all its settings
    kind: Kind  # what kind of values the columns held in training
    column: Name | None = None  # the column of a text, which is a group of its own
    analyser: Analyser | None = None  # how the text was split

    @cached_property
    def _hash(self) -> int:
        return hash((self.event, self.kind, self.column, self.analyser))

    def __hash__(self) -> int:
        return self._hash  # of all settings, which are hashed once

    def __str__(self) -> str:
        usual = self.kind in ("text", USUAL_KIND.get(self.event.name, "number"))
        name = str(self.event) if usual else f"{self.event} of {self.kind}s"
        if self.analyser is None or self.column is None:
            return name
        name = f"{name} {title(self.column)}"
        return name if self.analyser.is_plain else f"{name} {self.analyser}"


class Group(Frozen, eq=True):
    """The columns of one event model, and what kind of values they held in training."""

    event: EventModel
    kind: Kind
    columns: range | tuple[Name, ...]
    analyser: Analyser | None = None  # of a text

    @cached_property
    def key(self) -> GroupKey:
        """What the group is known by in tallies, weights and model files."""
        own = None if self.analyser is None else self.columns[0]
        return GroupKey(self.event, self.kind, own, self.analyser)

    @property
    def is_by_column(self) -> bool:
        """Whether each column is an event of its own: a number, or a level."""
        joined = self.event.joined or self.event.layout == "rows"
        return not joined and self.analyser is None

    @cached_property
    def derived(self) -> tuple[DerivedLevels, ...]:
        """The columns that follow from others; all of a group do, or none."""
        if self.kind not in DERIVED:
            return ()
        return tuple(name for name in self.columns if isinstance(name, DerivedLevels))

    def parts_of(self, tally: BlockTally) -> Parts:
        """Return the parts of the evidence of these columns, of which so much was counted."""
        axis = tally.axis
        if isinstance(axis, Words):
            if not self.event.by_word:
                return Parts.whole(self.key, len(axis))
            frequency = tally.sums[VALUE].by_row()
            return Parts.words(self.key, axis.columns[0], frequency, by_band=axis.by_band)
        if self.event.joined:
            return Parts.whole(self.key, len(axis.columns))
        return Parts([Part(self.key, name) for name in axis.columns], np.arange(len(axis.columns)))

    def derive(self, columns: Encoded, axis: Axis | None) -> Codes:
        """Encode derived columns by the columns of the table, on a known axis or by all levels."""
        if not isinstance(axis, Levels):
            axis = Levels.of_all(self.derived)
        found = [*map(columns.codes_of, axis.columns, axis.levels)]
        codes = np.empty((len(found[0]), len(found)), np.int32)
        for j, of in enumerate(found):
            codes[:, j] = of
        return Codes(codes, axis)

    def encode(self, rows: Rows, axis: Axis | None, *, free: bool = False) -> Block:
        """Encode these columns, by a known axis or by finding one; lacking columns are missing."""
        # Those that are free are the same, and weighed as much, in a sparse matrix and a dense one.
        if self.kind in DERIVED:
            return self.derive(OfTable(rows), axis)
        if self.kind == "word":
            return encode_words(rows, self.columns, axis if isinstance(axis, Levels) else None)
        columns = self.columns if axis is None else axis.columns
        if self.analyser is not None:
            words = axis if isinstance(axis, Words) else None
            return encode_texts(rows, columns[0], self.analyser, words)
        if self.event.layout == "numbers":
            if self.event.sparse and not free and isinstance(rows, SparseRows):
                return encode_sparse(rows, columns)
            return Dense(rows.numbers(columns), Columns(columns), rows.complete)
        if self.event.layout == "rows":
            rows = whole_rows(rows, self.columns)
            columns = rows.names
        if isinstance(axis, Levels):
            return look_up_levels(rows, axis)
        found = find_levels(rows, columns)
        return with_declared(found, self.event.declared) if self.event.declared else found


def event_names(groups: Sequence[Group]) -> str:
    """Return the event model of a column; of a text in several groups, without the analysers."""
    of = [groups[0]] if len(groups) == 1 else [replace(group, analyser=None) for group in groups]
    return " + ".join(dict.fromkeys(map(event_name, of)))


def event_name(group: Group) -> str:
    """Return the event model's name, with the options that are not the usual ones."""
    event: Any = group.event
    shown = (field for field in fields(event) if field.repr and field.name != "columns")
    options = [(field.name, getattr(event, field.name), field.default) for field in shown]
    other = [f"{name}={value!r}" for name, value, usual in options if value not in (usual, "auto")]
    name = f"{event.name}({', '.join(other)})" if other else str(event.name)
    plain = group.analyser is None or group.analyser.is_plain
    return name if plain else f"{name} {group.analyser}"


# --- A number for each row that follows from its cells alone: equal rows have equal ones ---------
#
# It is a sum over the columns, so that their order does not matter, nor how the row is encoded: a
# number adds the same as truth, number or level, and a string as level or text. A missing cell
# adds nothing, so that a column that is missing throughout is as if it were not there. A word in
# place of a value changes the last bits only: rows have the order that they have where the cell is
# empty, but those with different words are not equal.


def fingerprints(batch: Batch, seed: np.uint64) -> Hashes:
    """Return a number for each row, by its cells and its label, of shape (rows,)."""
    classes = np.array([*map(hash_cell, batch.labels.classes.tolist())], np.uint64)
    found = mixed(contents(batch, by_name=True) + classes[batch.labels.codes] + seed)
    words, last = np.zeros(len(batch), np.uint64), LAST_BITS
    if batch.labels.group is not None:  # equal rows of two groups are two rows
        words, last = mixed(batch.labels.group + SALT), LAST_OF_GROUPS
    for key, block in batch.blocks.items():
        if key.kind == "word" and isinstance(block, Codes):
            words += sum(level_hashes(block, _factors(tuple(block.axis.columns))), np.uint64(0))
    return np.where(words == 0, found, found & ~last | mixed(words) & last)


def contents(batch: Batch, *, by_name: bool = False) -> Hashes:
    """Return a number for each row by its cells alone, of shape (rows,)."""
    # It is the sum of their hashes, ``by_name`` times factors of their columns' names. Without, it
    # is the same whatever the columns and classes are called, and whichever column a cell is in.
    total = np.zeros(len(batch), np.uint64)
    done: set[Name] = set()
    for key, block in batch.blocks.items():
        # What is derived follows from other columns.
        columns = tuple(name for name in block.axis.columns if name not in done)
        if key.kind in (*DERIVED, "word") or not columns:
            continue
        done.update(columns)
        factors = _factors(columns) if by_name else np.ones(len(columns), np.uint64)
        match block:
            case Dense():
                total += dispatch.hash_rows(block.values, factors)
            case Sparse(axis=Columns()):
                _add_stored(total, block, factors)
            case Codes():
                for hashes in level_hashes(block, factors):
                    total += hashes
            case Documents() if not (by_name and batch.texts is not None):
                total += _of_texts(block.texts) * factors
    return total + batch.texts if by_name and batch.texts is not None else total


def with_texts(batch: Batch) -> Batch:
    """Return rows that keep what their texts add to ``contents`` by name where these are split."""
    # Where a text is counted in another way too, that knows its cells.
    texts = {key: of for key, of in batch.blocks.items() if isinstance(of, Documents)}
    if not texts or batch.texts is not None:
        return batch
    others = (of.axis.columns for key, of in batch.blocks.items() if key not in texts)
    if not {*chain(*others)}.isdisjoint(chain(*(of.axis.columns for of in texts.values()))):
        return batch
    return replace(batch, texts=contents(replace(batch, blocks=texts), by_name=True))


def _add_stored(total: Hashes, block: Sparse, factors: Hashes) -> None:
    """Add what a sparse matrix says: 0 in each column, but for what is stored."""
    row, column, x = block.entries()
    total += (SALT * factors).sum(dtype=np.uint64)
    change = (hash_numbers(x) - SALT) * factors[column]
    np.add.at(total, row, change)


def level_hashes(block: Codes, factors: Hashes | None = None) -> Iterator[Hashes]:
    """Yield the hashes of the levels of each column, (rows,); 0 where a cell is missing."""
    # Those of each column are multiplied by its factor, (columns,).
    for j, levels in enumerate(block.axis.levels):
        code = np.clip(block.codes[:, j], -1, len(levels))  # the last is of what was never seen
        named: Sequence[Level | None] = levels
        if len(code) < len(levels):  # of a few rows their own levels only
            some, code = np.unique(code, return_inverse=True)
            named = [levels[at] if 0 <= at < len(levels) else None for at in some.tolist()]
        hashes = np.array([*(0 if of is None else _hash_level(of) for of in named), 0], np.uint64)
        if factors is not None:
            hashes *= factors[j]
        yield hashes[code]


# Levels come again in each batch; True, 1 and 1.0 have one hash, but not all that is equal has.
_hash_level = lru_cache(1 << 14, typed=True)(hash_cell)


def _of_texts(texts: Sequence[Row]) -> Hashes:
    if not isinstance(texts, Strings):
        return np.array([0 if text is None else hash_cell(text) for text in texts], np.uint64)
    utf8, spans = np.ascontiguousarray(texts.utf8).data, pairwise(texts.offsets.tolist())
    digests = [blake2b(utf8[begin:end], digest_size=8).digest() for begin, end in spans]
    hashes = np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)
    return hashes if texts.missing is None else np.where(texts.missing, np.uint64(0), hashes)


@lru_cache(16)
def _factors(columns: tuple[Name, ...]) -> Hashes:
    """Return an odd number for each column, by its name."""
    return np.array([hash_cell(title(name)) | 1 for name in columns], np.uint64)


def mixed(total: Hashes) -> Hashes:
    """Return numbers whose bits depend on all bits of others (SplitMix64, Steele et al. 2014)."""
    total = (total ^ (total >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    total = (total ^ (total >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return total ^ (total >> np.uint64(31))

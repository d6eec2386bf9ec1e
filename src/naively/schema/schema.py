"""The schema: which columns go to which event model, and how they are encoded.

The only place where data and event models meet. A group is all columns of one event model; it
becomes one block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from naively.counting.axis import Axis, Columns, Derived, Name, title
from naively.counting.block import Batch, Block
from naively.counting.labels import Labels
from naively.data.columns import Kind
from naively.data.rows import Rows, column_rows, read_times
from naively.messages import Shown, warn
from naively.schema.derived import Missing
from naively.schema.encode import CellArray, decode, split_rows
from naively.schema.group import Group, GroupKey, event_name, event_names
from naively.schema.held import Held

SHOWN = 30  # as many columns have a line each when a schema is printed; else each group has
EVIDENCE = "; missing cells are evidence"
WIDEST = 40  # of the names, in characters
# What a column may come as, beside what it was learned as.
ALSO: dict[Kind, tuple[Kind, ...]] = {"text": ("string",), "string": ("text",), "time": ("string",)}


@dataclass(frozen=True, repr=False)
class Schema(Shown):
    """Groups of columns; every column of the table is in one, unless it was missing throughout.

    A text may be in several, each with an analyser of its own. A column of a group may follow from
    columns of the table: a part of a time, or an interaction (see ``schema.derived``). Columns that
    are free were given no event model: it follows from what is counted of them (see
    ``schema.settle``). Printed, a schema says one line a column: its event model, and why; or one
    line a group if there are many.
    """

    groups: tuple[Group, ...]
    order: range | tuple[Name, ...]  # the columns of the table, as they came
    notes: Mapping[Name, str] = field(default_factory=dict)  # what else is to be said of a column
    free: frozenset[Name] = frozenset()

    @cached_property
    def columns(self) -> dict[Name, Group]:
        """The group of each column: those of the table in its order, then parts of times, pairs.

        Of a text in several groups it is the first. That a cell is missing is no column here.
        """
        of = {
            name: groups[0]
            for name, groups in self.groups_of.items()
            if not isinstance(name, Missing)
        }
        return {name: of[name] for name in self.order if name in of} | of

    @cached_property
    def groups_of(self) -> dict[Name, list[Group]]:
        """All groups of each column."""
        of: dict[Name, list[Group]] = {}
        for group in self.groups:
            for name in group.columns:
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
        """The groups of columns, without what is said beside them: of missing cells, of pairs."""
        return tuple(group for group in self.groups if not group.is_beside)

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
    def derived(self) -> tuple[Derived, ...]:
        """The columns that follow from others: parts of times, and interactions."""
        return tuple(name for group in self.groups for name in group.derived)

    @property
    def interactions(self) -> dict[str, Derived]:
        """The interactions that are counted, by name."""
        return {str(name): name for g in self.groups if g.is_interaction for name in g.derived}

    @cached_property
    def names(self) -> list[str]:
        """The columns of the table that have names, rather than places in an array."""
        if isinstance(self.order, range):
            return []
        return [name for name in self.order if isinstance(name, str)]

    def by_place(self, rows: Rows) -> bool:
        """Whether a table's columns are known by their places: it has no names, or none here do."""
        return isinstance(rows.names, range) or not self.names

    @property
    def width(self) -> int:
        """The number of columns of the table."""
        return len(self.order)

    @property
    def kinds(self) -> dict[Name, Kind]:
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
            if name in self.columns and name not in with_parts
        }
        alone = len(self.of_columns) == 1 and not self.names
        return named or (self.groups[0].event if alone else "auto")

    def _chosen(self, name: Name) -> Any:
        chosen = [group.analyser or group.event for group in self.groups_of[name]]
        return chosen[0] if len(chosen) == 1 else chosen

    @cached_property
    def times(self) -> frozenset[Name]:
        """The columns that are times."""
        timed = (group.columns for group in self.groups if group.kind == "time")
        return frozenset(name for columns in timed for name in columns)

    def encode(
        self, rows: Rows, labels: Labels, axes: Mapping[GroupKey, Axis] | None = None
    ) -> Batch:
        """Encode rows into one block a group, by known axes, or finding them.

        Raises
        ------
        ValueError
            If a column holds another kind of values than in training; it names the column.
        """
        rows = self.match(rows)
        known = axes or {}
        return Batch({g.key: g.encode(rows, known.get(g.key)) for g in self.groups}, labels)

    def recode(self, batch: Batch, axes: Mapping[GroupKey, Axis]) -> Batch:
        """Encode rows by known axes, as any schema has encoded them; absent columns are missing."""
        held = Held(batch)
        blocks = {group.key: group.recode(held, axes[group.key]) for group in self.groups}
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
        """Return the rows with exactly these columns, or say which differ."""
        if len(self.groups) == 1 and rows.names == self.groups[0].columns:
            _check_kinds(rows, self.groups[0], rows.names)
            return self._timed(rows)
        if self.by_place(rows):
            return self._timed(self._match_by_place(rows))
        lacking = [name for name in self.order if name not in rows.place]
        extra = [name for name in rows.names if name not in self._known]
        if lacking and len(lacking) == self.width:
            raise ValueError(
                "None of the columns that were learned is in the table: it has "
                f"{list_names(rows.names)}, but {list_names(self.order)} were learned."
            )
        if lacking:
            warn(f"No column {list_names(lacking)}: counted as missing.")
        if extra:
            warn(f"Column {list_names(extra)} was not learned: ignored.")
        for group in self.groups:
            _check_kinds(rows, group, [name for name in group.columns if name in rows.place])
        return self._timed(rows.padded(self.order) if lacking else rows)

    def named(self, rows: Rows) -> Rows:
        """Return the rows with the names of these columns, where columns go by their places."""
        if not self.by_place(rows):
            return rows
        if len(rows.names) == self.width and set(rows.names) == self._known:
            return rows
        if len(rows.names) != self.width:
            raise ValueError(
                f"X has {len(rows.names)} features, but NaiveBayes is expecting {self.width} "
                "features as input."
            )
        return rows.renamed(tuple(self.order))

    def _match_by_place(self, rows: Rows) -> Rows:
        by_place = self.named(rows)
        for group in self.groups:
            _check_kinds(by_place, group, group.columns)
        return by_place

    def _timed(self, rows: Rows) -> Rows:
        return read_times(rows, self.times) if self.times else rows

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
                "in the other, so that they cannot be merged."
            )
        mine = {group.key: group for group in self.groups}
        for group in other.groups:
            own = mine.get(group.key)
            if own is None or own.columns != group.columns:
                self._check_same(group, other)
                columns = _union(own.columns, group.columns) if own else group.columns
                mine[group.key] = replace(group, columns=columns)
        order = _union(self.order, other.order)
        notes = {**other.notes, **self.notes}
        return Schema(tuple(mine.values()), order, notes, self._free_in_both(other))

    def _free_in_both(self, other: Schema) -> frozenset[Name]:
        if self.free == other.free:
            return self.free
        given = (own.columns.keys() - own.free for own in (self, other))
        return (self.free | other.free).difference(*given)

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
                    "cannot be merged."
                )

    def __str__(self) -> str:
        missing = [name.of for name in self.derived if isinstance(name, Missing)]
        if len(self.columns) > SHOWN:
            lines = [
                (event_name(group), f"{list_names(group.columns)} ({group.kind}s)")
                for group in self.groups
                if group.kind != "missing"
            ]
            lines += [("missing cells are evidence", list_names(missing))] if missing else []
            noted = [(title(name), note) for name, note in self.notes.items()]
            return "\n".join(f"{name}: {what}" for name, what in lines + noted)
        table = [
            (
                title(name),
                event_names(self.groups_of[name]),
                self.notes.get(name, f"{group.kind}s") + EVIDENCE * (name in missing),
            )
            for name, group in self.columns.items()
        ]
        table += [
            (title(name), "not learned", self.notes.get(name, "missing throughout"))
            for name in self.order
            if name not in self.columns
        ]
        wide = [min(max((len(row[i]) for row in table), default=0), WIDEST) for i in range(2)]
        return "\n".join(f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c}" for a, b, c in table)


def list_names(names: Iterable[Name], most: int = 10) -> str:
    """List names for a message, so many at most."""
    every = list(names)
    shown = ", ".join(repr(title(name)) for name in islice(every, most))
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


def _union(a: range | tuple[Name, ...], b: range | tuple[Name, ...]) -> range | tuple[Name, ...]:
    return Columns(a).union(Columns(b))[0].columns


def _check_kinds(rows: Rows, group: Group, names: Iterable[Name]) -> None:
    """Raise a ValueError if a column holds another kind of values than in training."""
    if group.event.layout == "rows" or group.derived:
        return  # of any kinds, or following from columns that are checked
    allowed = (group.kind, None, *ALSO.get(group.kind, ()))
    if rows.one_kind in allowed and rows.one_kind is not None:
        return
    for name in names:
        kind = rows.kind(name)
        if kind not in allowed:
            raise ValueError(
                f"Column {title(name)!r} held {group.kind}s in training and holds {kind}s now; "
                "convert it, or train again."
            )

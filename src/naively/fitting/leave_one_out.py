"""The leave-one-out table: what each part says of each sampled row without having counted it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns, Name, title, title_of_columns
from naively.counting.block import Batch, Block, Codes, Dense, Sparse
from naively.counting.labels import MANY_CLASSES, Labels
from naively.counting.leave_one_out import Part, Parts, lengths_left, one_of_each
from naively.events import Beta, Dirichlet
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import SALT, Floats, Hashes, hash_numbers
from naively.model.class_prior import PRETEND, pretend_classes
from naively.model.model import Model, Weights
from naively.schema.schema import BESIDE, DERIVED, Group, level_hashes, mixed
from naively.schema.settings import ClassPrior
from naively.terms.words import LENGTH_POWER, WordTerms, length_factor

# --- The leave-one-out table: the evidence of each part of a row, the row not learned ------------
#
# Weights are fitted to the table, and honest scores are taken from it. A row is left out in closed
# form.


PartKind: TypeAlias = Literal["column", "missing", "text", "band"]
IMPOSSIBLE = -700.0  # nats from the best class, instead of -inf
ROUNDS = 2  # in which levels are told apart by rows, and these by levels
HALF = 0.5  # of a row, for each class, so that a class of one row can be left without it
LARGE = 1_000_000  # stored numbers, or words: what is made of them takes much memory
FARTHEST = 1e15  # nats of one part, at most, so that squares of sums stay finite as float32


class LeaveOneOut(Frozen):
    """The log likelihood of each part of each row, under each class, as if it were not learned."""

    parts: list[Part]  # that the evidence is divided into
    # (parts,): whether weights may differ by class: of many classes those of no part may.
    by_class: list[bool]
    # (parts,): a column (or a group that is one event), what missing cells say, a text, or a band
    # of a text's words. The evidence of a text is over a power of its length.
    kinds: list[PartKind]
    table: Floats  # (parts, rows, classes): log likelihoods, in nats, centred over the classes
    # (rows, classes): log share of each class among the rows that were counted, without the row if
    # it was learned: what weights are fitted under.
    prior: Floats
    # (rows, classes): log class prior as the settings say, without the row too: what predictions
    # are made under.
    class_prior: Floats
    labels: Labels  # of the rows, numbered among the model's classes

    @classmethod
    def join(cls, batches: Sequence[LeaveOneOut]) -> LeaveOneOut:
        """Return the evidence of the rows of all batches."""
        if len(batches) == 1:
            return batches[0]
        fullest = max(batches, key=lambda batch: len(batch.parts))  # others may have fewer bands
        if all(batch.parts == fullest.parts for batch in batches):
            table = np.concatenate([batch.table for batch in batches], axis=1)
        else:
            table = np.concatenate([batch.table_of(fullest.parts) for batch in batches], axis=1)
        prior = np.concatenate([batch.prior for batch in batches])
        given = np.concatenate([batch.class_prior for batch in batches])
        labels = Labels.join([batch.labels for batch in batches])
        return replace(fullest, table=table, prior=prior, class_prior=given, labels=labels)

    def standing_for(self, count: Floats) -> LeaveOneOut:
        """Return the evidence of rows drawn class by class, (classes,) of which there are."""
        return replace(self, labels=self.labels.standing_for(count))

    def take(self, rows: NDArray[np.int64] | slice) -> LeaveOneOut:
        """Return the evidence of some of the rows, by their numbers."""
        return replace(
            self,
            table=self.table[:, rows],
            prior=self.prior[rows],
            class_prior=self.class_prior[rows],
            labels=self.labels.take(rows),
        )

    def table_of(self, parts: list[Part]) -> Floats:
        """Return the evidence of these parts, (parts, rows, classes), 0 for one not here."""
        place = {part: i for i, part in enumerate(self.parts)}
        table = np.zeros((len(parts), *self.prior.shape))
        for i, part in enumerate(parts):
            if part in place:
                table[i] = self.table[place[part]]
        return table

    def joint(self, weights: Weights) -> Floats:
        """Return weighted joint log likelihoods, (rows, classes), under the prior of the rows."""
        classes = self.labels.classes.tolist()
        weight = weights.table(self.parts, classes)
        weighted = self.prior + np.einsum("pc,pnc->nc", weight, self.table)
        return np.asarray(weighted + weights.bias_of(classes))


def linear_evidence(
    model: Model, batches: Sequence[Batch], only: Name | None = None
) -> dict[str, Floats]:
    """Return what the linear part adds to rows, by the titles of columns, one or several."""
    # Each is of shape (rows, classes).
    if model.weights is None:
        return {}
    linear, places = model.weights.linear, model.weights.places(model.classes.tolist())
    found: dict[str, list[Floats]] = {}
    for batch in batches:
        blocks, of_batch = model.blocks(batch), dict[str, Floats]()
        for name, added in linear.of_columns(blocks, places, only):
            of_batch[title(name)] = added
        for several in linear.of_several(model.view.axes, places):
            for columns, some in several.by_columns():  # of the same ones products, and rules
                name, added = title_of_columns(columns), some.added(blocks)
                of_batch[name] = of_batch[name] + added if name in of_batch else added
        for name, added in of_batch.items():
            found.setdefault(name, []).append(added)
    return {name: np.concatenate(of) for name, of in found.items()}


def left_out(
    model: Model,
    batches: Sequence[Batch],
    *,
    learned: bool = True,
    length_power: float = LENGTH_POWER,
) -> LeaveOneOut:
    """Return the leave-one-out table of several batches (see ``leave_one_out_table``)."""
    return LeaveOneOut.join(
        [leave_one_out_table(model, b, learned=learned, length_power=length_power) for b in batches]
    )


def leave_one_out_table(
    model: Model, batch: Batch, *, learned: bool = True, length_power: float = LENGTH_POWER
) -> LeaveOneOut:
    """Return the leave-one-out table of encoded rows."""
    labels, blocks = batch.labels.among(model.classes), model.blocks(batch)
    once = one_of_each(labels, batch.times)
    keys: list[Part] = []
    kinds: list[PartKind] = []
    by_class: list[bool] = []
    groups = [(group, blocks[group.key]) for group in model.view.schema.groups]
    parts_of = [_parts(model, group, block) for group, block in groups]
    # Part after part, so that those which are not filled yet take no memory.
    n = sum(len(parts.keys) for parts in parts_of)
    table = np.empty((n, len(labels.codes), len(labels.classes)))
    for (group, block), parts in zip(groups, parts_of, strict=True):
        if isinstance(block, Sparse) and max(len(block.indices), len(block.axis)) > LARGE:
            dispatch.give_back()
        if learned:
            of_group = group.event.leave_one_out(model.view.counts[group.key], block, once)
        else:
            of_group = _of_others(model, group, block, parts)
        if isinstance(block, Sparse) and parts.by_word and length_power:
            counts = model.view.counts[group.key]
            length = lengths_left(counts, block, once) if learned else block.lengths
            of_group *= length_factor(length, length_power)[:, None, None]
        of_parts = of_group.transpose(1, 0, 2)
        if of_parts.shape == table.shape:
            table = of_parts
        else:
            table[len(keys) : len(keys) + len(parts.keys)] = of_parts
        del of_group, of_parts  # before that of the next group is made: of texts they are large
        kind: PartKind = "missing" if group.kind in BESIDE else "column"
        if kind == "column" and parts.by_word:
            kind = "text" if parts.keys[0].band is None else "band"
        # Words are centred; their likelihood is large, and not needed yet.
        centres = kind == "band" or (
            kind != "text" and group.event.centres(model.view.counts[group.key])
        )
        keys += parts.keys
        kinds += [kind] * len(parts.keys)
        by_class += [centres and len(labels.classes) < MANY_CLASSES] * len(parts.keys)
    table = _centred(table)
    per, asked = model.view.rows_per_weight, model.settings.class_prior
    given = _log_prior(model, asked, once, learned, model.pretend_rows or HALF, per)
    prior = _log_prior(model, "data", once, learned, PRETEND)
    labels = replace(labels, weight=batch.independent.weight)
    return LeaveOneOut(keys, by_class, kinds, table, prior, given, labels)


def _parts(model: Model, group: Group, block: Block) -> Parts:
    """Return the parts that the evidence of a group is divided into."""
    parts = model.view.parts[group.key]
    if isinstance(block, Sparse) and not parts.by_word:
        return Parts.whole(group.key, max(1, len(parts.of_unit)))
    return parts


def _of_others(model: Model, group: Group, block: Block, parts: Parts) -> Floats:
    """Return the evidence of parts, (rows, parts, classes), of rows that were not learned."""
    evidence = model.view.terms_of(group.key)
    if (
        parts.by_word
        and isinstance(block, Sparse)
        and isinstance(evidence, WordTerms)
        and evidence.absent is None
    ):
        return evidence.by_part(block, parts.of_unit, len(parts.keys))
    items = evidence.items(block)
    unit = items.item if parts.by_word else np.maximum(items.column, 0)
    return parts.sums(items.row, unit, items.value, len(block))


def _centred(table: Floats) -> Floats:
    """Centre log likelihoods, (parts, rows, classes), over the classes; -inf becomes finite."""
    # The table may be overwritten.
    if not -FARTHEST < table.min(initial=0.0) <= table.max(initial=0.0) < FARTHEST:
        best = table.max(axis=2, keepdims=True)
        least = np.where(np.isneginf(best), 0.0, best) + IMPOSSIBLE
        table = np.where(np.isneginf(table), least, table)
        np.clip(table, -FARTHEST, FARTHEST, out=table)
    table -= (table @ np.full(table.shape[2], 1 / table.shape[2]))[:, :, None]
    return table


def _log_prior(
    model: Model,
    prior: ClassPrior,
    labels: Labels,
    learned: bool,
    pretend: float | Floats,
    per: Floats | None = None,
) -> Floats:
    """Return each row's log class prior, (rows, classes), without the row if it was learned."""
    # If it is the share of each class among the independent rows, or by what they weigh where it is
    # said how many rows a weight of 1 is, (classes,), each class has ``pretend`` more.
    match prior:
        case Beta() | Dirichlet():
            pretend = pretend_classes(prior, model.settings.estimate, model.classes)
        case str() if prior == "data":
            pass
        case _:
            return np.tile(np.maximum(model.class_log_prior, IMPOSSIBLE), (len(labels), 1))
    counted = model.view.rows
    own = labels.one_hot() if learned else np.zeros((len(labels), len(labels.classes)))
    if per is not None:
        counted, own = model.counted.tally.class_count, own / per
    count = np.maximum(counted - own + pretend * (counted > 0), 0.0)
    with np.errstate(divide="ignore"):
        log_prior: Floats = np.log(count / count.sum(axis=1, keepdims=True))
    return np.maximum(log_prior, IMPOSSIBLE)


# --- An order of rows that follows from what they hold, whatever columns and classes are called ---
#
# Rows are dealt out to folds in this order, so that another name changes no fit. It does not
# depend on the order in which rows and columns came either. A row's number is a sum over its
# cells, so that some of the rows are in the order in which they are among all. Rows that have the
# same number, such as those of two booleans one of which is true, are told apart by what else
# their columns and classes hold, as colours of a graph are refined (Weisfeiler & Lehman 1968).


def row_order(batches: Sequence[Batch], contents: Sequence[Hashes]) -> list[NDArray[np.int64]]:
    """Return an order of the rows of each batch; names decide where nothing else tells rows."""
    first = _without_names(batches, contents)
    then = _refined(batches, first)
    times = [mixed(of + b.times.astype(np.uint64)) for of, b in zip(then, batches, strict=True)]
    last = _refined(batches, times)  # what is alike in all else is told apart by its copies
    return [np.lexsort(of) for of in zip(map(mixed, contents), last, then, first, strict=True)]


def _refined(batches: Sequence[Batch], rows: Sequence[Hashes]) -> Sequence[Hashes]:
    """Return numbers that tell more rows apart, until all are, or for some rounds."""
    for _ in range(ROUNDS):
        in_order = np.sort(np.concatenate([np.empty(0, np.uint64), *rows]))
        if (in_order[1:] != in_order[:-1]).all():
            break
        rows = _told_apart(batches, rows, _signs(batches, rows))
    return rows


MISSING = -1  # the code of a missing cell, whose sign is the last
Signs: TypeAlias = "dict[Name, Hashes]"  # of each column, a number for each level; then 0


def _signs(batches: Sequence[Batch], rows: Sequence[Hashes]) -> Signs:
    """Return a number for each level by the rows that have it."""
    sums: Signs = {}
    for batch, of in zip(batches, rows, strict=True):
        for _, block in _columnar(batch):
            if not isinstance(block, Codes):
                continue
            columns = block.axis.columns, block.axis.levels, block.codes.T
            for name, levels, codes in zip(*columns, strict=True):
                sum_of_each = sums.setdefault(name, np.zeros(len(levels) + 1, np.uint64))
                np.add.at(sum_of_each, np.maximum(codes, MISSING), of)
    return {name: np.append(mixed(of[:-1]), np.uint64(0)) for name, of in sums.items()}


def _without_names(batches: Sequence[Batch], contents: Sequence[Hashes]) -> list[Hashes]:
    """Return a number for each row by its cells, of which levels are known by their rows."""
    coded = [
        [of for kind, of in _columnar(batch) if isinstance(of, Codes) and kind != "word"]
        for batch in batches
    ]
    others = []
    for content, blocks in zip(contents, coded, strict=True):
        named = chain.from_iterable(map(level_hashes, blocks))
        others.append(content - sum(named, np.zeros_like(content)))
    rows = [mixed(total + SALT * any(coded)) for total in others]
    for _ in range(ROUNDS if any(coded) else 0):
        signs = _signs(batches, rows)
        told = ((hashes for of in blocks for hashes in _hashes(of, signs)) for blocks in coded)
        rows = [mixed(sum(of, total)) for of, total in zip(told, others, strict=True)]
    return rows


def _told_apart(batches: Sequence[Batch], first: Sequence[Hashes], signs: Signs) -> list[Hashes]:
    """Return other numbers of rows, by what else their classes and their columns hold."""
    codes = [batch.labels.codes for batch in batches]
    of_class = np.zeros(max(len(batch.labels.classes) for batch in batches), np.uint64)
    for code, of in zip(codes, first, strict=True):
        np.add.at(of_class, code, of)
    found = [mixed(of + mixed(of_class)[code]) for code, of in zip(codes, first, strict=True)]
    of_column: dict[Name, Hashes] = {}
    for batch, rows in zip(batches, found, strict=True):
        for name, seen in _columns(batch, rows, signs):
            of_column[name] = of_column.get(name, np.zeros(1, np.uint64)) + seen
    told = []
    for batch, rows in zip(batches, found, strict=True):
        total = rows.copy()
        for _, block in _columnar(batch):
            of = np.concatenate([of_column[name] for name in block.axis.columns])
            total += _of_rows(block, of, signs)
        told.append(mixed(total))
    return told


def _columnar(batch: Batch) -> Iterator[tuple[str, Dense | Codes | Sparse]]:
    """Yield the kinds and blocks of columns, each once; texts are told apart by what they hold."""
    done: set[Name] = set()
    for key, block in batch.blocks.items():
        columns = set(block.axis.columns)
        if key.kind in DERIVED or columns & done:
            continue
        match block:
            case Dense() | Codes() | Sparse(axis=Columns()):
                done |= columns
                yield key.kind, block


def _columns(batch: Batch, rows: Hashes, signs: Signs) -> Iterator[tuple[Name, Hashes]]:
    """Yield a number for each column: a sum over its cells and the numbers of their rows."""
    for _, block in _columnar(batch):
        names = block.axis.columns
        if isinstance(block, Sparse):
            row, column, x = block.entries()
            sums = np.full(len(names), mixed(rows + SALT).sum(dtype=np.uint64))
            np.add.at(sums, column, mixed(hash_numbers(x) + rows[row]) - mixed(rows[row] + SALT))
            yield from zip(names, sums[:, None], strict=True)
        else:
            for name, hashes in zip(names, _hashes(block, signs), strict=True):
                there = hashes != 0
                yield name, mixed(hashes[there] + rows[there]).sum(dtype=np.uint64, keepdims=True)


def _of_rows(block: Dense | Codes | Sparse, of_column: Hashes, signs: Signs) -> Hashes:
    """Return a number for each row: a sum over its cells and the numbers of their columns."""
    if isinstance(block, Sparse):
        row, column, x = block.entries()
        total = np.full(len(block), mixed(of_column + SALT).sum(dtype=np.uint64))
        of = of_column[column]
        np.add.at(total, row, mixed(hash_numbers(x) + of) - mixed(of + SALT))
        return total
    total = np.zeros(len(block), np.uint64)
    for hashes, of in zip(_hashes(block, signs), of_column, strict=True):
        there = hashes != 0
        total[there] += mixed(hashes[there] + of)
    return total


def _hashes(block: Dense | Codes, signs: Signs) -> Iterator[Hashes]:
    """Yield numbers of the cells of each column, (rows,); 0 where a cell is missing."""
    if isinstance(block, Codes):
        for name, codes in zip(block.axis.columns, block.codes.T, strict=True):
            yield signs[name][np.maximum(codes, MISSING)]
        return
    for j in range(len(block.axis.columns)):
        x = block.values[:, j].astype(np.float64)
        yield np.where(np.isnan(x), np.uint64(0), hash_numbers(x))

"""The leave-one-out table: the evidence of each part of a row, as if the row were not learned.

Weights are fitted to the table, and honest scores are taken from it. A row is left out in closed
form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from naively.counting.axis import title, title_of_pair
from naively.counting.block import Batch, Block, Sparse
from naively.counting.labels import Labels
from naively.counting.leave_one_out import Part, Parts, lengths_left, one_of_each
from naively.events import Beta, Dirichlet
from naively.kernels.reference import Floats
from naively.likelihoods.words import length_factor
from naively.model.class_prior import is_counted, is_estimated, pretend_classes
from naively.model.model import Model
from naively.schema.group import Group

PartKind: TypeAlias = Literal["column", "missing", "interaction", "text", "band"]
IMPOSSIBLE = -700.0  # nats from the best class, instead of -inf
FARTHEST = 1e15  # nats of one part, at most, so that squares of sums stay finite as float32
HALF = 0.5  # of a row, for each class, so that a class of one row can be left without it


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The log likelihood of each part of each row, under each class.

    Parameters
    ----------
    parts : list of Part
        The parts that the evidence is divided into.
    by_class : list of bool
        Whether the weights of a part may differ by class.
    kinds : list of {"column", "interaction", "text", "band"}
        Whether a part is a column (or a group that is one event), an interaction, a text, or a
        band of a text's words. The evidence of a text is over the square root of its length.
    table : ndarray of shape (parts, rows, classes)
        Log likelihoods, in nats, centred over the classes.
    prior : ndarray of shape (rows, classes)
        Log share of each class among the rows that were counted, without the row if the model has
        learned it: what weights are fitted under.
    class_prior : ndarray of shape (rows, classes)
        Log class prior as the model's settings say, without the row too: what predictions are
        made under.
    labels : Labels
        The rows' labels, numbered among the model's classes.
    """

    parts: list[Part]
    by_class: list[bool]
    kinds: list[PartKind]
    table: Floats
    prior: Floats
    class_prior: Floats
    labels: Labels

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

    def first(self, rows: int) -> LeaveOneOut:
        """Return the evidence of so many rows at most."""
        if rows >= len(self.prior):
            return self
        return replace(
            self,
            table=self.table[:, :rows],
            prior=self.prior[:rows],
            class_prior=self.class_prior[:rows],
            labels=self.labels.take(np.arange(rows)),
        )

    def table_of(self, parts: list[Part]) -> Floats:
        """Return the evidence of these parts, (parts, rows, classes), 0 for one not here."""
        place = {part: i for i, part in enumerate(self.parts)}
        table = np.zeros((len(parts), *self.prior.shape))
        for i, part in enumerate(parts):
            if part in place:
                table[i] = self.table[place[part]]
        return table

    def joint(self, weight: Floats) -> Floats:
        """Return joint log likelihoods, (rows, classes), with weights of shape (parts, classes).

        They are under the prior that weights are fitted under.
        """
        joint: Floats = self.prior + np.einsum("pc,pnc->nc", weight, self.table)
        return joint


def weighted_joint(model: Model, found: LeaveOneOut, batches: Sequence[Batch]) -> Floats:
    """Return joint log likelihoods by the weights of a model and its linear part, (rows, classes).

    They are under the model's class prior, as its predictions are.

    Parameters
    ----------
    model : Model
        The model.
    found : LeaveOneOut
        The leave-one-out table of some rows.
    batches : sequence of Batch
        The same rows, as the model encodes them.
    """
    if model.weights is None:
        return np.asarray(found.class_prior + found.table.sum(axis=0))
    classes = model.classes.tolist()
    joint = found.joint(model.weights.table(found.parts, classes))
    joint += found.class_prior - found.prior + model.weights.bias_of(classes)
    for added in linear_evidence(model, batches).values():
        joint += added
    return joint


def linear_evidence(model: Model, batches: Sequence[Batch]) -> dict[str, Floats]:
    """Return what the linear part adds to rows, by the titles of columns and of pairs of columns.

    Each is of shape (rows, classes).
    """
    if model.weights is None:
        return {}
    linear, places = model.weights.linear, model.weights.places(model.classes.tolist())
    found: dict[str, list[Floats]] = {}
    for batch in batches:
        blocks = model.blocks(batch)
        for name, added in linear.of_columns(blocks, places):
            found.setdefault(title(name), []).append(added)
        for pair, added in linear.of_pairs(blocks, places):
            found.setdefault(title_of_pair(pair), []).append(added)
    return {name: np.concatenate(of) for name, of in found.items()}


def left_out(
    model: Model,
    batches: Sequence[Batch],
    *,
    learned: bool = True,
    length_normalised: bool = True,
) -> LeaveOneOut:
    """Return the leave-one-out table of several batches (see ``leave_one_out_table``)."""
    return LeaveOneOut.join(
        [
            leave_one_out_table(model, b, learned=learned, length_normalised=length_normalised)
            for b in batches
        ]
    )


def leave_one_out_table(
    model: Model,
    batch: Batch,
    *,
    learned: bool = True,
    length_normalised: bool = True,
) -> LeaveOneOut:
    """Return the leave-one-out table of encoded rows.

    Parameters
    ----------
    batch : Batch
        Labelled rows, as the model encodes them.
    learned : bool, default True
        Whether the model has learned these rows, so that each must be left out.
    length_normalised : bool, default True
        Whether the evidence of a text is over the square root of its length, as in a model with
        weights.
    """
    labels, blocks = batch.labels.among(model.classes), model.blocks(batch.split())
    once = one_of_each(labels, batch.times)
    keys: list[Part] = []
    kinds: list[PartKind] = []
    by_class: list[bool] = []
    groups = model.schema.groups
    parts_of = [_parts(model, group, blocks[group.key]) for group in groups]
    table = np.empty((len(labels), sum(map(len, parts_of)), labels.k))
    for group, parts in zip(groups, parts_of, strict=True):
        block = blocks[group.key]
        of_group = _of_group(model, group, block, parts, once, learned=learned)
        if isinstance(block, Sparse) and parts.by_word and length_normalised:
            counts = model.counts[group.key]
            length = lengths_left(counts, block, once) if learned else block.lengths
            of_group *= length_factor(length)[:, None, None]
        if of_group.shape == table.shape:
            table = of_group
        else:
            table[:, len(keys) : len(keys) + len(parts)] = of_group
        del of_group  # before that of the next group is made: of texts they are large
        kind = _kind(group, parts)
        # Words are centred; their likelihood is large, and not needed yet.
        centres = kind == "band" or (
            kind != "text" and model.unweighted_likelihoods[group.key].centres
        )
        keys += parts.keys
        kinds += [kind] * len(parts)
        by_class += [centres] * len(parts)
    table = _centred(table).transpose(1, 0, 2)
    given = prior = _log_prior(model, once, learned)
    if not is_counted(model.settings.class_prior):
        prior = _log_prior(model.under_own_prior, once, learned)
    return LeaveOneOut(keys, by_class, kinds, table, prior, given, labels)


def _parts(model: Model, group: Group, block: Block) -> Parts:
    """Return the parts that the evidence of a group is divided into."""
    parts = model.parts[group.key]
    if isinstance(block, Sparse) and not parts.by_word:
        return Parts.whole(group.key, max(1, len(parts.of_unit)))
    return parts


def _of_group(
    model: Model, group: Group, block: Block, parts: Parts, labels: Labels, *, learned: bool
) -> Floats:
    """Return the evidence of a group's parts, of shape (rows, parts, classes)."""
    if learned:
        return group.event.leave_one_out(model.counts[group.key], block, labels)
    items = model.unweighted_likelihoods[group.key].contributions(block)
    unit = items.item if parts.by_word else np.maximum(items.column, 0)
    return parts.sums(items.row, unit, items.value, len(labels))


def _kind(group: Group, parts: Parts) -> PartKind:
    """Return the kind of a group's parts."""
    if group.is_beside:
        return "interaction" if group.is_interaction else "missing"
    if parts.by_word:
        return "text" if parts.keys[0].band is None else "band"
    return "column"


def _centred(table: Floats) -> Floats:
    """Centre log likelihoods, (rows, parts, classes), over the classes; -inf becomes finite.

    The table may be overwritten.
    """
    if not -FARTHEST < table.min(initial=0.0) <= table.max(initial=0.0) < FARTHEST:
        best = table.max(axis=2, keepdims=True)
        least = np.where(np.isneginf(best), 0.0, best) + IMPOSSIBLE
        table = np.where(np.isneginf(table), least, table)
        np.clip(table, -FARTHEST, FARTHEST, out=table)
    table -= (table @ np.full(table.shape[2], 1 / table.shape[2]))[:, :, None]
    return table


def _log_prior(model: Model, labels: Labels, learned: bool) -> Floats:
    """Return each row's log class prior, (rows, classes), without the row if it was learned."""
    prior = model.settings.class_prior
    if not learned or not is_estimated(prior):
        return np.tile(np.maximum(model.class_log_prior, IMPOSSIBLE), (len(labels), 1))
    pretend: float | Floats = HALF
    if isinstance(prior, Beta | Dirichlet):
        pretend = pretend_classes(prior, model.settings.estimate, model.classes)
    count = np.maximum(model.tally.class_count - labels.one_hot() + pretend, 0.0)
    with np.errstate(divide="ignore"):
        log_prior: Floats = np.log(count / count.sum(axis=1, keepdims=True))
    return np.maximum(log_prior, IMPOSSIBLE)

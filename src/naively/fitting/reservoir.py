"""The rows that are kept: a sample that merges, which weights and scores are fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import VALUE, Words
from naively.counting.block import Batch, Codes, Dense, Documents, Sparse, relabelled
from naively.counting.labels import Label, Labels, hash_cell
from naively.counting.tally import BlockTally, Tally
from naively.events.prior import Seed
from naively.file.parts import SampledRows
from naively.fitting.leave_one_out import row_order
from naively.fitting.sample import Sample, flattened
from naively.fitting.weights import CELLS, LEAST_ROWS, ROWS
from naively.frozen import Frozen
from naively.kernels.reference import Floats, Hashes
from naively.messages import warn
from naively.model.model import Model
from naively.schema.schema import DERIVED, contents, fingerprints, mixed, with_texts

# --- The reservoir: a sample of the rows learned, at most some thousand, in memory ---------------
#
# Weights are fitted and scores estimated on it. A row has a key, a hash of its cells, its label
# and a seed, and the rows of the least keys stay (a bottom-k sample, and all rows below a key that
# falls with the number of rows), each once with its multiplicity. So the sample is the same in
# whatever order and batches the rows came, and two samples merge into that of the rows of both. A
# later batch may bring classes, for which a larger sample is needed; so more are kept than one
# needs now.
#
# The rows are drawn class by class: as many of each, or all of a class that has fewer. A class of
# one row in a thousand would have ten in a sample of all rows alike. Where weights are fitted and
# scores estimated, a row stands for as many rows as there are of its class for each that was drawn
# (``Labels.standing_for``).
#
# Rows of groups are drawn from each group alike, so that a large one leaves room for others. What a
# row holds decides which are drawn, and the name of a group only where there are more groups than
# rows may stay.
#
# A class, or a group, that has more rows than may stay keeps one row more: without it a later batch
# could not tell that there were more, and would be given the place of rows that were dropped.


SEVERAL = 8  # more batches than this are joined
WAIT = 64  # rows at most wait to be drawn from, so that to learn one touches none that is kept
OF_ONE = 500  # rows of each class that are as good as all for a single weight
FEWEST_TEXTS, TOKENS = 2_000, 4_000_000  # rows, and words in them: as good as all for the weights


class SampleSize(NamedTuple):
    """How large a sample of rows is, and why no larger."""

    rows: int  # different ones of the least keys that are in use
    kept: int  # of them, so that a later sample can be drawn from them
    share: float  # of all keys, from the least, whose rows are kept too: interactions use them
    why: str  # there are no more


SEED = np.uint64(11749869230777074271)  # what the generator of seed 0 draws first
NOT_SIZED = SampleSize(0, 0, 0.0, "")


class Reservoir(Frozen):
    """A sample of labelled rows that a model has learned."""

    seed: np.uint64  # chooses the rows
    grows: bool = False  # whether a larger sample is kept as well, which interactions take
    seen: int = 0  # how many rows of some weight were added,
    size: SampleSize = NOT_SIZED  # and how many of them are enough
    # The different rows that are kept, and batches that wait until the sample is asked for. It is
    # exchanged by the same rows, drawn, at once: who asks meanwhile finds the same rows.
    held: tuple[list[Kept], list[Batch]] = ((), ())  # type: ignore[assignment]
    limit: np.uint64 = field(init=False)
    _last: dict[bool, tuple[Tally, Sample]] = field(init=False)

    def __post_init__(self) -> None:
        share = self.size.share if self.grows else 0.0
        limit = np.uint64(min(int(share * 2.0**64), 2**64 - 1))  # below which all rows are kept
        object.__setattr__(self, "limit", limit)
        # The sample that was asked for last, so that no text is split again.
        object.__setattr__(self, "_last", {})

    @classmethod
    def chosen_by(cls, random_state: Seed, *, grows: bool = False) -> Reservoir:
        """Return an empty sample; without a random state the choice is fixed."""
        if random_state is None:  # as 0 is, whose draw would import the generators
            return cls(SEED, grows)
        draw = np.random.default_rng(random_state)
        return cls(draw.integers(2**64, dtype=np.uint64), grows)

    def empty(self) -> Reservoir:
        """Return an empty sample that chooses rows alike."""
        return Reservoir(self.seed, self.grows)

    def __len__(self) -> int:
        return int(sum(kept.batch.times.sum() for kept in self._sample()))

    def added(self, batch: Batch) -> Reservoir:
        """Return the sample of these rows too, which wait to be drawn from."""
        weight = batch.labels.weight
        rows = batch.times if weight is None else batch.times[weight > 0]
        kept, new = self.held
        return replace(self, seen=self.seen + int(rows.sum()), held=(kept, [*new, batch]))

    def for_model(self, model: Model) -> Reservoir:
        """Return the sample as large as a model needs it that has learned the rows."""
        found = replace(self, size=sample_size(model, self.seen))
        kept, new = found.held
        if sum(map(len, new if kept else new[1:])) > WAIT:
            kept = found.kept
        if len(kept) > SEVERAL:
            return replace(found, held=(encoded_by(kept, model, split=False), found.held[1]))
        return found

    def with_sampled(self, batch: Batch, model: Model, seen: int, share: Floats) -> Reservoir:
        """Return the sample with a share of the rows of each class, chosen by another hash."""
        # Their keys are made as small as if they were the least of all of their class, (classes,),
        # so that they count for all of it in a sample that is merged with this one. ``seen`` is how
        # many rows there are in all.
        kept, grows = Kept.of(batch, self.seed, len(batch)), self.grows
        if (share < 1).any():
            kept = as_least(kept, share)
            grows = False  # of a larger sample there are too few rows
        found = replace(self, grows=grows, seen=self.seen + seen)
        return found.of_rows(merged_rows(self.kept, [kept]), model)

    def share_of(self, batch: Batch) -> float:
        """Return which share of some rows are equal to rows that were learned; NaN if unknown."""
        # A row can be looked up if it would be in the sample had it been learned.
        every = self.kept
        if any(kept.batch.labels.group is not None for kept in every):
            return np.nan  # the key of a row is also of its group, which nobody says here
        kept = np.concatenate([np.empty(0, np.uint64), *(kept.keys for kept in every)])
        seen, highest = batch.seen(), _highest(every, self.size.kept)
        keys = fingerprints(seen, self.seed)
        keys = keys[keys <= _by_label(highest, seen.labels)]  # others would have been dropped
        return float(np.isin(keys, kept).mean()) if len(keys) else np.nan

    def faded(self, factor: float) -> Reservoir:
        """Return the same rows, whose weights are scaled."""
        kept = [
            replace(kept, batch=replace(kept.batch, labels=kept.batch.labels.scaled(factor)))
            for kept in self.kept
        ]
        return replace(self, held=(kept, []))

    def merged(self, other: Reservoir, model: Model) -> Reservoir | None:
        """Return the sample of the rows of both, which a model has learned; None of other seeds."""
        if self.seed != other.seed:
            return None
        grows = self.grows and other.grows  # of one there are too few rows else
        both = replace(self, grows=grows, seen=self.seen + other.seen)
        kept, new = other.held
        if not kept:  # what waits goes on waiting
            return replace(both, held=(self.held[0], [*self.held[1], *new])).for_model(model)
        return both.of_rows(merged_rows(self.kept, other.kept), model)

    def saved(self, model: Model) -> SampledRows:
        """Return all rows that are kept as a model file holds them; the model has learned them."""
        every = encoded_by(self.kept, model)
        kept = [(kept.batch, kept.keys, kept.contents) for kept in every]
        return SampledRows(kept, self.seed, self.seen)

    @classmethod
    def restored(cls, rows: SampledRows, model: Model) -> Reservoir:
        """Return the sample that was saved with the model that has learned it."""
        seeks = model.seeks_interactions or model.settings.interactions is not None
        kept = [Kept(*of) for of in rows.batches]
        return cls(rows.seed, seeks, rows.seen, sample_size(model, rows.seen), (kept, []))

    def of(self, model: Model, *, larger: bool = False) -> Sample:
        """Return the sample as the model that learned it has counted it."""
        # Interactions take a larger one, which grows with the logarithm of the rows.
        last = self._last.get(larger)
        if last is not None and last[0] is model.counted.tally:
            return last[1]
        # Rows that are in order before their words are copied are not copied again.
        each, tally = self._sample(larger=larger), model.counted.tally
        if texts := [of for key, of in tally.blocks.items() if key.analyser is not None]:
            rows = tally.class_count.sum() * TOKENS / max(1.0, words_of(texts))
            enough = max(FEWEST_TEXTS, OF_ONE * len(tally.classes), int(rows))
            each = of_least_keys(each, enough)
        every = [of.select(np.argsort(mixed(of.contents), kind="stable")) for of in each]
        kept = encoded_by(every, model)
        # The words of texts are in the sample now; where it is asked for again, they are split.
        as_texts = [replace(of, batch=of.batch.as_texts()) for of in self.kept]
        object.__setattr__(self, "held", (as_texts, []))
        sample = sample_of(kept)
        self._last.clear()
        self._last[larger] = model.counted.tally, sample
        return sample

    def _sample(self, *, larger: bool = False) -> list[Kept]:
        size = self.size
        grows = larger and size.rows == size.kept
        return of_least_keys(self.kept, size.rows, self.limit if grows else NO_KEY)

    @property
    def kept(self) -> list[Kept]:
        """As many of the rows, the new ones too, as any later sample may need."""
        kept, new = self.held
        if new:
            # A class that has as many rows as may be kept would drop rows of higher keys.
            highest = _highest(kept, self.size.kept, spare=1) if kept else {}
            of = self.seed, self.size.kept, self.limit, highest
            fresh = [Kept.of(batch, *of) for batch in new]
            every = merged_rows(kept, fresh) if kept or fresh[1:] else fresh
            kept = of_least_keys(every, self.size.kept, self.limit, spare=1)
            object.__setattr__(self, "held", (kept, []))
        return [*kept]

    def of_rows(self, every: list[Kept], model: Model) -> Reservoir:
        """Return the sample that a model needs, of rows which are all that any later may need."""
        found = replace(self, size=sample_size(model, self.seen))
        least = of_least_keys(every, found.size.kept, found.limit, spare=1)
        return replace(found, held=(least, []))


ANY = Reservoir.chosen_by(None)  # an empty one


def sample_size(model: Model, seen: float) -> SampleSize:
    """Return how many of the rows seen are enough, or as many as memory allows."""
    # From ``ROWS`` on a larger sample of a table, on which interactions are fitted, grows with the
    # logarithm of the rows; it has ``ROWS`` where many columns and classes leave fewer for weights.
    # The share of keys falls with every row, and with more classes and columns fewer rows are kept,
    # so that sampling batch by batch gives the sample of all rows.
    schema = model.columns()  # nothing is scaled to count parts
    parts, k = schema.n_parts, len(model.classes)
    possible = CELLS // max(1, parts * k)
    kept = min(ROWS, max(LEAST_ROWS, possible))
    if parts == 1 and OF_ONE * k <= kept:
        why = f"a random sample: {OF_ONE} of each class are enough for one weight"
        return SampleSize(OF_ONE * k, kept, 0.0, why)
    has_texts = any(group.analyser for group in schema.groups)
    share = 0.0
    if kept < ROWS:
        if not has_texts:
            share = min(1.0, ROWS / max(seen, 1.0), CELLS / max(1.0, parts * seen))
        why = f"a random sample as large as memory allows, with {parts:,} weights of {k:,} classes"
        return SampleSize(kept, kept, share, why)
    if seen > ROWS and not has_texts:
        share = min(ROWS * (1 + np.log(seen / ROWS)), possible) / seen
    return SampleSize(kept, kept, share, "a random sample that is large enough")


def words_of(texts: Sequence[BlockTally[Words]]) -> float:
    """Return how many words, and n-grams, the texts of all rows have."""
    return sum(float(block.sums[VALUE].by_class().sum()) for block in texts)


def merged(samples: Sequence[Reservoir | None], model: Model) -> Reservoir | None:
    """Return the sample of the rows of all, which a model has learned; none if one has none."""
    total, *others = samples
    for sample in others:
        total = None if total is None or sample is None else total.merged(sample, model)
    return total


# --- Different rows of a sample, each once with its copies, in the order of their keys -----------


NO_KEY = np.uint64(0)  # below which there is none
EVERY_KEY = np.uint64(2**64 - 1)  # below which all are

Highest: TypeAlias = "Mapping[Label, np.uint64]"  # the highest key of each class that is full


class Kept(Frozen):
    """Different rows, encoded as they came, and their keys."""

    batch: Batch  # with how many copies came of each row
    keys: NDArray[np.uint64]  # (rows,): ascending, each of which is there once
    contents: NDArray[np.uint64]  # (rows,): the sum over a row's cells; no name has a say in it

    def with_groups(self) -> Kept:
        """Return the rows each of which, without groups, is a group of its own."""
        if self.batch.labels.group is not None:
            return self
        labels = replace(self.batch.labels, group=self.keys)
        return replace(self, batch=replace(self.batch, labels=labels))

    @classmethod
    def of(
        cls,
        batch: Batch,
        seed: np.uint64,
        most: int,
        limit: np.uint64 = NO_KEY,
        highest: Highest | None = None,
    ) -> Kept:
        """Return the rows of the least keys of each class, of which at most ``most`` may stay."""
        # All different rows below the limit are among them, however many, and one of each class
        # that may not stay; and none of a higher key than the highest that is kept of its class
        # already. Those of groups are drawn where they are merged.
        batch = with_texts(batch.seen())
        keys, labels = fingerprints(batch, seed), batch.labels
        some = np.arange(len(keys))
        if highest and labels.group is None:
            some = some[keys <= np.maximum(_by_label(highest, labels), limit)]
        if len(some) > most and labels.group is None:
            of_class = [keys[some[labels.codes[some] == c]] for c in range(len(labels.classes))]
            last = _last_of_each([_least_different(of, most + 1) for of in of_class], most, 1)
            some = some[keys[some] <= np.maximum(last[labels.codes[some]], limit)]
        order = np.argsort(keys[some])
        ascending = keys[some[order]]
        if (ascending[1:] != ascending[:-1]).all():
            kept = batch.take(some[order])
            return cls(kept, ascending, contents(kept))
        different, first, of = np.unique(keys[some], return_index=True, return_inverse=True)
        copies = np.bincount(of, batch.times[some], len(first)).astype(np.int64)
        kept = batch.take(some[first])
        if (copies > 1).any():
            weight = np.bincount(of, batch.labels.weights[some], len(first)).astype(np.float64)
            kept = replace(kept, labels=replace(kept.labels, weight=weight), copies=copies)
        return cls(kept, different, contents(kept))

    def select(self, rows: NDArray[np.int64]) -> Kept:
        """Return these rows."""
        return Kept(self.batch.take(rows), self.keys[rows], self.contents[rows])

    def more(self, other: Kept) -> tuple[Kept, Kept]:
        """Return these rows with their copies in ``other`` too, and the rest of ``other``."""
        _, mine, theirs = np.intersect1d(self.keys, other.keys, return_indices=True)
        if not len(mine):
            return self, other
        copies, weight = self.batch.times.copy(), self.batch.labels.weights.copy()
        copies[mine] += other.batch.times[theirs]
        weight[mine] += other.batch.labels.weights[theirs]
        labels = replace(self.batch.labels, weight=weight)
        rest = np.delete(np.arange(len(other.keys)), theirs)
        more = replace(self.batch, labels=labels, copies=copies)
        return Kept(more, self.keys, self.contents), other.select(rest)


def merged_rows(every: list[Kept], more: list[Kept]) -> list[Kept]:
    """Return the rows of both, each once with all its copies; rows of ``every`` differ already."""
    every = [*every]
    for one in more:
        rest = one
        for i, kept in enumerate(every):
            every[i], rest = kept.more(rest)
        every += [rest] if len(rest.keys) else []
    return every


def of_least_keys(
    every: list[Kept], most: int, limit: np.uint64 = NO_KEY, *, spare: int = 0
) -> list[Kept]:
    """Return the rows of the least keys of each class, and all rows below the limit."""
    # Those of the least keys are ``most`` at most, and ``spare`` more of each class, or of each
    # class of each group.
    if any(kept.batch.labels.group is not None for kept in every):
        every = [kept.with_groups() for kept in every]
    if sum(len(kept.keys) for kept in every) <= most:
        return every
    return [
        kept.select(np.flatnonzero(least | (kept.keys <= limit)))
        for kept, least in zip(every, _are_least(every, most, spare), strict=True)
    ]


def rows_of_each(rows: NDArray[np.int64], most: int) -> int:
    """Return how many rows of each class may stay, where ``rows`` is how many each has."""
    # It is the most of which those of all classes are ``most`` or fewer, but one at least.
    rows = np.sort(rows)
    left = np.maximum(most - (np.cumsum(rows) - rows), 0)  # for each class and the larger ones
    share = left // np.arange(len(rows), 0, -1)
    cut = np.flatnonzero(rows > share)
    return max(1, int(share[cut[0]])) if len(cut) else int(rows.max(initial=1))


def _last_of_each(
    keys: Sequence[NDArray[np.uint64]], most: int, spare: int = 0
) -> NDArray[np.uint64]:
    """Return the highest key that stays of each class, (classes,), of ascending keys of each."""
    # If there are more classes than rows may stay, those of the least keys keep one row each.
    # ``spare`` rows of each class stay beside ``most``, or one row of ``spare`` more classes.
    cap = rows_of_each(np.array([len(of) for of in keys]), most) + spare
    last = np.array([of[:cap][-1] if len(of) else NO_KEY for of in keys], np.uint64)
    first = np.array([of[0] for of in keys if len(of)], np.uint64)
    if len(first) > most:
        last = np.minimum(last, np.partition(first, most + spare - 1)[most + spare - 1])
    return last


def _are_least(every: Sequence[Kept], most: int, spare: int = 0) -> list[NDArray[np.bool_]]:
    """Mark the rows of the least keys of each class, at most ``most`` in all, (rows,) of each."""
    # Rows in groups are marked by each class of each group, as many of these as may have a row.
    # ``spare`` rows more are marked of each.
    if not all(kept.batch.labels.group is not None for kept in every):
        highest = _highest(every, most, spare)
        return [kept.keys <= _by_label(highest, kept.batch.labels) for kept in every]
    stratum = np.concatenate([stratum_of_each(kept.batch.labels) for kept in every])
    order = np.lexsort((np.concatenate([kept.keys for kept in every]), stratum))
    _, first, size = np.unique(stratum[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(first, size)
    least = np.empty(len(order), np.bool_)
    least[order] = rank < rows_of_each(size, most) + spare
    least[order[size[: most + spare].sum() :]] = False
    return np.split(least, np.cumsum([len(kept.keys) for kept in every])[:-1])


def _highest(every: Sequence[Kept], most: int, spare: int = 0) -> Highest:
    """Return the highest key that stays of each class of as many rows as may stay, or more."""
    # ``most`` rows of all classes may stay, and ``spare`` more of each class.
    if sum(len(kept.keys) for kept in every) < most:
        return {}
    of_class: dict[Label, list[NDArray[np.uint64]]] = {}
    for kept in every:
        labels = kept.batch.labels
        for c in np.unique(labels.codes).tolist():
            of_class.setdefault(labels.classes[c].item(), []).append(kept.keys[labels.codes == c])
    keys = {label: np.sort(np.concatenate(of)) for label, of in of_class.items()}
    cap = rows_of_each(np.array([len(of) for of in keys.values()]), most)
    last = _last_of_each([*keys.values()], most, spare)
    full = (len(of) >= cap + spare for of in keys.values())
    return {label: key for label, key, of in zip(keys, last, full, strict=True) if of}


def stratum_of_each(labels: Labels) -> Hashes:
    """Return a number for the class and the group of each row, (rows,)."""
    assert labels.group is not None
    of_class = np.array([hash_cell(label) for label in labels.classes.tolist()], np.uint64)
    return mixed(mixed(labels.group) + of_class[labels.codes])


def _by_label(highest: Highest, labels: Labels) -> NDArray[np.uint64]:
    """Return the highest key of each row's class, (rows,); that of all keys where there is none."""
    of_class = [highest.get(label, EVERY_KEY) for label in labels.classes.tolist()]
    return np.array(of_class, np.uint64)[labels.codes]


def as_least(kept: Kept, share: Floats) -> Kept:
    """Return rows with keys as if they were the least of their class, of which each is a share."""
    # ``share`` is of shape (classes,). The keys of a class that is there as a whole stay as they
    # are.
    of, keys = share[kept.batch.labels.codes], kept.keys.copy()
    some = of < 1
    keys[some] = (keys[some] * of[some]).astype(np.uint64)
    return replace(kept, keys=keys).select(np.argsort(keys))


def encoded_by(every: list[Kept], model: Model, *, split: bool = True) -> list[Kept]:
    """Encode rows as the model that has learned them has counted them; join what can be joined."""
    axes, coded = model.counted.tally.axes, list[Batch]()
    for kept in every:
        batch = model.counted.schema.recode(kept.batch, axes)
        coded.append(replace(batch, labels=batch.labels.among(model.classes)))
    if len(coded) > 1 and any(batch.form != coded[0].form for batch in coded):  # texts and words
        coded = [batch.split() for batch in coded]
    alike: list[list[Kept]] = []  # by the form in which they are held
    for kept, batch in zip(every, coded, strict=True):
        others = next((of for of in alike if of[0].batch.form == batch.form), None)
        if others is None:
            alike.append(others := [])
        others.append(replace(kept, batch=batch))
    found = [of[0] if len(of) == 1 else _joined(of) for of in alike]
    return [replace(of, batch=of.batch.split()) for of in found] if split else found


def _joined(every: list[Kept]) -> Kept:
    """Join rows that are held alike, in the order of their keys, whichever batch they came in."""
    keys = np.concatenate([kept.keys for kept in every])
    cells = np.concatenate([kept.contents for kept in every])
    return Kept(Batch.join([kept.batch for kept in every]), keys, cells).select(np.argsort(keys))


def _least_different(keys: NDArray[np.uint64], most: int) -> NDArray[np.uint64]:
    """Return the least different keys, ascending, at most ``most`` of all keys, (rows,)."""
    n = most
    while 0 < n < len(keys):  # to partition is quicker than to sort; of few copies it is enough
        least = _different(np.partition(keys, n - 1)[:n])
        if len(least) >= most:
            return least[:most]
        n = max(2 * n, n + most)
    return _different(keys)[:most]


def _different(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the different keys, ascending; to sort them is quicker than ``np.unique``."""
    keys = np.sort(keys)
    there = np.ones(len(keys), np.bool_)
    there[1:] = keys[1:] != keys[:-1]
    return keys[there]


def sample_of_all(batch: Batch, model: Model) -> Sample:
    """Return all rows of a batch, in an order that follows from what they hold."""
    return sample_of(encoded_by([Kept.of(batch, np.uint64(0), len(batch))], model))


def sample_of(every: Sequence[Kept]) -> Sample:
    """Return rows in an order that follows from what they hold, those of the least keys first."""
    # What is fitted to the first of many rows is fitted to those of the least keys of each class.
    batches = [kept.batch for kept in every]
    orders = row_order(batches, [kept.contents for kept in every])
    if sum(map(len, batches)) > ROWS:
        least = _are_least(every, ROWS)
        orders = [
            order[np.argsort(~of[order], kind="stable")]
            for order, of in zip(orders, least, strict=True)
        ]
    found = [
        batch if (rows == np.arange(len(rows))).all() else batch.take(rows)
        for batch, rows in zip(flattened(batches), orders, strict=True)
    ]
    if found and all(batch.labels.group is not None for batch in found):
        each = [of.contents[rows] for of, rows in zip(every, orders, strict=True)]
        found = numbered_groups(found, each)
    return Sample(found, classes_of_copies(found))


def numbered_groups(batches: list[Batch], contents: Sequence[Hashes]) -> list[Batch]:
    """Return the rows, whose groups are numbered by what these hold, so that no name decides."""
    labels = Labels.join([batch.labels for batch in batches])
    assert labels.group is not None
    times = np.concatenate([batch.times for batch in batches]).astype(np.uint64)
    row, of_class = mixed(np.concatenate(contents)), np.zeros(len(labels.classes), np.uint64)
    np.add.at(of_class, labels.codes, row * times)
    names, group = np.unique(labels.group, return_inverse=True)
    held = np.zeros(len(names), np.uint64)
    np.add.at(held, group, mixed(row + mixed(of_class)[labels.codes]) * times)
    number = np.argsort(np.argsort(held, kind="stable"), kind="stable").astype(np.uint64)[group]
    return relabelled(batches, "group", number)


# --- Rows that look as if they were copied ------------------------------------------------------
#
# Rows are exchangeable: equal ones are as many rows, and one is left out at a time, as new rows
# will be met by what was learned of all. Only groups of rows are left out together.


MANY = 30  # different rows of a class, of which
ALONE = 0.02  # fewer than this share came once, if they are copies:
COMBINED = 2  # times as many as there are can be made of their cells, all columns but one


def classes_of_copies(batches: Sequence[Batch]) -> tuple[Label, ...]:
    """Return the classes whose sampled rows look as if they were copied."""
    copied: dict[Label, None] = {}
    for batch in batches:
        if batch.labels.group is not None:
            continue
        codes = batch.labels.codes
        rows = np.bincount(codes, minlength=len(batch.labels.classes))
        alone = np.bincount(codes, batch.times == 1, len(batch.labels.classes))
        for c in np.flatnonzero((rows >= MANY) & (alone < ALONE * rows)).tolist():
            different = sorted(_different_cells(batch.take(np.flatnonzero(codes == c))))
            if np.log(different[:-1]).sum() >= np.log(COMBINED * rows[c]):
                copied[batch.labels.classes[c].item()] = None
    return tuple(copied)


def warn_of_copies(classes: Sequence[Label]) -> None:
    """Warn of classes whose rows look as if they were copied."""
    warn(
        f"Nearly every row of class {', '.join(map(repr, classes))} came more than once. If rows "
        "were copied, as a rare class is oversampled, the weights are fitted to rows whose "
        "copies were learned, and are too large for new ones: give groups='copies', which "
        "leaves equal rows out together."
    )


def _different_cells(batch: Batch) -> Iterator[int]:
    """Yield how many different cells each column has; a text is made of many."""
    for key, block in batch.blocks.items():
        if key.kind in DERIVED:
            continue
        match block:
            case Dense():
                yield from (len(np.unique(column)) for column in block.values.T)
            case Codes():
                yield from (len(np.unique(column)) for column in block.codes.T)
            case Sparse():
                yield from [2] * len(np.unique(block.indices))
            case Documents():
                yield from [len(block)] * 3

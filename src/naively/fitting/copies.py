"""Equal rows: several that happen to be alike, or one row that came several times.

Leave-one-out asks what a row is taken for where it was not counted. If it was copied, as rare
classes are oversampled, messages are forwarded and templates are filled in, its copies answer. So
equal rows are left out together where so many would hardly coincide by chance, and one by one where
they would, as in a table of few levels.

How probable a row is in its class follows from its cells. It is no more probable than its rarest
cell; and where columns do not repeat each other, it is the product of all. Some do repeat each
other, so that the square root of the product is taken, as weights are shrunk to a half. A number is
as probable as numbers are near it in other rows, over how many could be there by the least step
between two. A text is as probable as its words.

What rows weigh is another thing: that a row weighs 10 does not say that ten were seen. It counts as
such in the tally. But where weights are fitted, a row counts by the square root of what it weighs:
by all of it the few rows that weigh most would decide alone (Shimodaira, Improving predictive
inference under covariate shift by weighting the log-likelihood function, 2000). Of independent rows
that count by u the effective number is (Σ u)² / Σ u² (Kish, Survey sampling, 1965). It is taken
class by class, as a class may have weights of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import VALUE, Words
from naively.counting.block import Batch, Block, Codes, Dense, Sparse
from naively.counting.labels import Labels
from naively.kernels.reference import Floats, hash_numbers
from naively.kernels.sparse_sums import SparseSums, as_sparse
from naively.likelihoods.base import Likelihood
from naively.messages import many
from naively.model.model import Model
from naively.schema.encode import Held
from naively.schema.schema import Group, GroupKey, mixed, of_other_cells

HARDLY = np.log(1e-3)  # the probability that as many equal rows are chance
SHARED = 0.5  # of the evidence of all columns, which may repeat each other
NEARLY = 0.01  # a whole number of steps
FLAT = 0.5  # the power of a row's weight by which it counts where weights are fitted
FINER = 1e-3  # times the least difference, if there is no such step
MOST = 64  # columns of numbers that are looked at: with more a row is only less probable
FEWEST = 3  # words of a text that can be told from others
FEW = 0.02  # of the rows of a class
TINY = 1e-9  # of the texts of a class
LEFT = 5  # different texts of each class, if near copies are one
EQUAL = 1e-9  # rows per weight that differ from 1 by no more do so by rounding


def told_apart(model: Model, batches: Sequence[Batch]) -> list[Batch]:
    """Return rows whose ``times`` are how many independent rows each stands for.

    They are as many as its copies where these may be chance, and else one.

    Parameters
    ----------
    model : Model
        What has learned the rows.
    batches : sequence of Batch
        A sample of them, each once with its copies, by the classes of the model.
    """
    if all(batch.labels.weight is None for batch in batches):
        return list(batches)
    model = model.weighed(None)
    rows = _rows_of_each(model, batches)
    told = [_with_copies(batch, _copied(model, batch, rows)) for batch in batches]
    weight = np.concatenate([batch.labels.weights / batch.times for batch in told])
    if not len(weight) or np.ptp(weight) <= EQUAL * weight.max():
        return told
    return [
        replace(batch, each=np.power(batch.labels.weights / batch.times, FLAT)) for batch in told
    ]


def note_of_near_copies(near: NDArray[np.uint64] | None) -> tuple[str, ...]:
    """Return what is to be said of near copies, by the group of each row, 0 without one."""
    if near is None:
        return ()
    rows, texts = int((near > 0).sum()), many(len(np.unique(near[near > 0])), "text")
    said = (
        f"Near copies: {rows:,} rows are {texts} in other case, spacing, numbers or punctuation; "
        "each is left out with those like it. If they are rows of their own, number them in "
        "groups=."
    )
    return (said,)


def _copied(model: Model, batch: Batch, rows: Floats) -> NDArray[np.int64]:
    """Return the numbers of the rows that have more copies than chance would make.

    ``rows``, of shape (classes,), is how many rows of each class were learned.
    """
    several = np.flatnonzero(batch.times > 1)
    if not len(several):
        return several
    more = batch.times[several] - 1
    expected = np.log(rows[batch.labels.codes[several]]) + _log_chance(model, batch, several)
    # That a Poisson number is k or more has a probability of at most mean^k / k!.
    copied: NDArray[np.int64] = several[more * expected - _log_factorial(more) < HARDLY]
    return copied


def _with_copies(batch: Batch, copied: NDArray[np.int64]) -> Batch:
    """Return the rows, some of which, by their numbers, stand for one row with its copies."""
    if not len(copied):
        return batch
    times = batch.times.copy()
    times[copied] = 1
    return replace(batch, copies=times)


def nearly_equal(
    model: Model, batches: Sequence[Batch], keys: NDArray[np.uint64]
) -> NDArray[np.uint64] | None:
    """Return which rows are near copies of others: the number of each one's group, 0 of the rest.

    Their texts have the same words but for numbers, and all other cells are equal. As with copies,
    they are where so many would hardly coincide by chance; which number there is does not count.
    The result has the shape (rows of all batches,); it is None if there are few in every class, of
    which nothing would show, or if too few rows of a class would be left.

    Parameters
    ----------
    model : Model
        What has learned the rows.
    batches : sequence of Batch
        A sample of them, each once with its copies, by the words of the model.
    keys : ndarray of uint64, of shape (rows of all batches,)
        A number of each that follows from its cells.
    """
    texts = [_WordsOf.of(model, group) for group in model.counted.schema.groups if group.analyser]
    words = [of for of in texts if of is not None]
    if not words or any(batch.labels.group is not None for batch in batches):
        return None  # which rows are alike was said
    group = _of_several(np.concatenate([_by_words(batch, words) for batch in batches]))
    if not group.any():
        return None
    _, of = np.unique(group, return_inverse=True)
    times = np.bincount(of, np.concatenate([batch.times for batch in batches]))
    total, end = _rows_of_each(model, batches), 0
    for batch in batches:
        own = slice(end, end := end + len(batch))
        some = np.flatnonzero(group[own])
        expected = np.log(total[batch.labels.codes[some]]) + _log_share_of_texts(batch, words, some)
        more = times[of[own][some]] - 1
        group[own][some[more * expected - _log_factorial(more) >= HARDLY]] = 0
    group = _of_several(group)
    codes = np.concatenate([batch.labels.codes for batch in batches])
    different = np.where(group > 0, group, np.arange(len(group), dtype=np.uint64))
    left = np.bincount(codes[np.unique(different, return_index=True)[1]])
    share = np.bincount(codes[group > 0], minlength=len(left)) / np.maximum(np.bincount(codes), 1)
    if share.max() < FEW or left[left > 0].min() < LEFT:
        return None
    _, of = np.unique(group, return_inverse=True)
    least = np.full(of.max() + 1, ~np.uint64(0))
    np.minimum.at(least, of, keys)  # not of the numbers of words, which follow from their order
    return np.where(group > 0, least[of] | np.uint64(1), np.uint64(0))


def _of_several(group: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the group of each row, (rows,); 0 of a row that is alone in it."""
    _, of, rows = np.unique(group, return_inverse=True, return_counts=True)
    return np.where(rows[of] > 1, group, np.uint64(0))


@dataclass(frozen=True)
class _WordsOf:
    """The words of a text: a number for each, 0 of numbers, and in how many texts each is."""

    key: GroupKey
    number: NDArray[np.uint64]
    texts: SparseSums
    of_class: Floats

    @classmethod
    def of(cls, model: Model, group: Group) -> _WordsOf | None:
        """Return the words of a text that is counted by words; None if it is not."""
        tally = model.counted.tally
        block = tally.blocks[group.key]
        axis = block.axis
        if not (isinstance(axis, Words) and axis.grows and axis.analyser.single_words):
            return None
        is_number = np.fromiter(
            (word[:1].isdecimal() for word in axis.vocabulary.words()), np.bool_, len(axis)
        )
        number = mixed(np.arange(1, len(axis) + 1, dtype=np.uint64)) | np.uint64(1)
        number[is_number] = 0
        return cls(group.key, number, as_sparse(block.sums[VALUE]), tally.class_count)


def _by_words(batch: Batch, words: Sequence[_WordsOf]) -> NDArray[np.uint64]:
    """Return a number for each row by its words and its other cells; 0 of one with few words."""
    total, length = of_other_cells(batch), np.zeros(len(batch))
    for of in words:
        texts = batch.blocks[of.key].split()
        assert isinstance(texts, Sparse)
        for rows, block in texts.strips():
            row, word, _ = block.entries()
            number = of.number[word]
            there = np.flatnonzero(np.bincount(row, minlength=len(block)))
            first = np.searchsorted(row, there)
            if len(there):
                total[rows][there] += mixed(np.add.reduceat(number, first))
            length[rows] += np.bincount(row, number > 0, len(block))
    return np.where(length >= FEWEST, mixed(total) | np.uint64(1), np.uint64(0))


def _log_share_of_texts(batch: Batch, words: Sequence[_WordsOf], some: NDArray[np.int64]) -> Floats:
    """Return about which share of the texts of their class have the words of some rows: (some,)."""
    rarest, total = np.zeros(len(some)), np.zeros(len(some))
    codes = batch.labels.codes[some].astype(np.int64)
    for of in words:
        row, word, _ = batch.blocks[of.key].select(some).entries()
        plain = of.number[word] > 0
        row, word = row[plain], word[plain]
        c = codes[row]
        # Of rows that were forgotten since, nothing may be left.
        share = np.clip(of.texts.at(word, c) / np.maximum(of.of_class[c], TINY), TINY, 1.0)
        least, every = _summed(row, np.log(share), len(some))
        rarest, total = np.minimum(rarest, least), total + every
    return np.minimum(rarest, SHARED * total)


def notes_of(came: Sequence[Batch], told: Sequence[Batch]) -> tuple[str, ...]:
    """Return what is to be said of sampled rows, as they came and as ``told_apart`` has them."""
    found, each = [], [np.empty(0)]
    copied = copies = 0
    for batch, then in zip(came, told, strict=True):
        more = batch.times > then.times
        copied, copies = copied + int(more.sum()), copies + int(batch.times[more].sum())
        each.append(batch.labels.weights / batch.times)
    if copied:
        found.append(
            f"Copies: {many(copied, 'row')} came {copies:,} times, more often than by chance; each "
            "is left out with its copies, as one row. If they are rows of their own, number them "
            "in groups=."
        )
    weight = np.concatenate(each)
    if len(weight) and np.ptp(weight) > 0 and (weight == np.rint(weight)).all():
        found.append(
            "Weights: they are whole numbers. If they say how many equal rows each row is, give "
            "them as frequencies= instead of sample_weight=."
        )
    return tuple(found)


def in_rows(batches: Sequence[Batch], per: Floats | None) -> list[Batch]:
    """Return rows whose weights are numbers of rows: a weight of 1 is ``per``, (classes,).

    Those of which copies are no rows weigh as much together as with their copies, class by class.
    """
    if per is None and all(batch.each is None for batch in batches):
        return list(batches)
    k = max((batch.labels.k for batch in batches), default=0)
    every, alone = np.zeros(k), np.zeros(k)
    for batch in batches:
        every += np.bincount(batch.labels.codes, batch.labels.weights, k)
        alone += np.bincount(batch.labels.codes, batch.independent.weights, k)
    more = np.divide(every, alone, out=np.ones(k), where=alone > 0)
    more = more if per is None else more * per
    return [
        replace(
            batch,
            labels=batch.labels.times(per),
            each=None if batch.each is None else batch.each * more[batch.labels.codes],
        )
        for batch in batches
    ]


def rows_per_weight(model: Model, batches: Sequence[Batch]) -> Floats | None:
    """Return how many independent rows a weight of 1 is, (classes,); None where it is one.

    Parameters
    ----------
    model : Model
        What has learned the rows.
    batches : sequence of Batch
        A sample of them, whose ``times`` are how many independent rows each stands for.
    """
    k = len(model.classes)
    every, alone, square = np.zeros(k), np.zeros(k), np.zeros(k)
    largest = max((float(b.labels.weights.max(initial=0.0)) for b in batches), default=0.0) or 1.0
    for batch in batches:
        codes, w = batch.labels.codes, batch.independent.weights / largest  # no square overflows
        every += np.bincount(codes, batch.labels.weights / largest, k)
        alone += np.bincount(codes, w, k)
        square += np.bincount(codes, w * w / batch.times, k)
    there = square > 0
    rows = np.divide(alone * alone, square, out=np.ones(k), where=there)
    found = np.divide(rows, every * largest, out=np.ones(k), where=there)
    return None if (np.abs(found - 1.0) <= EQUAL).all() else found


def rows_per_group(model: Model, batches: Sequence[Batch]) -> Floats:
    """Return how many independent rows a row is if those of a group are one, (classes,).

    They are by Kish's rule, of groups and of rows.
    """
    k = len(model.classes)
    labels = Labels.join([batch.independent for batch in batches])
    assert labels.group is not None
    weight = labels.weights / (labels.weights.max(initial=0.0) or 1.0)
    number = np.unique(labels.group, return_inverse=True)[1]
    size = (int(number.max(initial=-1)) + 1) * k
    of_group = np.bincount(number * k + labels.codes, weight, size).astype(np.float64)
    times = np.concatenate([batch.times for batch in batches])
    rows = np.bincount(labels.codes, weight * weight / times, k)
    groups = np.square(of_group.reshape(-1, k)).sum(axis=0)
    found: Floats = np.divide(rows, groups, out=np.ones(k), where=groups > 0)
    return found


def _rows_of_each(model: Model, batches: Sequence[Batch]) -> Floats:
    """Return about how many rows of each class there are, copies too, (classes,)."""
    k = len(model.classes)
    rows, weight = np.zeros(k), np.zeros(k)
    for batch in batches:
        rows += np.bincount(batch.labels.codes, batch.times, k)
        weight += np.bincount(batch.labels.codes, batch.labels.weights, k)
    every = model.counted.tally.class_count
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.nan_to_num(np.maximum(rows, every * (rows / weight)), nan=1.0)


def _log_factorial(n: NDArray[np.int64]) -> Floats:
    """Return log n!, (numbers,)."""
    # SciPy's gammaln takes as long to import as a small table takes to learn.
    numbers, place = np.unique(n, return_inverse=True)
    return np.array([math.lgamma(number + 1) for number in numbers.tolist()])[place]


def _log_chance(model: Model, batch: Batch, some: NDArray[np.int64]) -> Floats:
    """Return the log probability of some rows in their class, by their cells: (some,)."""
    rarest, total = np.zeros(len(some)), np.zeros(len(some))
    for least, every in _of_columns(model, batch, some):
        rarest = np.minimum(rarest, least)
        total += every
    return np.minimum(rarest, SHARED * total)


def _of_columns(
    model: Model, batch: Batch, some: NDArray[np.int64]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the log probabilities of some rows' cells in their class, for some columns at a time.

    They are those of the rarest cell, and of all cells together, both of shape (some,).
    """
    right, schema = batch.labels.codes[some], model.taken.schema
    held = Held(batch, schema.readings)
    texts: dict[object, tuple[Floats, Floats]] = {}
    of_text = Counter(group.columns for group in schema.groups if group.analyser)
    few = model.blocks(model.recode(batch.take(some)).split()) if of_text else {}
    for group in schema.groups:
        if group.is_beside or group.kind == "part":
            continue
        if group.analyser is None:
            yield from _of_cells(group.recode(held, model.taken.axes[group.key]), batch, some)
            continue
        block = few[group.key]
        said = _of_text(model.taken.likelihood_of(group), block, right)
        if of_text[group.columns] == 1 and isinstance(block, Sparse):  # words in any order
            said = said[0], np.minimum(said[1] + _log_orders(block), 0.0)
        _keep_likelier(texts, group.columns, said, block)
    for least, every in texts.values():
        there = np.isfinite(every)  # a missing text may be any
        yield np.where(there, least, 0.0), np.where(there, every, 0.0)


def _of_text(
    likelihood: Likelihood, block: Block, right: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Return the same of texts whose classes are ``right``, (texts,)."""
    least, every = np.zeros(len(block)), np.zeros(len(block))
    for rows, some in block.strips() if isinstance(block, Sparse) else [(slice(None), block)]:
        items, of_class = likelihood.contributions(some), right[rows]
        log_p = np.minimum(items.value[np.arange(len(items.row)), of_class[items.row]], 0.0)
        least[rows], every[rows] = _summed(items.row, log_p, len(of_class))
    return least, every


def _of_cells(
    block: Block, batch: Batch, some: NDArray[np.int64]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the same of a block of numbers or levels of all rows of a batch."""
    match block:
        case Dense():
            for number in block.values.T[:MOST]:
                log_p = _of_numbers(number.astype(np.float64), batch.labels.codes, some)
                yield log_p, log_p
        case Codes():
            for level in block.codes.T:
                log_p = _of_levels(level.astype(np.int64), batch, some)
                yield log_p, log_p
        case Sparse():
            yield _of_stored(block, batch.labels.codes, some)


def _keep_likelier(
    texts: dict[object, tuple[Floats, Floats]],
    column: object,
    said: tuple[Floats, Floats],
    block: Block,
) -> None:
    """Keep what words, or their pairs or parts, say of a text, by which it is most probable."""
    least, every = said
    if isinstance(block, Sparse) and block.absent is not None:
        every = np.where(block.absent, -np.inf, every)
    if column in texts:
        least_before, before = texts[column]
        likelier = every > before
        least, every = np.where(likelier, least, least_before), np.where(likelier, every, before)
    texts[column] = least, every


def _log_orders(block: Sparse) -> Floats:
    """Return the logarithm of how many orders the words of each text can have, (rows,)."""
    row, _, x = block.entries()
    whole = np.rint(x).astype(np.int64)
    all_words = np.bincount(row, whole, len(block)).astype(np.int64)
    return _log_factorial(all_words) - np.bincount(row, _log_factorial(whole), len(block))


def _summed(row: NDArray[np.int64], log_p: Floats, rows: int) -> tuple[Floats, Floats]:
    """Return the log probability of each row's rarest cell, and of all its cells, both (rows,)."""
    least = np.zeros(rows)
    np.minimum.at(least, row, log_p)
    return least, np.bincount(row, log_p, rows).astype(np.float64)


def _of_levels(level: NDArray[np.int64], batch: Batch, some: NDArray[np.int64]) -> Floats:
    """Return the log probabilities of some rows' levels, by the rows of their class: (some,).

    ``level`` is the code of each row of the batch, (rows,), negative where it is missing.
    """
    codes = batch.labels.codes
    key = (level - level.min(initial=0)) * batch.labels.k + codes
    rows = np.bincount(codes, batch.times)[codes[some]]
    found: Floats = np.log(np.bincount(key, batch.times)[key[some]] / rows)
    return found


def _of_stored(
    block: Sparse, codes: NDArray[np.integer], some: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the log probabilities of some rows' stored numbers, by how many rows have each."""
    row, column, x = block.entries()
    key = mixed(hash_numbers(x) + mixed(column.astype(np.uint64)))
    _, number, times = np.unique(
        mixed(key + codes[row].astype(np.uint64)), return_inverse=True, return_counts=True
    )
    log_p = np.log(times[number] / np.bincount(codes)[codes[row]])
    least, every = _summed(row, log_p, len(block))
    return least[some], every[some]


def _of_numbers(x: Floats, codes: NDArray[np.integer], some: NDArray[np.int64]) -> Floats:
    """Return the log probabilities of some rows' numbers among those of their class: (some,).

    ``x`` and ``codes`` are the numbers and classes of all rows, (rows,), which differ.
    """
    step = _step(np.unique(x[np.isfinite(x)]))
    found = np.zeros(len(some))
    for c in np.unique(codes[some]):
        of_class, mine = np.sort(x[codes == c]), np.flatnonzero(codes[some] == c)
        found[mine] = _log_share(x[some[mine]], of_class, step)
    return found


def _step(values: Floats) -> float:
    """Return the step between different numbers, which are ascending.

    It is the least difference, if all are multiples of it. Else it is finer than can be seen.

    >>> _step(np.array([0.0, 0.5, 2.0])), _step(np.array([0.0, 0.5, 1.8])) < 0.001
    (0.5, True)
    """
    gaps = np.diff(values)
    if not len(gaps):
        return np.inf
    step = float(gaps.min())
    times = gaps / step
    return step if (np.abs(times - np.rint(times)) < NEARLY).all() else step * FINER


def _log_share(x: Floats, among: Floats, step: float) -> Floats:
    """Return the log share of equal numbers to be expected; those among which are ascending.

    >>> _log_share(np.array([1.0, 7.0]), np.array([0.0, 1.0, 1.0, 2.0, 7.0]), 1.0).round(2)
    array([-0.92, -2.3 ])
    """
    n, missing = len(among), int(np.isnan(among).sum())
    first, last = (np.searchsorted(among, x, side) for side in ("left", "right"))
    equal = np.where(np.isnan(x), missing, last - first)
    there = max(n - missing, 1)
    near = int(np.ceil(np.sqrt(there)))
    low, high = np.maximum(first - near, 0), np.minimum(last - 1 + near, there - 1)
    low = np.minimum(low, high)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        width = among[high] - among[low]
        share = (high - low) / n * step / width
    share = np.where(width > 0, np.minimum(share, 1.0), 1.0)
    return np.log(np.where(equal > 1, equal / n, np.minimum(share, 1.0)))

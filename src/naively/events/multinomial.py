"""Multinomial event model: a bag of counts, each drawn from the class's one die."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Words
from naively.core.block import Block, Dense, Documents
from naively.core.estimate import flat
from naively.core.event import (
    EventModel,
    How,
    by_row,
    check_alpha,
    check_estimate,
    check_not_negative,
    draw_levels,
    numbers,
)
from naively.core.kernels import Floats
from naively.core.labels import Labels
from naively.core.likelihood import Likelihood
from naively.core.octaves import leave_one_out
from naively.core.polya import Bag, Polya, polya_cells
from naively.core.statistic import PRESENT, VALUE
from naively.core.sums import HAPAX
from naively.core.tally import BlockTally
from naively.events.prior import Dirichlet, leave_one_out_alpha


@dataclass(frozen=True)
class Multinomial(EventModel):
    """Counts of words or of columns: x | class ~ Multinomial(length of the row, p).

    Parameters
    ----------
    alpha : float, "laplace", "jeffreys", "auto" or sequence of float, default 1.0
        Pretend count of each word in each class, one for all columns or one for each: the
        posterior mean under Dirichlet(alpha), which is the mode under Dirichlet(alpha + 1). 1 is
        Laplace's rule, 1/2 Jeffreys's, any other Lidstone's, 0 maximum likelihood. "auto" is the
        one under which each single count is best foretold by the rest.
    prior : Dirichlet, optional
        Instead of ``alpha``; a vector is in the order of the columns.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; "predictive" integrates them out, for each row
        as a whole (Pólya's urn, the Dirichlet-multinomial), so that a word seen once in a row
        is expected there again.

    Notes
    -----
    McCallum & Nigam (1998); Manning, Raghavan & Schütze, Introduction to Information Retrieval
    (2008), section 13.2; Madsen, Kauchak & Elkan, Modeling word burstiness using the Dirichlet
    distribution (2005). A word that was never seen in training is left out.

    Examples
    --------
    >>> from naively import Multinomial, NaiveBayes
    >>> nb = NaiveBayes(event_models=Multinomial()).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> nb.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    alpha: float | str | Sequence[float] = 1.0
    prior: Dirichlet | None = None
    estimate: How = "mean"
    name = "multinomial"
    statistics = (PRESENT, VALUE)
    joined = True

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha, named=True, auto=True)
        check_estimate(self.estimate)

    @property
    def integrates(self) -> bool:
        """Whether the probabilities are integrated out."""
        return self.estimate == "predictive"

    def prepare(self, block: Block) -> Block:
        check_not_negative(block, "Multinomial")
        return block

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        return {"p": np.exp(self.log_probabilities(tally, how))}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.integrates:
            return Polya(self._counts(tally, "mean"))
        return Bag(slope=self.log_probabilities(tally, self.estimate))

    def n_parameters(self, tally: BlockTally) -> int:
        words, classes = tally[VALUE].shape
        return max(words - 1, 0) * classes

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Block:
        """Draw rows as long as those of their class on average (Poisson), word by word."""
        value, rows = tally[VALUE].high, tally[PRESENT].high
        mean = np.divide(value, rows, out=np.zeros_like(value), where=rows > 0).sum(axis=0)
        length = rng.poisson(mean[classes])
        row = np.repeat(np.arange(len(classes)), length)
        count = self._counts(tally, self.estimate)
        if self.integrates:
            drawn = _draw_from_urns(count, classes, length, rng)
        else:
            drawn = draw_levels(count, classes[row], rng)
        if isinstance(tally.axis, Words):
            words = tally.axis.writable[drawn]
            ends = np.cumsum(length)
            texts = [" ".join(words[end - n : end]) for n, end in zip(length, ends, strict=True)]
            return Documents([*texts], tally.axis)
        shape = len(classes), len(value)
        cell = np.bincount(row * len(value) + drawn, minlength=shape[0] * shape[1])
        return numbers(cell.reshape(shape).astype(np.float64), tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.dirichlet(flat(tally[VALUE].high + self._pretend(tally, "mean")))

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.multinomial(1, flat(self.parameters(tally, "mean")["p"]))

    def log_probabilities(self, tally: BlockTally, how: How) -> Floats:
        """Return log p of each word and class; 0 for what says nothing."""
        unrecorded = ~(tally[PRESENT].high > 0).any(axis=1)
        log_p = self._counts(tally, how)
        total = log_p.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log(log_p, out=log_p)
            log_p -= np.log(total)
        # A column never recorded, and a class without any counts, say nothing.
        log_p[np.broadcast_to(unrecorded, len(log_p))] = 0.0
        log_p[:, total == 0] = 0.0
        return log_p

    def leave_one_out(self, tally: BlockTally, block: Block, labels: Labels) -> Floats:
        """Return the log likelihood of each row as if it had not been counted, (rows, 1, classes).

        A word (or a dense column) that no other row holds goes with the row, as if never seen.
        """
        row, item, x = block.entries()
        weight = np.ones(len(block)) if labels.weight is None else labels.weight
        own = labels.take(row).one_hot() * x[:, None]
        count = tally[VALUE].high[item]
        alone = np.zeros(len(row), np.bool_)
        if tally.axis.grows:
            alone = count.sum(axis=1) - own.sum(axis=1) <= HAPAX
        count = np.maximum(count - own, 0.0)
        total = np.tile(tally[VALUE].high.sum(axis=0), (len(block), 1))
        np.subtract.at(total, row, own)
        recorded = (tally[PRESENT].high > 0).any(axis=1, keepdims=True)
        pretend = np.where(recorded, self._pretend(tally, self.estimate), 0.0)
        pretend = np.broadcast_to(pretend, (len(tally.axis), 1))[:, 0]
        of_all = np.full(len(block), pretend.sum())
        np.subtract.at(of_all, row[alone], pretend[item[alone]])
        if isinstance(block, Dense):  # a column that only this row records goes too
            cell = np.nonzero(~np.isnan(block.values))
            left = tally[PRESENT].high.sum(axis=1)[cell[1]] - weight[cell[0]]
            gone = cell[0][left <= HAPAX], cell[1][left <= HAPAX]
            np.subtract.at(of_all, gone[0], pretend[gone[1]])
            alone = tally[PRESENT].high.sum(axis=1)[item] - weight[row] <= HAPAX
        if self.integrates:
            length = np.bincount(row[~alone], x[~alone], len(block))[row]
            every = total[row] + of_all[row, None]
            evidence = polya_cells(
                x, count + pretend[item, None], every, np.maximum(length, 1e-300)
            )
        else:
            evidence = x[:, None] * self._log_shares(
                count, total[row], pretend[item, None], of_all[row, None]
            )
        evidence[alone] = 0.0
        joint = np.zeros((len(block), 1, labels.k))
        np.add.at(joint[:, 0], row, evidence)
        return joint

    def adds_words(self, block: Block) -> bool:
        """Whether the evidence of a row is the sum of that of the words of a text."""
        return isinstance(block, Documents) and not self.integrates and type(self) is Multinomial

    def leave_one_out_by_word(
        self, tally: BlockTally, block: Documents, labels: Labels
    ) -> tuple[Floats, Floats]:
        """Return what ``naively.core.octaves.leave_one_out`` does."""
        count = tally[VALUE].high
        pretend = np.broadcast_to(self._pretend(tally, self.estimate), (len(count), 1))
        return leave_one_out(count, pretend[:, 0], block, labels)

    def _log_shares(self, count: Floats, total: Floats, pretend: Floats, of_all: Floats) -> Floats:
        """Return log p of words from their counts and those of all words, real and pretend."""
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total + of_all
            return np.where(total > 0, np.log(count + pretend) - np.log(total), 0.0)

    def _counts(self, tally: BlockTally, how: How) -> Floats:
        """Return the counts, pretend ones among them; none of a column never recorded."""
        unrecorded = ~(tally[PRESENT].high > 0).any(axis=1)
        counts: Floats = tally[VALUE].high + self._pretend(tally, how)
        counts[np.broadcast_to(unrecorded, len(counts))] = 0.0
        return counts

    def _pretend(self, tally: BlockTally, how: How) -> Floats:
        if self.prior is not None:
            return by_row(self.prior.pretend(how))
        if self.alpha == "auto" and how != "mle":
            return by_row(leave_one_out_alpha(tally[VALUE].high))
        return by_row(0.0 if how == "mle" else self.alpha)


def _draw_from_urns(
    count: Floats, classes: NDArray[np.integer], length: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw words row by row, each row from a die of its own."""
    drawn = [np.empty(0, np.int64)]
    for c, n in zip(classes.tolist(), length.tolist(), strict=True):
        size = rng.gamma(count[:, c])
        drawn.append(rng.choice(len(size), n, p=size / size.sum() if size.sum() > 0 else None))
    return np.concatenate(drawn)

"""What leaves with noise in its counts: a model that hardly shows whether any row was learned."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from naively.counting.noise import random_below
from naively.estimators.checks import Seed, check_is_fitted
from naively.estimators.in_database import SqlLearner
from naively.estimators.options import learner_of
from naively.model.added_noise import AddedNoise
from naively.model.privacy import with_noise


class Noisy(SqlLearner):
    """A classifier that can give away its counts with noise in them."""

    def with_noise(
        self, epsilon: float, delta: float = 0.0, *, resolution: int = 3, random_state: Seed = None
    ) -> Self:
        """Return a new model whose counts are noisy, so that they hardly tell of any one row.

        This model stays as it is. The new one has (epsilon, delta)-differential privacy: with one
        row more or less, any outcome is at most exp(epsilon) times as probable, and delta more.
        It holds no sample of rows, no weights, no linear part and no interactions, which are
        fitted to rows or chosen by them; who receives it may fit weights to rows of its own
        (``calibrate(X, y)``). Missing cells are no evidence in it.

        Parameters
        ----------
        epsilon : float
            From 1e-6 to 100: the less, the more noise. 1 is usual.
        delta : float, default 0.0
            From 0 to less than 1, and much less than one over the number of rows. It pays for
            knowing which levels, cells and words there are, unless all of them are declared.
        resolution : int, default 3
            Numbers are counted in 2**resolution cells from each power of two to the next, which
            must not depend on the rows. More cells show more, and each holds fewer rows.
        random_state : int, Generator or None, default None
            Where the noise comes from; None is the operating system. A seed is for tests: who
            knows it can take the noise away.

        Returns
        -------
        noisy : NaiveBayes
            Fitted; ``noise_`` says what was added.

        Raises
        ------
        ValueError
            If what a row changes has no bound: sums of numbers (of Gaussian, Poisson and
            other such columns), and texts that were not learned with ``Text(max_tokens=...)``; if
            counts are not of whole rows, after weights, ``decay`` or rows without labels; if
            a column was counted in coarser cells than ``resolution``; or if delta is 0 where
            it is needed. The message names the column.

        Notes
        -----
        The unit of privacy is one row, added or removed; a row of weight 2 is two rows. Public are
        the names of columns, the class labels, and what each column is counted as: give
        ``event_models`` rather than let the rows choose them, if even that must not depend on them.
        That the request is refused is not hidden either.

        A row adds 1 to its class count, 1 to one level, cell or truth of each column, and 1 to
        the texts and to as many words of a text as ``max_tokens`` says. All of that together is the
        sensitivity. Noise is discrete Laplace or discrete Gaussian, whichever has the smaller
        deviation, times the threshold if there is one (with delta = 0, Laplace), drawn exactly
        (Ghosh, Roughgarden & Sundararajan 2009; Canonne, Kamath & Steinke 2020). A level, cell or
        word that is not declared is kept if its greatest noisy count in the classes reaches the
        threshold t with c · K · P(noise ≥ t - 1) ≤ d / (1 + d), for c columns (or words of a
        text), K classes and the delta d that is left for it: half of it, or all with Laplace noise
        (Korolova et al. 2009; Wilson et al. 2020). Of several noisy models of different rows each
        row is hidden as well as in one; epsilons and deltas of the same rows add up.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import Categorical, NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> y = np.where(rng.random(3000) < 0.4, "ill", "well")
        >>> cough = np.where(rng.random(3000) < np.where(y == "ill", 0.7, 0.2), "yes", "no")
        >>> nb = NaiveBayes(Categorical(levels=["yes", "no"])).fit({"cough": cough}, y)
        >>> noisy = nb.with_noise(epsilon=1.0, random_state=0)
        >>> print(noisy.noise_[0])
        noise: epsilon 1, delta 0, discrete Laplace of standard deviation 2.8
        >>> nb.class_count_, noisy.class_count_
        (array([1219., 1781.]), array([1218., 1782.]))
        """
        check_is_fitted(self)
        if self._counts_unlabelled:
            raise ValueError(
                "Rows without a label count here, by what all other rows say of them, so that one "
                "row may change all counts; learn labelled rows alone."
            )
        seed = random_state
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**63))
        of = self.model_, float(epsilon), float(delta), random_below(seed), int(resolution)
        kind: Any = type(self)
        noisy: Self = learner_of(kind, with_noise(*of))
        return noisy

    @property
    def noise_(self) -> tuple[AddedNoise, ...]:
        """The noise in the counts; of merged models, that of each which has some."""
        return self._fitted.noise

"""Likelihood, prior, posterior and evidence of parameters, given a plain sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from naively.counting.axis import Level, Levels
from naively.events.estimates.counted import Counted
from naively.events.estimates.shown import log_density
from naively.events.prior import Dirichlet, Prior
from naively.kernels.reference import Floats
from naively.options import How

if TYPE_CHECKING:
    from naively.events.estimate import Sample
    from naively.events.estimates.shown import Given


class Densities(Counted):
    """The log densities of a sample and of the parameters that it may have come from, in nats."""

    def log_likelihood(self, sample: Sample) -> float:
        """Return log p(sample) under the estimate that the model is set to, in nats."""
        block = self.event.prepare(self.event.encode(sample, self.tally.axis))
        likelihood, none = self.event.likelihood(self.tally), np.zeros(1)
        joint = likelihood.log_prob(block, none, "joint", none)
        return float(joint.sum() + likelihood.log_base(block).sum())

    def log_likelihood_at(self, **parameters: Given) -> Floats | float:
        """Return log p(sample) at given parameters (see ``Estimable.log_likelihood_at``)."""
        self._check_estimated("sample")
        return _plain(self._log_likelihood(self.event.read(parameters, self.tally)))

    def log_prior_at(self, **parameters: Given) -> Floats | float:
        """Return the log density of the prior at given parameters, in nats."""
        return _plain(self._log_density(self.proper_prior, parameters))

    def log_posterior_at(self, **parameters: Given) -> Floats | float:
        """Return the log density of the posterior at given parameters, in nats.

        That of probabilities of several levels is with respect to all of them but one.
        """
        return _plain(self._log_density(self.updated, parameters))

    def log_joint_at(self, **parameters: Given) -> Floats | float:
        """Return log p(sample | parameters) + log p(parameters), which is greatest at the mode.

        It is the log posterior plus the log evidence.

        Examples
        --------
        >>> from naively import Bernoulli, Beta
        >>> coin = Bernoulli(prior=Beta(2, 2)).fit([1, 1, 0])
        >>> round(coin.log_joint_at(p=0.6) - coin.log_posterior_at(p=0.6), 9)
        -2.302585093
        >>> round(coin.log_evidence, 9)
        -2.302585093
        """
        self._check_estimated("sample")
        read = self.event.read(parameters, self.tally)
        return _plain(self._log_likelihood(read) + self._log_density(self.proper_prior, parameters))

    @property
    def log_evidence(self) -> float:
        """Log p(sample), the marginal likelihood: the parameters are integrated out, in nats.

        The prior must be proper, and conjugate. The sample is ordered, but rows of counts have
        their multinomial coefficient.

        Raises
        ------
        ValueError
            If there is no proper conjugate prior.

        Notes
        -----
        By Bayes' rule it is the log joint less the log posterior, at any parameters (Chib,
        Marginal likelihood from the Gibbs output, 1995); here at the mean of the posterior. A
        prior that was itself taken from the sample (pretend rows at its mean) makes it too large.
        """
        prior, posterior = self.proper_prior, self.updated
        at = {name: np.asarray(table)[:, 0] for name, table in self._tables("mean").items()}
        if self.is_scalar:
            at = {name: of[0] for name, of in at.items()}
        joint = self._log_likelihood(at) + self._sum(log_density(prior, at))
        return float(joint - self._sum(log_density(posterior, at)))

    def log_bayes_factor(self, other: Densities | None = None, **parameters: Given) -> float:
        """Return how much more probable this model makes the sample than another does, in nats.

        Parameters
        ----------
        other : Estimate, optional
            Another event model or prior, fitted to the same sample.
        **parameters : float, array-like or mapping
            Instead of it, the one hypothesis that the parameters are these, by name.

        Returns
        -------
        log_bayes_factor : float
            log p(sample | this) - log p(sample | the other): above 0 it speaks for this model.
            Its exponential is the Bayes factor.

        Raises
        ------
        ValueError
            If there is no proper conjugate prior, if the other is of another sample size, or if
            both or neither of another model and parameters are given.

        Notes
        -----
        Kass & Raftery, Bayes factors (1995). What is compared must have the same measure: the
        density of a number is no probability of a count.

        Examples
        --------
        >>> from naively import Bernoulli
        >>> unknown = Bernoulli().fit([1] * 8 + [0] * 2)
        >>> round(np.exp(-unknown.log_bayes_factor(p=0.5)), 4) == round(495 / 1024, 4)
        np.True_
        """
        if (other is None) == (not parameters):
            raise ValueError("Compare with another estimate, or with parameters, by their names.")
        if other is None:
            return self.log_evidence - float(np.asarray(self.log_likelihood_at(**parameters)))
        if not np.array_equal(self.n, other.n):
            raise ValueError(
                f"A Bayes factor is of one sample, and these are of {self.n} and {other.n} values."
            )
        return self.log_evidence - other.log_evidence

    @property
    def updated(self) -> Prior:
        """The posterior as a prior of what comes next."""
        self.proper_prior  # noqa: B018  (or the error that there is none)
        found = self.event.updated(self.tally)
        assert found is not None
        return found

    @property
    def proper_prior(self) -> Prior:
        """The prior, or the error that there is no proper one."""
        self._check_estimated("posterior")
        prior = self.prior
        if prior is None:
            raise ValueError(
                f"{type(self.event).__name__} has no proper conjugate prior here, so that there is "
                "no evidence and no density of the posterior; give a prior, or a pseudo-count "
                "above 0."
            )
        if not self.event.space:
            self.event.log_likelihood_of(self.tally, {})  # says that there is none
        if "mean" in self.event.space and len(self.tally.axis) > 1:
            raise ValueError(
                "Each column of numbers has a prior of its own; estimate one column at a time."
            )
        return prior

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that are not known."""
        return self.event.free

    def unknown(self, how: How) -> list[Level]:
        """Return the parameters of one column that are not known, or its levels."""
        of_levels = isinstance(self.tally.axis, Levels)
        names = list(self.points(how))
        if of_levels:
            return names if len(names) > 1 else []  # one level has the probability 1
        return [name for name in names if name in self.free]

    @property
    def is_scalar(self) -> bool:
        """Whether each parameter is one number, rather than one for each column or level."""
        return len(self.tally.axis) == 1 and not isinstance(self.tally.axis, Levels)

    def _log_likelihood(self, parameters: Mapping[str, Floats]) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.event.log_likelihood_of(self.tally, parameters) + self._log_base

    def _log_density(self, prior: Prior, given: Mapping[str, Given]) -> Floats:
        parameters = self.event.read(given, self.tally)
        return self._sum(log_density(prior, parameters))

    def _sum(self, density: Floats) -> Floats:
        """Sum the log densities of several columns' parameters."""
        several = not self.is_scalar and not isinstance(self.prior, Dirichlet)
        return np.asarray(density.sum(axis=-1) if several else density)


def _plain(values: Floats) -> Floats | float:
    return float(values) if values.ndim == 0 else values

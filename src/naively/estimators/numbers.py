"""The numbers of a fitted model: parameters, likelihoods, dependence, what speaks most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively.counting.labels import RowWeight, Target, encode_labels
from naively.data.frames import Table, read_labels
from naively.data.rows import Rows
from naively.estimators.answers import Answers
from naively.model.likelihood import log_likelihood

if TYPE_CHECKING:
    from naively.evaluation.dependence import Dependence
    from naively.events.estimates.outcomes import Names, Probabilities
    from naively.model.parameter_counts import ParameterCounts
    from naively.model.parameters import Estimated, Parameters
    from naively.model.strongest import Strongest


class Numbers(Answers):
    """The numbers behind a fitted model, as results that print, tabulate and plot."""

    def log_likelihood(self, X: Table, y: Target, sample_weight: RowWeight = None) -> float:
        """Return log p(X, y), the log likelihood of labelled rows under the model, in nats.

        Parameters
        ----------
        X, y
            As for ``evaluate``.
        sample_weight : array-like of shape (rows,), optional
            How often each row counts; by default once.

        Returns
        -------
        log_likelihood : float
            The sum over the rows of log p(label) + log p(row | label), the base measure included.

        Raises
        ------
        ValueError
            If a row has a label that the model does not know.

        Notes
        -----
        Maximum likelihood parameters make it as large as it can be on the rows that were learned.
        It is of the event models and the class prior: weights and interactions have no part in it.

        Examples
        --------
        >>> import math
        >>> from naively import NaiveBayes
        >>> X, y = [[True], [True], [False]], ["a", "a", "b"]
        >>> nb = NaiveBayes("bernoulli", estimate="mle", smoothing=0.0).fit(X, y)
        >>> round(nb.log_likelihood(X, y), 12) == round(2 * math.log(2 / 3) + math.log(1 / 3), 12)
        True
        """
        rows, labels = self._with_labels(X, y)
        return log_likelihood(self._checked, rows, encode_labels(labels, sample_weight))

    def log_evidence(self, X: Table, y: Target, sample_weight: RowWeight = None) -> float:
        """Return log p(X | y), the marginal likelihood: no parameter is known, in nats.

        Parameters
        ----------
        X, y, sample_weight
            As for ``log_likelihood``. They are counted alone, by the event models and priors of
            this model; what it has learned has no say.

        Returns
        -------
        log_evidence : float
            Of the rows given their labels, summed over classes and columns.

        Raises
        ------
        ValueError
            If a column has an event model without a proper conjugate prior; it names the column.

        Notes
        -----
        The difference between two models is the log of their Bayes factor, which weighs a better
        fit against more parameters (Kass & Raftery, Bayes factors, 1995). Priors that are pretend
        rows at a column's mean are taken from the rows themselves, so that they favour the model a
        little.

        Examples
        --------
        >>> import math
        >>> from naively import Bernoulli, NaiveBayes
        >>> X, y = [[True], [True], [False]], ["a", "a", "b"]
        >>> nb = NaiveBayes(Bernoulli(), weights=None).fit(X, y)
        >>> round(math.exp(nb.log_evidence(X, y)), 9) == round(1 / 3 * 1 / 2, 9)
        True
        """
        from naively.model.evidence import log_evidence

        rows, labels = self._with_labels(X, y)
        return log_evidence(self._checked, rows, encode_labels(labels, sample_weight))

    def dependence(self, n: int = 20) -> Dependence:
        """Test the naive Bayes assumption: which columns depend on each other, given the class.

        Parameters
        ----------
        n : int, default 20
            How many pairs of columns to return; all are tested.

        Returns
        -------
        dependence : Dependence
            Pairs of columns, or of words of a text, strongest first: their conditional mutual
            information given the class, in nats, what chance alone makes of it, and how probable as
            much is by chance. ``plot()`` draws the strongest.

        Raises
        ------
        ValueError
            If there is no sample of the learned rows in memory; it says how to keep one.

        Notes
        -----
        On n rows 2 n times the mutual information of independent columns has a chi-squared
        distribution (the G-test), so that it is degrees of freedom / 2 n on average. Numbers are
        cut into bins within each class, of five rows or more in a pair of bins on average; of
        categories the 11 commonest are told apart; of a text, whether it holds each of the 300
        commonest words. Pairs are sorted by what they have above chance. The sample is that of
        ``assess``; rows where either cell is missing are left out. Chow & Liu (1968); Friedman,
        Geiger & Goldszmidt, Bayesian network classifiers (1997).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> X, y = load_iris(return_X_y=True)
        >>> print(str(NaiveBayes().fit(X, y).dependence()).splitlines()[0])
        6 of 6 pairs depend on each other more than chance, given the class (p < 0.05 / 6).
        """
        from naively.evaluation.dependence import dependence

        model = self._checked
        if self._sample is None:
            raise ValueError(
                "Dependence is tested on a sample of the learned rows, and none is in memory: keep "
                "it in the file with save(path, sample=True), or `naively train --sample`; after "
                "forget and decay fit again."
            )
        return dependence(model, self._sample, n)

    def parameters(
        self, how: Estimated | None = None, column: str | int | None = None
    ) -> Parameters:
        """Return every parameter of the model, with what was counted behind it.

        Parameters
        ----------
        how : {"mle", "map", "mean"}, optional
            Which estimate; by default each event model's own.
        column : str or int, optional
            Only the parameters of this column; ``"class prior"`` is that of the classes.

        Returns
        -------
        parameters : Parameters
            A table of class, column, item, parameter, value, count and pseudo_count;
            ``strongest(n)`` are those that tell the classes apart most.

        Raises
        ------
        ValueError
            If there is no such estimate or column.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian", smoothing=0.0).fit([[1.0], [3.0], [7.0]], ["a", "a", "b"])
        >>> nb.parameters(column="x0").to_dict()["value"]
        [2.0, 7.0, 1.0, 0.0]
        """
        from naively.model.parameters import parameters

        return parameters(self._checked, how, column)

    def parameter_counts(self) -> ParameterCounts:
        """Count the parameters, with the naive Bayes assumption and without it, by column.

        Returns
        -------
        counts : ParameterCounts
            With ``n_parameters``, ``n_joint_parameters``, and both by column; ``plot()`` draws how
            they grow with the number of columns.

        Notes
        -----
        M booleans and two classes have 2M + 1 free parameters with the assumption, 2(2ᴹ - 1) + 1
        without it (Mitchell, Generative and Discriminative Classifiers: Naive Bayes and Logistic
        Regression, 2017).

        Examples
        --------
        >>> import numpy as np
        >>> from naively import NaiveBayes
        >>> X = np.arange(2000).reshape(2, 1000) % 3 == 0
        >>> counts = NaiveBayes(weights=None).fit(X, [0, 1]).parameter_counts()
        >>> counts.n_parameters, counts.n_joint_parameters
        (2001, about 2^1001)
        """
        from naively.model.parameter_counts import parameter_counts

        return parameter_counts(self._checked)

    def strongest(self, n: int = 10) -> Strongest:
        """Return what speaks most for each class against all others together.

        Parameters
        ----------
        n : int, default 10
            How many items of each class.

        Returns
        -------
        strongest : Strongest
            A table of class, column, value (a word, a level, or a number that is usual in the
            class) and weight of evidence in nats; ``plot()`` draws it. The first item of a class
            is what its rows gain most from on average: its weight times how often it came there.
            What speaks against the class is left out.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> texts, y = ["cheap pills", "lunch at noon", "cheap watches"], ["spam", "ham", "spam"]
        >>> NaiveBayes(text="words", weights=None).fit(texts, y).strongest(1).to_dict()["value"]
        ['lunch', 'cheap']
        """
        from naively.model.strongest import strongest_of

        return strongest_of(self._checked, n)

    def marginal(self, columns: Names) -> Probabilities:
        """Return the probabilities of the values of some columns, where the model is a joint table.

        Parameters
        ----------
        columns : str, int or sequence of these
            Names of columns, or their numbers from 0, and ``"class"`` for the label; all others are
            summed over.

        Returns
        -------
        probabilities : Probabilities
            A table that sums to 1.

        Raises
        ------
        ValueError
            If the model is no ``JointTable``, or there is no such column.

        Examples
        --------
        >>> from naively import JointTable, NaiveBayes
        >>> sky, y = {"sky": ["blue", "blue", "grey"]}, ["dry", "wet", "wet"]
        >>> NaiveBayes(JointTable(alpha=0)).fit(sky, y).marginal("sky")
        sky   probability
        blue     0.666667
        grey     0.333333
        """
        from naively.model.joint import joint_outcomes

        return joint_outcomes(self._checked).marginal(columns)

    def conditional(self, of: Names, given: Names) -> Probabilities:
        """Return the probabilities of columns given others, where the model is a joint table.

        Parameters
        ----------
        of, given : str, int or sequence of these
            As for ``marginal``.

        Returns
        -------
        probabilities : Probabilities
            They sum to 1 for each combination of what is given.

        Raises
        ------
        ValueError
            As for ``marginal``.

        Examples
        --------
        >>> from naively import JointTable, NaiveBayes
        >>> sky, y = {"sky": ["blue", "blue", "grey"]}, ["dry", "wet", "wet"]
        >>> NaiveBayes(JointTable(alpha=0)).fit(sky, y).conditional(of="class", given="sky")
        sky   class  probability
        blue  dry            0.5
        blue  wet            0.5
        grey  dry              0
        grey  wet              1
        """
        from naively.model.joint import joint_outcomes

        return joint_outcomes(self._checked).conditional(of, given)

    def _with_labels(self, X: Table, y: Target) -> tuple[Rows, Target]:
        """Read rows and their labels, which may be one of their columns."""
        rows = self._rows(X)
        return rows.split(y) if isinstance(y, str) else (rows, read_labels(y))

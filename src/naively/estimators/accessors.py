"""What can be asked of a fitted estimator beside predictions, behind three names.

``nb.inspect`` looks at what was learned, ``nb.curve`` at how good it is by what it was given, and
``nb.export`` writes it for other programs. Each completes with Tab, and prints what it offers. All
of it is functions of a model and a sample of its rows, which are imported when they are called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.assess.scores import check_to_score
from naively.counting.block import Batch
from naively.counting.labels import Label, LabelArray, Labels, RowWeight, Target, encode_labels
from naively.data.columns import Rows
from naively.data.frames import Table, refuse_on_cluster
from naively.data.stream import Stream
from naively.estimators.learned import Learned, as_now
from naively.events.prior import Seed
from naively.kernels.reference import Floats
from naively.model.model import History, Model
from naively.options import Weighting

if TYPE_CHECKING:
    from naively.assess.curves import LearningCurve, Sizes, SmoothingCurve
    from naively.assess.dependence import Dependence
    from naively.assess.prequential import DecayCurve, Follow
    from naively.assess.refits import Named
    from naively.events.outcomes import Names, Probabilities
    from naively.inspect.column import ColumnView
    from naively.inspect.difference import Difference
    from naively.inspect.drift import Drift
    from naively.inspect.explain import ClassImages
    from naively.inspect.graph import NaiveGraph
    from naively.inspect.odds import Nomogram, Strongest
    from naively.inspect.parameters import Estimated, Linear, ParameterCounts, Parameters
    from naively.inspect.regions import Regions
    from naively.inspect.rules import Rules


class Fitted(Protocol):
    """What is known of the estimator that is asked: its model, its sample, how it reads rows."""

    _learned: Learned

    @property
    def target_(self) -> str: ...

    @property
    def history_(self) -> History: ...

    @property
    def _checked(self) -> Model: ...

    @property
    def _kind(self) -> Weighting | None: ...

    def _calibrated(self) -> Model: ...

    def _rows(self, X: Table) -> Rows: ...

    def _with_labels(self, X: Table, y: Target) -> tuple[Rows, Target]: ...

    def _stream(self, X: Table) -> Stream | None: ...

    def _table(self, rows: Rows) -> Table: ...

    def _count(self, X: Table, y: Target, *, weighted: bool) -> tuple[Batch, Model]: ...

    def _beside(
        self, X: Table, given: Mapping[str, Target]
    ) -> tuple[Table, dict[str, Named | None]]: ...

    def _learner(self, model: Model) -> Any: ...


R = TypeVar("R")


def naming_target(found: R, target: str) -> R:
    """Return a result that knows the name of the column that is predicted."""
    return cast("R", replace(cast("Any", found), target=target))


class Accessor(ABC):
    """Questions to one estimator, which are listed by ``print`` and completed by Tab."""

    @property
    @abstractmethod
    def _name(self) -> str:
        """What an estimator calls it."""

    def __init__(self, estimator: Fitted) -> None:
        self._estimator = estimator

    def __getattribute__(self, name: str) -> Any:
        """Return a question to the estimator as it is now, whatever it learns meanwhile."""
        now = self if name.startswith("_") else type(self)(as_now(self._estimator))
        return object.__getattribute__(now, name)

    @property
    def _model(self) -> Model:
        return self._estimator._checked

    def _sampled_batches(self) -> list[Batch]:
        """Return a sample of the rows that were learned, encoded; none where none is kept."""
        sample = self._estimator._learned.sample
        return [] if sample is None else sample.of(self._model).batches

    def _encoded(self, X: Table, y: Target, *, levels: bool = False) -> Batch:
        """Encode labelled rows that were not learned, as the rows learned were counted."""
        # With ``levels`` those that were never learned are told apart.
        model = self._model
        rows, labels = self._estimator._with_labels(self._whole(X), y)
        right = encode_labels(labels)
        check_to_score(len(rows), right)
        axes = None if levels else model.counted.tally.axes
        return model.counted.schema.encode(rows, right, axes)

    def _whole(self, X: Table) -> Table:
        """Return a table that is in memory; any other is read."""
        stream = self._estimator._stream(X)
        return X if stream is None else stream.read()

    def __repr__(self) -> str:
        offered = {of: verb for of, verb in vars(type(self)).items() if not of.startswith("_")}
        width = max(map(len, offered)) + 2
        said = {of: (verb.__doc__ or "").strip().partition("\n")[0] for of, verb in offered.items()}
        lines = [f"{of + '()':{width}}  {first}" for of, first in said.items()]
        return "\n".join([f"{type(self._estimator).__name__}.{self._name}", *lines])


A = TypeVar("A", bound=Accessor)


class Door(Generic[A]):
    """What leads from an estimator to an accessor, and from its class to the accessor's class.

    So ``help(NaiveBayes.inspect.column)`` finds what it says, as the pages of the reference do.
    """

    def __init__(self, kind: type[A]) -> None:
        self._kind = kind
        self.__doc__ = kind.__doc__

    @overload
    def __get__(self, estimator: None, owner: type) -> type[A]: ...

    @overload
    def __get__(self, estimator: Fitted, owner: type) -> A: ...

    def __get__(self, estimator: Fitted | None, owner: type) -> type[A] | A:
        return self._kind if estimator is None else self._kind(estimator)


class Inspect(Accessor):
    """What a fitted model looks like: columns, regions, parameters, what speaks most."""

    _name = "inspect"

    def column(
        self, column: str | int, *, weighted: bool = False, at: ArrayLike | None = None
    ) -> ColumnView:
        """Return what one column looks like in each class: p(x | class), without weights.

        Parameters
        ----------
        column : str or int
            Its name, or its place in the table. Parts of times are columns too, such as "date
            (hour)", and so are derived columns, such as "closed - opened", as a histogram of the
            rows in memory.
        weighted : bool, default False
            Whether to multiply by the class priors, so that the curves are the joint p(x, class).
        at : array-like of shape (numbers,), optional
            Numbers to compute densities at; by default those of the 0.5 % to 99.5 % range.

        Returns
        -------
        view : ColumnView
            For numbers the densities (or the probabilities of counts), over a histogram of the
            learned numbers if these were counted in cells or are in memory; for levels their
            probabilities; for a text the words with most evidence for each class. It has ``plot``.

        Raises
        ------
        ValueError
            If there is no such column; it lists those that there are.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X = {"legs": [2.0, 4.0, 4.0, 2.0], "coat": ["feathers", "fur", "fur", "fur"]}
        >>> nb = NaiveBayes({"legs": "poisson"}).fit(X, ["bird", "cat", "cat", "bird"])
        >>> print(nb.inspect.column("legs"))
        legs: probability by class (poisson), 5 points from 1 to 5
          'bird': highest at 2 (0.264)
          'cat': highest at 3 (0.21)
        >>> nb.inspect.column("coat").to_dict()["level"][:2]
        ['feathers', 'feathers']
        """
        from naively.inspect.column import column_view
        from naively.inspect.one_column import made_of_two

        batches = self._sampled_batches()
        model = self._model
        if (made := made_of_two(model, column, batches)) is not None:
            model, column = self._one_number(str(column), *made).model_, 0
        view = column_view(model, column, batches * (made is None), weighted=weighted, at=at)
        return naming_target(view, self._estimator.target_)

    def _one_number(self, name: str, x: Floats, code: NDArray[np.int32], weight: Floats) -> Any:
        """Return an estimator that has learned one column of numbers, each of a class."""
        there, place = np.unique(code, return_inverse=True)
        p = np.exp(self._model.class_log_prior[there])
        kind: Any = type(self._estimator)
        one = kind("histogram", weights=None, class_prior=p / p.sum())
        return one.fit({name: x}, self._model.classes[there][place], sample_weight=weight)

    def regions(
        self,
        columns: Sequence[str | int] | None = None,
        at: Mapping[str | int, Any] | None = None,
        *,
        points: int | None = None,
    ) -> Regions:
        """Return the predicted class over the plane of two columns of numbers.

        Parameters
        ----------
        columns : sequence of two str or int, optional
            The horizontal and the vertical column, by name or by place; by default the columns of
            numbers, where there are two.
        at : mapping, optional
            Values of other columns; columns that are not named are missing, which may be evidence.
        points : int, optional
            How many points the grid has on each side; by default 150, fewer of many classes.

        Returns
        -------
        regions : Regions
            The predicted class and the posterior on a grid, with
            ``plot(what="regions" | "posterior" | "difference" | "density")``.

        Raises
        ------
        ValueError
            If a column is not there, or does not hold numbers.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X = [[1.0, 2.0], [2.0, 1.0], [7.0, 8.0], [8.0, 7.0]]
        >>> nb = NaiveBayes("gaussian").fit(X, ["a", "a", "b", "b"])
        >>> found = nb.inspect.regions(points=50)
        >>> found.label.shape, found.label[0, 0], found.label[-1, -1]
        ((50, 50), np.str_('a'), np.str_('b'))
        """
        from naively.inspect.regions import regions

        found = regions(self._model, columns, at or {}, self._sampled_batches(), points)
        return naming_target(found, self._estimator.target_)

    def nomogram(
        self, label: Label | None = None, against: Label | None = None, n: int = 10
    ) -> Nomogram:
        """Return the model as a nomogram: each column's scale of weights of evidence.

        Parameters
        ----------
        label : label, optional
            The class of the evidence; by default the second of two, else the most frequent.
        against : label, optional
            The class to compare with; by default all others as one, by their priors.
        n : int, default 10
            How many columns, those whose weights range most widely.

        Returns
        -------
        nomogram : Nomogram
            Weights by column and value, and what their sum means as a probability; it has ``plot``.

        Notes
        -----
        Možina, Demšar, Kattan & Zupan, Nomograms for visualization of naive Bayesian classifier
        (2004). The weights of two classes and the intercept sum to the log odds of ``explain``;
        with rules they do on average, as the rows that a rule tells apart differ by others too.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X = {"coat": ["feathers", "fur", "fur", "feathers"]}
        >>> nb = NaiveBayes(weights=None).fit(X, ["bird", "cat", "cat", "bird"])
        >>> found = nb.inspect.nomogram("cat")
        >>> found.to_dict()["value"]
        ['feathers', 'fur']
        """
        from naively.inspect.odds import nomogram

        found = nomogram(self._model, label, against, n, self._sampled_batches())
        return naming_target(found, self._estimator.target_)

    def rules(self) -> Rules:
        """Return the rules of the model in words, and what each of their cells adds.

        Returns
        -------
        rules : Rules
            A table of rule, columns, conditions, share (of the rows, by the sample of them), class
            and weight in nats; printed, the strongest of each set of columns. It is empty without
            ``interactions``.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import NaiveBayes
        >>> X = np.random.default_rng(0).normal(size=(600, 2))
        >>> far = np.abs(X) > 0.7
        >>> nb = NaiveBayes(interactions={"rules": 1}).fit(X, far[:, 0] ^ far[:, 1])
        >>> nb.inspect.rules().columns[0]
        'x0 × x1'
        """
        from naively.inspect.rules import rules_of

        return rules_of(self._model, self._sampled_batches())

    def strongest(self, n: int = 10) -> Strongest:
        """Return the strongest evidence for each class against all others together.

        Parameters
        ----------
        n : int, default 10
            How many items of each class.

        Returns
        -------
        strongest : Strongest
            A table of class, column, value (a word, a level, a number that is usual in the class,
            or the conditions of rules, if a sample of the rows is kept) and weight of evidence in
            nats; ``plot()`` draws it. Items are in the order of their mean contribution to rows of
            the class: the weight times how often the item came there. Evidence against the class is
            left out.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> texts, y = ["cheap pills", "lunch at noon", "cheap watches"], ["spam", "ham", "spam"]
        >>> nb = NaiveBayes(text="words", weights=None).fit(texts, y)
        >>> nb.inspect.strongest(1).to_dict()["value"]
        ['lunch', 'cheap']
        """
        from naively.inspect.odds import strongest_of

        found = strongest_of(self._model, n, self._sampled_batches())
        return naming_target(found, self._estimator.target_)

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
            ``strongest(n)`` are those that differ most between the classes.

        Raises
        ------
        ValueError
            If there is no such estimate or column.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian", smoothing=0.0).fit([[1.0], [3.0], [7.0]], ["a", "a", "b"])
        >>> nb.inspect.parameters(column="x0").to_dict()["value"]
        [2.0, 7.0, 1.0, 0.0]
        """
        from naively.inspect.parameters import parameters

        return naming_target(parameters(self._model, how, column), self._estimator.target_)

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
        >>> counts = NaiveBayes(weights=None).fit(X, [0, 1]).inspect.parameter_counts()
        >>> counts.n_parameters, counts.n_joint_parameters
        (2001, about 2^1001)
        """
        from naively.inspect.parameters import counts_of_model

        return counts_of_model(self._model)

    def linear(self) -> Linear:
        """Return the model as weights and intercepts, where it is a linear model.

        A model is linear with Bernoulli, categorical, multinomial, complement, Poisson, exponential
        and geometric columns, and with Gaussian ones if the classes share the variance; with texts
        only without weights, and never with interactions or integrated parameters. With a linear
        part of the weights, clipped numbers are features too. The features are those of the encoded
        cells, none of them missing.

        Returns
        -------
        view : Linear
            With ``feature_names``, ``coef``, ``intercept`` and ``classes``.

        Raises
        ------
        ValueError
            If the log odds are not linear; it says in which columns, and why.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit([[0, 1], [1, 1], [1, 0]], [0, 1, 1])
        >>> w, b = nb.inspect.linear().coef[0], nb.inspect.linear().intercept[0]
        >>> (w @ [1, 0] + b > 0) == nb.predict([[1, 0]])[0]
        np.True_
        """
        from naively.inspect.parameters import linear

        return naming_target(linear(self._model), self._estimator.target_)

    def graph(self, label: str | None = None) -> NaiveGraph:
        """Return the graph of the model: an arrow from the class to each column.

        Parameters
        ----------
        label : str, optional
            What the class is called; by default as the column that is predicted, if its name is
            known, else "class".

        Returns
        -------
        graph : NaiveGraph
            It prints its factors; ``plot()`` and ``to_svg()`` draw it, and a notebook shows it.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit({"wind": [1, 0], "rain": [0, 1]}, ["a", "b"])
        >>> print(str(nb.inspect.graph("play")).splitlines()[0])
        play -> wind, rain
        """
        from naively.inspect.graph import graph

        return graph(self._model, label or self._estimator.target_ or "class")

    def dependence(self, n: int = 20, *, given_class: bool = True) -> Dependence:
        """Test the naive Bayes assumption: which columns depend on each other, given the class.

        Parameters
        ----------
        n : int, default 20
            How many pairs of columns to return; all are tested.
        given_class : bool, default True
            Given the class; or, if False, whatever the class: P(a, b) = P(a) P(b), which never
            holds for columns that predict the class.

        Returns
        -------
        dependence : Dependence
            Pairs of columns, or of words of a text, strongest first: their conditional mutual
            information given the class, in nats, its expectation by chance, and the p value.
            ``plot()`` draws the strongest.

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
        >>> print(str(NaiveBayes().fit(X, y).inspect.dependence()).splitlines()[0])
        6 of 6 pairs depend on each other more than chance, given the class (p < 0.05 / 6).
        >>> import numpy as np
        >>> a, b = np.indices((50, 50)).reshape(2, -1) % 2
        >>> nb = NaiveBayes("bernoulli").fit(np.column_stack([a, b]), a == b)
        >>> nb.inspect.dependence().dependent, nb.inspect.dependence(given_class=False).dependent
        (1, 0)
        """
        from naively.assess.dependence import dependence

        model = self._model
        sample = self._estimator._learned.sample
        if sample is None:
            raise ValueError(
                "Dependence is tested on a sample of the learned rows, and none is in memory: keep "
                "it in the file with save(path, keep_rows=True); "
                "after forget and decay fit again."
            )
        return dependence(model, sample, n, given_class=given_class)

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
        >>> NaiveBayes(JointTable(alpha=0)).fit(sky, y).inspect.marginal("sky")
        sky   probability
        blue     0.666667
        grey     0.333333
        """
        from naively.inspect.likelihood import joint_outcomes

        return joint_outcomes(self._model).marginal(columns)

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
        >>> NaiveBayes(JointTable(alpha=0)).fit(sky, y).inspect.conditional(of="class", given="sky")
        sky   class  probability
        blue  dry            0.5
        blue  wet            0.5
        grey  dry              0
        grey  wet              1
        """
        from naively.inspect.likelihood import joint_outcomes

        return joint_outcomes(self._model).conditional(of, given)

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
            If a row has a label that was not learned.

        Notes
        -----
        Maximum likelihood parameters maximise it on the learned rows. It uses the event models and
        the class prior, and no weights or interactions.

        Examples
        --------
        >>> import math
        >>> from naively import NaiveBayes
        >>> X, y = [[True], [True], [False]], ["a", "a", "b"]
        >>> nb = NaiveBayes("bernoulli", estimate="mle", smoothing=0.0).fit(X, y)
        >>> math.isclose(nb.inspect.log_likelihood(X, y), 2 * math.log(2 / 3) + math.log(1 / 3))
        True
        """
        from naively.inspect.likelihood import log_likelihood

        rows, labels = self._estimator._with_labels(X, y)
        return log_likelihood(self._model, rows, encode_labels(labels, sample_weight))

    def log_joint(self, X: Table, y: Target, sample_weight: RowWeight = None) -> float:
        """Return log p(X, y | parameters) + log p(parameters), greatest at the mode, in nats.

        Parameters
        ----------
        X, y, sample_weight
            As for ``log_likelihood``.

        Returns
        -------
        log_joint : float
            The log likelihood, and the log density of the priors at the parameters of this model:
            the log posterior of all parameters, but for the log evidence. A class prior adds its
            density where it is a Beta or a Dirichlet.

        Raises
        ------
        ValueError
            If a column has an event model without a proper conjugate prior; it names the column.

        Examples
        --------
        >>> from naively import Bernoulli, Beta, NaiveBayes
        >>> X, y = [[True], [True], [False]], ["a", "a", "b"]
        >>> by = lambda how: NaiveBayes(Bernoulli(prior=Beta(2, 2), estimate=how), weights=None)
        >>> values = {how: by(how).fit(X, y).inspect.log_joint(X, y) for how in ("map", "mean")}
        >>> values["map"] > values["mean"]
        True
        """
        from naively.inspect.likelihood import log_joint

        rows, labels = self._estimator._with_labels(X, y)
        return log_joint(self._model, rows, encode_labels(labels, sample_weight))

    def log_marginal_likelihood(
        self, X: Table, y: Target, sample_weight: RowWeight = None
    ) -> float:
        """Return log p(X | y), the marginal likelihood: no parameter is known, in nats.

        Parameters
        ----------
        X, y, sample_weight
            As for ``log_likelihood``. They are counted alone, by the event models and priors of
            this model; its learned rows have no effect.

        Returns
        -------
        log_marginal_likelihood : float
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
        >>> round(math.exp(nb.inspect.log_marginal_likelihood(X, y)), 9) == round(1 / 3 * 1 / 2, 9)
        True
        """
        from naively.inspect.likelihood import log_marginal_likelihood

        rows, labels = self._estimator._with_labels(X, y)
        return log_marginal_likelihood(self._model, rows, encode_labels(labels, sample_weight))

    def images(self, shape: tuple[int, int]) -> ClassImages:
        r"""Return the mean image of each class, where the columns are the pixels of an image.

        Parameters
        ----------
        shape : (height, width)
            Of the images, whose rows are one after the other.

        Returns
        -------
        images : ClassImages
            With ``mean``, of shape (classes, height, width), and ``plot``.

        Raises
        ------
        ValueError
            If an image of this shape has another number of pixels, or a column holds no numbers.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[0, 8, 8, 0], [8, 0, 0, 8]], ["/", "\\"])
        >>> nb.inspect.images((2, 2)).mean[0]
        array([[0., 8.],
               [8., 0.]])
        """
        from naively.inspect.explain import class_images

        return naming_target(class_images(self._model, shape), self._estimator.target_)

    def difference(self, other: Fitted, n: int = 10) -> Difference:
        """Return how another model differs from this one, such as a model of last month's rows.

        Parameters
        ----------
        other : NaiveBayes
            Fitted; it is the one after, and this the one before.
        n : int, default 10
            How many counts, levels or words of only one model, weights, and weights of evidence are
            listed at most: those that changed most.

        Returns
        -------
        difference : Difference
            A table, and ``equal``. Weights of evidence are those of items that both models have;
            numbers are compared at typical values of each class in either model.

        Raises
        ------
        ValueError
            If n is less than 1.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> monday = NaiveBayes(weights=None).fit({"sky": ["blue", "grey"]}, ["sun", "rain"])
        >>> tuesday = NaiveBayes(weights=None).fit({"sky": ["blue", "red"]}, ["sun", "sun"])
        >>> monday.inspect.difference(tuesday, 2).to_dict()["what"]
        ['class', 'rows', 'levels', 'level', 'level']
        """
        from naively.inspect.difference import difference

        return difference(self._model, other._checked, n)

    def drift(
        self, X: Table = None, y: Target = None, *, by: str | int | None = None, blocks: int = 10
    ) -> Drift:
        """Return what has moved, over time or against new rows: columns, class prior and loss.

        Parameters
        ----------
        X : table of rows, optional
            New rows, to compare with the sample of the learned rows that is in memory. By default
            these are looked at over time.
        y : array-like of shape (rows,), or str, optional
            The labels of the new rows, or their column in ``X``. Without them the class prior and
            the loss are not compared.
        by : str or int, optional
            The learned column of times, or numbers, that orders the rows; by default the column of
            times, if there is only one.
        blocks : int, default 10
            Into how many blocks of equal numbers of rows.

        Returns
        -------
        drift : Drift
            A table, largest change first, of divergences in nats, with the expectation of each by
            chance and the p value (``p``); ``plot()`` draws it.

        Raises
        ------
        ValueError
            If no rows are in memory, or no column orders them; or if new rows are given and a
            column to order by.

        Notes
        -----
        A column is compared by its levels, or by ten bins of its numbers; a text by its common
        words. Missing cells are a cell of their own. The divergence is that of Jensen and Shannon
        between the groups, with equal weights: 0 if they are alike, and log 2 if two have nothing
        in common. By chance it is (cells - 1) / 8 (1/n + 1/m) for two groups of n and m rows.
        Missing cells are tested separately, others by chi-squared. ``p`` is corrected for the
        number of lines (Holm): without a change, 5 of 100 tables have a line below .05. The loss of
        learned rows is that of ``assess()``; over time the model predicts each block without its
        counts, and its weights stay.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import NaiveBayes
        >>> x = np.random.default_rng(0).normal(size=(400, 2))
        >>> nb = NaiveBayes().fit({"a": x[:, 0], "b": x[:, 1]}, x[:, 0] > 0)
        >>> found = nb.inspect.drift({"a": x[:, 0], "b": x[:, 1] + 1}, x[:, 0] > 0)
        >>> found.what[0], found.column[1]
        ('log loss', 'b')
        """
        from naively.inspect.drift import drift

        model = self._model
        learned = self._estimator._learned.rows.of(model)
        if X is None:
            if y is not None:
                raise ValueError("y is of rows that are given; give X too.")
            return drift(model, learned, None, by, blocks)
        if by is not None:
            raise ValueError(
                "New rows are compared with those learned, whatever their time; leave out by."
            )
        if y is not None:
            group = learned.labels.group
            units = np.arange(len(learned)) if group is None else group
            held_out = None
            if len(np.unique(units)) > 1 and len(model.classes) > 1:
                held_out = self._estimator._learned.held_out.predicted
            return drift(model, learned, self._encoded(X, y, levels=True), None, held_out=held_out)
        rows = self._estimator._rows(self._whole(X))
        if not len(rows):
            raise ValueError("There are no rows to compare with those learned.")
        nothing = Labels.none(len(rows), model.classes)
        new = model.counted.schema.encode(rows, nothing)
        return drift(model, learned, new, None, labelled=False)

    def sample(
        self,
        n: int,
        y: Label | None = None,
        random_state: Seed = None,
        *,
        length: int | None = None,
    ) -> tuple[Table, LabelArray]:
        """Draw labelled rows from the model, to see what it has learned.

        Parameters
        ----------
        n : int
            How many rows.
        y : label, optional
            The label of all rows; by default labels are drawn from the class prior.
        random_state : int or numpy.random.Generator, optional
            A seed, for the same rows each time.
        length : int, optional
            How many words each text has, and the total of each row of counts.

        Returns
        -------
        X : array, mapping of columns, or list of texts
            Without missing cells; what ``fit`` takes, in the form that the training rows had
            (a frame's columns as a mapping).
        y : ndarray of shape (n,)
            Their labels.

        Raises
        ------
        ValueError
            If n is negative, if there is no such class, or of an event model that does not model
            how rows are generated.

        Notes
        -----
        Texts are written word by word from the vocabulary, and are about as long as those of
        their class, but never empty: lengths are from a Poisson that is truncated at zero, and
        where only the presence of words is modelled, one word at least is drawn.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit(["cheap pills", "lunch at noon"], ["spam", "ham"])
        >>> X, y = nb.inspect.sample(2, y="spam", random_state=0)
        >>> y
        array(['spam', 'spam'], dtype='<U4')
        """
        model = self._model
        if n < 0:
            raise ValueError(f"n must be a number of rows that is at least 0, got {n}.")
        rows, labels = model.sample(n, y, random_state, length)
        return self._estimator._table(rows), labels


class Curve(Accessor):
    """How good a model is, by how many rows it learns, its pseudo-counts, and what it forgets."""

    _name = "curve"

    def learning(
        self,
        X: Table,
        y: Target,
        *,
        test: tuple[Table, Target] | float | None = None,
        sizes: Sizes = None,
        repeats: int = 5,
        weights: bool = False,
        random_state: Seed = 0,
    ) -> LearningCurve:
        """Return how good models of the first rows are, of more and more rows in random order.

        Rows are encoded and counted once: the tally of each size is that of the one before and of
        the rows between. This estimator, which need not be fitted, stays as it is.

        Parameters
        ----------
        X, y
            As for ``fit``; a table that is not in memory is read into it.
        test : (X, y) or float, optional
            The rows to score; or how many rows, or, below 1, which share of them, to hold out: anew
            in each repeat. By default a quarter.
        sizes : sequence of numbers, optional
            How many rows to learn, or, where they are fractions up to 1.0, which shares of those
            that are not held out. By default ten, evenly on a logarithmic scale, from ten to all.
        repeats : int, default 5
            How many random orders.
        weights : bool, default False
            Whether to fit the weights that ``fit`` fits, at each size, which takes longer than all
            else. By default it is pure naive Bayes, as with ``weights=None``.
        random_state : int or numpy.random.Generator, default 0
            A seed, for the same orders each time.

        Returns
        -------
        curve : LearningCurve
            Accuracy and log loss of training and held-out rows; ``curve.plot()`` draws them.

        Raises
        ------
        ValueError
            If a size is not above 0 or more than there are rows, or if no rows are left to learn.

        Notes
        -----
        Each point is what ``fit`` and ``evaluate`` give of these rows. The event model of a column
        that was given none follows from the rows of each size; but whether strings are texts
        follows from all rows. A class of which no row has come yet has the posterior 0 and its rows
        are missed, which costs -log 1e-15 = 34.5 nats each. Interactions have no part in it.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> curve = NaiveBayes().curve.learning(*load_iris(return_X_y=True), sizes=[10, 100])
        >>> curve.which[:2], curve.size[:3]
        (['training', 'held-out'], [10, 10, 100])
        """
        from naively.assess.curves import learning_curve

        refuse_on_cluster(X, "A learning curve is not made on Spark; collect some rows")
        other = copy(self._estimator)
        rows = self._whole(X)
        batch, model = other._count(rows, y, weighted=weights)
        held_out: Batch | float | None = None
        if isinstance(test, tuple):
            other._learned = Learned(model, None)
            held_out = type(self)(other)._encoded(*test)
        elif test is not None:
            held_out = test
        kind = self._estimator._kind if weights else None
        return learning_curve(model, batch, held_out, sizes, repeats, random_state, kind)

    def smoothing(
        self, X: Table = None, y: Target = None, *, values: Iterable[float] | None = None
    ) -> SmoothingCurve:
        """Return how good the model is with other pseudo-counts; nothing is counted again.

        Parameters
        ----------
        X, y : optional
            Labelled rows that were not learned. Beside them, the sample of the learned rows that is
            in memory after ``fit`` is scored, as it is and each row left out in turn.
        values : iterable of float, optional
            The pseudo-counts, at least 0; by default from 0 to 100. They are those that
            ``smoothing`` sets, here of event models that are given as objects too.

        Returns
        -------
        curve : SmoothingCurve
            Accuracy and log loss; ``curve.plot()`` draws them.

        Raises
        ------
        ValueError
            If a pseudo-count is below 0, if no event model has one, or if there are no rows to
            score: none in memory, and none given.

        Notes
        -----
        Each point is what ``NaiveBayes(smoothing=value, weights=None)`` gives, which has no
        interactions either. Leaving a row out is exact, but for what depends on several columns (a
        variance floor) or on all rows of a sparse column.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit([[0], [1], [1], [1], [0]], [0, 1, 1, 0, 0])
        >>> print(nb.curve.smoothing(values=[0, 1]))
        smoothing  which          accuracy  log_loss
                0  leave-one-out       0.8   7.18501
                0  training            0.8  0.381909
                1  leave-one-out       0.4  0.851293
                1  training            0.8   0.49535
        """
        from naively.assess.curves import smoothing_curve

        model = self._model
        held_out = None if X is None else self._encoded(X, y)
        learned = self._estimator._learned
        known = learned.sample is not None
        sample = learned.rows.of(model) if known or held_out is None else None
        return smoothing_curve(model, sample, held_out, values)

    def decay(
        self,
        X: Table,
        y: Target,
        *,
        time: Target = None,
        blocks: int = 10,
        half_lives: Iterable[float] | None = None,
        weights: Follow | None = "fitted",
    ) -> DecayCurve:
        """Return how well each block of time is predicted by what was learned before it, faded.

        Rows are put into blocks in the order of their time. Each block but the first is scored by
        what was learned of those before it, whose counts have been halved once in a half-life, and
        so for several half-lives. This estimator, which need not be fitted, stays as it is.

        Parameters
        ----------
        X, y
            As for ``fit``; a table that is not in memory is read into it.
        time : str or array-like of shape (rows,), optional
            A column of ``X``, or numbers, dates or strings that are dates. By default rows are in
            order.
        blocks : int, default 10
            How many blocks, as equal in rows as can be; rows of one time are in one.
        half_lives : iterable of float, optional
            In blocks; by default 1/4, 1/2, 1, 2, 4, ... up to their number. Infinity, which is no
            decay, is always among them.
        weights : {"fitted", "kept"} or None, default "fitted"
            How weights follow: "fitted" anew before each block, to rows that fade as their counts
            do; or those of the first block are "kept". None is pure naive Bayes, as with
            ``weights=None``, and quicker than "fitted", as "kept" is.

        Returns
        -------
        curve : DecayCurve
            Accuracy and log loss by half-life and block; ``curve.best`` is the half-life of the
            least log loss and ``curve.factor`` what to decay by before each block;
            ``curve.plot()`` draws them.

        Raises
        ------
        ValueError
            If a half-life is not above 0, or there are fewer different times than blocks.

        Notes
        -----
        With "fitted", each point is what ``evaluate`` gives after ``fit(X, y, sample_weight=w)`` of
        the blocks before, where w is 0.5 to the power of age over half-life, and the age of a row
        is how many blocks lie between. With "kept", it is what it gives after ``decay(factor)`` and
        ``partial_fit``, block by block: ``decay`` drops the sample of rows, so that weights stay.
        A class of which no row has come yet has the posterior 0, which costs 34.5 nats a row.
        Interactions have no part in it. A column that is named as ``time`` is not learned, unless
        this estimator has learned it.

        Which is better is to be measured. For bank marketing in the order of its file, in 20
        blocks, the log loss is .300 for ever; with a half-life of half a block .264 "fitted" and
        .245 "kept". Its month and day tell which block a row is of, and so the past and nothing
        else; without these two columns it is .263 for ever, and .235 and .242.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import NaiveBayes
        >>> x = np.random.default_rng(0).integers(2, size=600)
        >>> y = np.where(np.arange(600) < 300, x, 1 - x)  # halfway all is turned round
        >>> curve = NaiveBayes().curve.decay({"x": x}, y, blocks=6)
        >>> curve.best < 1
        True
        """
        from naively.assess.prequential import decay_curve
        from naively.assess.refits import Named

        refuse_on_cluster(X, "A curve of decay is not made on Spark; collect some rows")
        other = copy(self._estimator)
        X, beside = other._beside(self._whole(X), {"time": time})
        batch, model = other._count(X, y, weighted=weights is not None)
        order = beside["time"] or Named("", np.arange(len(batch)))
        kind = self._estimator._kind
        return decay_curve(model, batch, order, blocks, half_lives, kind, weights)

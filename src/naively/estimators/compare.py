"""Models side by side on the same labelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from naively.assess.curves import Metric
from naively.counting.labels import RowWeight, Target
from naively.data.frames import Table
from naively.estimators.classifier import Classifier
from naively.tabular import Tabular, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Comparison(Tabular):
    """Models on the same labelled rows, by log likelihood, greatest first.

    Parameters
    ----------
    model : list of str
        What each is called.
    log_likelihood : list of float
        Log p(rows, labels) under each, in nats, without weights and interactions.
    log_loss : list of float
        Mean of -log p(right class | row), in nats, with weights and interactions.
    accuracy : list of float
        Share of rows whose most probable class is the right one.
    parameters : list of int
        How many are free.
    """

    model: list[str]
    log_likelihood: list[float]
    log_loss: list[float]
    accuracy: list[float]
    parameters: list[int]

    TABLE = ("model", "log_likelihood", "log_loss", "accuracy", "parameters")

    def plot(self, ax: Axes | None = None, metric: Metric = "log_loss") -> Axes:
        """Draw the log loss of each model, or its accuracy."""
        return picture(self, ax, metric=metric)


def compare(
    models: Mapping[str, Classifier], X: Table, y: Target, sample_weight: RowWeight = None
) -> Comparison:
    """Compare fitted models on labelled rows that none of them has learned.

    Parameters
    ----------
    models : mapping of str to NaiveBayes
        Fitted estimators of ``naively``, by the names that they have in the table.
    X : table of rows
        As for ``fit``.
    y : array-like of shape (rows,), or str
        The right labels, or the name of their column in ``X``.
    sample_weight : array-like of shape (rows,), optional
        How often each row counts in the log likelihood; by default once.

    Returns
    -------
    comparison : Comparison
        A row for each model, the greatest log likelihood first: log likelihood, log loss, accuracy,
        and number of free parameters.

    Raises
    ------
    ValueError
        If there is no model, or a row has a label that a model has not learned.

    Notes
    -----
    The log likelihood says how well a model describes rows and labels (as a generative model), the
    log loss how well it predicts labels from rows (as a discriminative one); on learned rows it
    favours the model with most parameters. Log likelihoods are only comparable between models of
    the same columns and the same measure: a density of numbers is not a probability of bins,
    categories or words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from naively import NaiveBayes, compare
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {kind: NaiveBayes(kind).fit(X[::2], y[::2]) for kind in ("gaussian", "poisson")}
    >>> compare(models, X[1::2], y[1::2]).model
    ['gaussian', 'poisson']
    """
    if not models:
        raise ValueError("There are no models to compare; give a mapping from names to models.")
    rows = []
    for name, nb in models.items():
        likelihood = nb.inspect.log_likelihood(X, y, sample_weight)
        scores = nb.evaluate(X, y)
        rows.append((name, likelihood, scores.log_loss, scores.accuracy, nb.n_parameters_))
    rows.sort(key=lambda row: -row[1])
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
    return Comparison(*columns)

"""A fitted model as one page."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from naively.counting.labels import Target
from naively.data.frames import Table
from naively.estimators.views import Views

if TYPE_CHECKING:
    from naively.report.page import Report


class Reported(Views):
    """A fitted model that writes a page about itself."""

    def report(self, X: Table = None, y: Target = None, *, name: str = "") -> Report:
        """Write one page about the model: what it learned, how good it is, and why it answers so.

        Parameters
        ----------
        X : table of rows, optional
            Rows that were not learned, to be scored, shown and explained; by default some of the
            sample of the learned rows that is in memory.
        y : array-like of shape (rows,), or str, optional
            Their right labels, or the name of their column in ``X``.
        name : str, optional
            What the page is called.

        Returns
        -------
        report : Report
            ``report.save("report.html")`` writes it; the page needs no network.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit(*load_iris(return_X_y=True))
        >>> print(nb.report(name="iris"))
        iris: a page of ... bytes
        What it learned from
        How good it is
        ...
        """
        from naively.report.page import write_report
        from naively.report.subject import Subject

        model = self._checked
        learned = None if self._counts_unlabelled else self._sample
        rows, labels = (None, None) if X is None else (self._rows(X), None)
        if X is not None and y is not None:
            rows, labels = self._with_labels(X, y)
        return write_report(Subject.of(model, learned, self._kind, rows, labels), name)

    @property
    @abstractmethod
    def _counts_unlabelled(self) -> bool:
        """Whether rows without a label count, so that no row can be left out."""

"""What can be looked at in a fitted model: columns, regions, nomograms and images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from naively.counting.batch import Batch
from naively.counting.labels import Label
from naively.estimators.evaluated import Evaluated

if TYPE_CHECKING:
    from naively.model.column_views import ColumnView
    from naively.model.difference import Difference
    from naively.model.images import ClassImages
    from naively.model.nomogram import Nomogram
    from naively.model.regions import Regions


class Views(Evaluated):
    """Results of a fitted model, each with its numbers and its picture."""

    def column(
        self, column: str | int, *, weighted: bool = False, at: ArrayLike | None = None
    ) -> ColumnView:
        """Return what one column looks like in each class: p(x | class), without weights.

        Parameters
        ----------
        column : str or int
            Its name, or its place in the table. Parts of times are columns too: "date (hour)".
        weighted : bool, default False
            Whether to multiply by the class priors, so that the curves are the joint p(x, class).
        at : array-like of shape (numbers,), optional
            Numbers to compute densities at; by default those of the 0.5 % to 99.5 % range.

        Returns
        -------
        view : ColumnView
            Of numbers densities (or the probabilities of counts), over a histogram of the numbers
            that were learned, where these were counted in cells or are kept; of levels their
            probabilities; of a text the words that speak most for each class. It has ``plot``.

        Raises
        ------
        ValueError
            If there is no such column; it lists those that there are.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X = {"legs": [2.0, 4.0, 4.0, 2.0], "coat": ["feathers", "fur", "fur", "fur"]}
        >>> nb = NaiveBayes({"legs": "poisson"}).fit(X, ["bird", "cat", "cat", "bird"])
        >>> print(nb.column("legs"))
        legs: probability by class (poisson), 5 points from 1 to 5
          'bird': highest at 2 (0.264)
          'cat': highest at 3 (0.21)
        >>> nb.column("coat").to_dict()["level"][:2]
        ['feathers', 'feathers']
        """
        from naively.model.column import column_view

        return column_view(self._checked, column, self._sampled_batches(), weighted=weighted, at=at)

    def compare_with(self, other: Views, n: int = 10) -> Difference:
        """Return how another model differs from this one, such as a model of last month's rows.

        Parameters
        ----------
        other : NaiveBayes
            Fitted; it is the one after, and this the one before.
        n : int, default 10
            How many of the counts, of the levels or words that only one has, of the weights, and of
            the weights of evidence, are listed at most: those that changed most.

        Returns
        -------
        difference : Difference
            A table, and ``equal``. Weights of evidence are those of items that both models know;
            numbers are compared at what is typical of each class in either.

        Raises
        ------
        ValueError
            If n is less than 1.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> monday = NaiveBayes(weights=None).fit({"sky": ["blue", "grey"]}, ["sun", "rain"])
        >>> tuesday = NaiveBayes(weights=None).fit({"sky": ["blue", "red"]}, ["sun", "sun"])
        >>> monday.compare_with(tuesday, 2).to_dict()["what"]
        ['class', 'rows', 'levels', 'level', 'level']
        """
        from naively.model.difference import difference

        return difference(self._checked, other._checked, n)

    def regions(
        self,
        columns: Sequence[str | int] | None = None,
        at: Mapping[str | int, Any] | None = None,
        *,
        points: int | None = None,
    ) -> Regions:
        """Return what is predicted where, over two columns of numbers.

        Parameters
        ----------
        columns : sequence of two str or int, optional
            The horizontal and the vertical column, by name or by place; by default the columns of
            numbers, where there are two.
        at : mapping, optional
            Values of other columns; those that are not named are missing, which says
            something where missing cells are evidence.
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
        >>> found = nb.regions(points=50)
        >>> found.label.shape, found.label[0, 0], found.label[-1, -1]
        ((50, 50), np.str_('a'), np.str_('b'))
        """
        from naively.model.regions import regions

        return regions(self._checked, columns, at or {}, self._sampled_batches(), points)

    def nomogram(
        self, label: Label | None = None, against: Label | None = None, n: int = 10
    ) -> Nomogram:
        """Return the model as a nomogram: each column's scale of weights of evidence.

        Parameters
        ----------
        label : label, optional
            The class that is spoken for; by default the second of two, else the most frequent.
        against : label, optional
            The class that it is compared with; by default all others as one, by their priors.
        n : int, default 10
            How many columns, those whose weights range most widely.

        Returns
        -------
        nomogram : Nomogram
            Weights by column and value, and what their sum means as a probability; it has ``plot``.

        Notes
        -----
        Možina, Demšar, Kattan & Zupan, Nomograms for visualization of naive Bayesian classifier
        (2004). The weights of two classes and the intercept sum to the log odds of ``explain``.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X = {"coat": ["feathers", "fur", "fur", "feathers"]}
        >>> nb = NaiveBayes(weights=None).fit(X, ["bird", "cat", "cat", "bird"])
        >>> found = nb.nomogram("cat")
        >>> found.to_dict()["value"]
        ['feathers', 'fur']
        """
        from naively.model.nomogram import nomogram

        return nomogram(self._checked, label, against, n, self._sampled_batches())

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
        >>> nb.images((2, 2)).mean[0]
        array([[0., 8.],
               [8., 0.]])
        """
        from naively.model.images import class_images

        return class_images(self._checked, shape)

    def _sampled_batches(self) -> list[Batch]:
        """Return a sample of the rows that were learned, encoded; none where none is kept."""
        return [] if self._sample is None else self._sample.of(self._checked).batches

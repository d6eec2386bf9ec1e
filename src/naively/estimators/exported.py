"""A fitted model for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively.estimators.in_sql import Queried

if TYPE_CHECKING:
    from naively.model.scorecard.scorecard import Scorecard


class Exported(Queried):
    """A fitted model that is written for programs in other languages."""

    def scorecard(self) -> Scorecard:
        """Return the model as numbers to be added up, by which any program can score rows.

        All that a model says by default is in it: weights, biases, missing cells, the linear part,
        interactions, texts and their lengths. Nothing can be learned with it, nor forgotten.

        Returns
        -------
        scorecard : Scorecard
            ``scorecard.save("model.json")`` writes it as JSON, and ``scorecard.save("model.js")``
            as a script that scores rows, explains them, and needs nothing else.

        Raises
        ------
        ValueError
            If what a column says is no sum of given numbers, as of a kernel density; it names the
            column.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit({"wet": [1, 1, 0]}, ["rain", "rain", "sun"])
        >>> card = nb.scorecard()
        >>> card.to_dict()["classes"], card.columns
        (['rain', 'sun'], ['wet'])
        """
        from naively.model.scorecard.scorecard import Scorecard

        return Scorecard.of(self._checked)

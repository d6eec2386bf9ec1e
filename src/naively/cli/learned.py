"""What the command line learns with: scikit-learn, which takes a second to import, stays away."""

from __future__ import annotations

import warnings

from naively.estimators.naive_bayes import Learner


class Learned(Learner):
    """``NaiveBayes``, as far as files of rows need it."""

    def _warn_of_a_column(self, message: str) -> None:
        warnings.warn(message, stacklevel=6)

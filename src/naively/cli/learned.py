"""What the command line learns with: scikit-learn, which takes a second to import, stays away."""

from __future__ import annotations

from naively.estimators.naive_bayes import Learner
from naively.messages import warn


class FileLearner(Learner):
    """``NaiveBayes``, as far as files of rows need it."""

    def _warn_of_a_column(self, message: str) -> None:
        warn(message)

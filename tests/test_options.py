"""An option is declared once; the estimator, files, the command line and merging know it."""

import inspect
import itertools
from dataclasses import fields, replace

import pytest

from naively import NaiveBayes, load
from naively.options import DECLARED, Options, duration_of, expected, from_text
from naively.schema.settings import Settings
from tests.damage import apart
from tests.test_cli import ok

OPTIONS = {of.name: of for of in fields(Options) if of.init}
OTHER = {  # than the default
    "estimate": "map",
    "smoothing": 0.25,
    "weights": "temperature",
    "interactions": "auto",
    "derived": None,
    "text": "words",
    "presence": "ignore",
    "missing_values": ["NA", "?"],
    "decimal": ",",
    "day_first": True,
    "half_life": 2.5,
}
BESIDE = {"half_life": {"time": [*range(20)]}}  # what an option needs
WRITTEN = {"missing_values": "NA,?", "day_first": "true", "derived": "none"}  # on the command line
X, y = {"a": [1.0, 2.0, None, 8.0] * 5, "b": ["u", "v", "u", "v"] * 5}, ["p", "q", "p", "q"] * 5


def test_each_option_is_tried_here() -> None:
    assert set(OTHER) == set(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_an_argument_with_the_default_that_is_declared(name: str) -> None:
    of = inspect.signature(NaiveBayes).parameters[name]
    assert of.default == OPTIONS[name].default
    assert any(kind.holds(of.default) for kind in DECLARED[name])
    assert f"\n    {name} : " in NaiveBayes.__doc__


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_of_no_kind_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be .*, got 'nonsense'"):
        NaiveBayes(**{name: "nonsense"}).fit(X, y)
    if name in ("missing_values", "derived"):
        return  # on the command line any text is a list of strings
    with pytest.raises(ValueError, match=f"^--{name.replace('_', '-')} must be .*, got 'nonsense'"):
        from_text(name, "nonsense")


@pytest.mark.parametrize("name", OPTIONS)
def test_a_file_and_the_command_line_have_it(name: str, tmp_path) -> None:
    path, data = tmp_path / "m.naively", tmp_path / "data.csv"
    nb = NaiveBayes(**{name: OTHER[name]}).fit(X, y, **BESIDE.get(name, {}))
    nb.save(path)
    assert getattr(load(path).model_.settings, name) == OTHER[name]
    assert apart(path)[0]["settings"] == {one: getattr(nb.model_.settings, one) for one in OPTIONS}
    cells = zip(*X.values(), y, strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in cells]
    lines = [f"{line},{at}" for at, line in enumerate(lines)]
    data.write_text("\n".join(["a,b,y,time", *lines]) + "\n")
    ok(
        "train",
        data,
        "-t",
        "y",
        "-o",
        path,
        f"--{name.replace('_', '-')}",
        WRITTEN.get(name, OTHER[name]),
        *(["--time", "time"] if name in BESIDE else ["--ignore", "time"]),
    )
    assert getattr(load(path).model_.settings, name) == OTHER[name]


@pytest.mark.parametrize("name", [of for of in OPTIONS if of not in ("weights", "interactions")])
def test_two_models_differ_in_it(name: str) -> None:
    plain = NaiveBayes().fit(X, y)
    models = [plain, NaiveBayes(**{name: OTHER[name]}).fit(X, y, **BESIDE.get(name, {}))]
    found = models[0].inspect.difference(models[1]).changes
    assert name in [change.item for change in found if change.what == "setting"]


def test_what_texts_and_missing_cells_are_counted_as_is_in_a_merged_model_what_it_was_in_any() -> (
    None
):
    each = [
        Settings(weights=weights, text=text, presence=missing)
        for weights, text, missing in itertools.product(
            ("loo", "temperature", None), ("auto", "words"), ("auto", "ignore")
        )
    ]
    for a, b in itertools.product(each, each):
        both = a.merged(b)
        assert both == b.merged(a)
        assert both.counts_blocks == (a.counts_blocks or b.counts_blocks)
        assert both.counts_missing == (a.counts_missing or b.counts_missing)
        assert a.merged(a) == a


def test_of_two_kinds_of_weights_the_richer_is_fitted_to_what_is_merged() -> None:
    loo, one, none = (Settings(weights=how) for how in ("loo", "temperature", None))
    assert none.merged(one).weights == "temperature"
    assert one.merged(loo).weights == "loo"
    assert loo.merged(replace(loo, interactions="auto")).interactions == "auto"


def test_kinds_are_said_in_words() -> None:
    assert expected(DECLARED["weights"]) == "'loo', 'temperature' or None"
    assert from_text("smoothing", "2") == 2.0


def test_durations_and_wishes_for_interactions_are_read_from_text() -> None:
    assert [*map(duration_of, ("30d", "1.5 h", "long", 30))] == [2592000.0, 5400.0, None, None]
    asked = from_text("interactions", "rules=20; without=id,zip; given=age < 30 and pay > 5")
    assert asked == {"rules": 20, "without": ["id", "zip"], "given": ["age < 30 and pay > 5"]}

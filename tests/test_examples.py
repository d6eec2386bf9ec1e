"""The example data: complete, the same each time, and as the pages say."""

import pytest

from naively import datasets


@pytest.mark.parametrize("load", [datasets.digits, datasets.wine, datasets.breast_cancer])
def test_tables_are_complete(load):
    X, y, columns, classes = load()
    assert X.shape == (len(y), len(columns))
    assert sorted(set(y.tolist())) == list(range(len(classes)))
    assert all(type(name) is str for name in columns + classes)


def test_messages_come_once_and_are_as_many_as_is_said():
    texts, labels = datasets.sms()
    assert len(set(texts)) == len(texts) == 600
    assert (labels.count("spam"), labels.count("ham")) == (180, 420)


def test_penguins_are_those_of_palmerpenguins():
    X, species = datasets.penguins()
    assert {name: species.count(name) for name in sorted(set(species))} == {
        "Adelie": 152, "Chinstrap": 68, "Gentoo": 124,
    }  # fmt: skip
    assert {name: of.count(None) for name, of in X.items()} == {
        "island": 0, "sex": 11, "bill_length_mm": 2, "bill_depth_mm": 2, "flipper_length_mm": 2,
        "body_mass_g": 2,
    }  # fmt: skip

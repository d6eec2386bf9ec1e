"""The example data: plentiful, the same each time, with no answer left in the question."""

import os
import re
import subprocess
import sys

import pytest

from naively.data import examples

NAME = re.compile(
    r"numpy|scipy|sklearn|scikit|matplotlib|pyplot|pylab|https?:"
    r"|(?<![a-z])(?:mpl|np|npt|npy|npz|plt|sp)(?![a-z])",
    re.IGNORECASE,
)
DIGEST = """
import hashlib
from naively.data.examples import docstrings
print(hashlib.sha256(repr(docstrings()).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def documents():
    pytest.importorskip("matplotlib")
    return examples.docstrings()


def test_thousands_of_texts_of_four_libraries(documents):
    texts, labels = documents
    assert len(texts) == len(labels) > 3000
    assert set(labels) == {"numpy", "scipy", "scikit-learn", "matplotlib"}
    assert min(labels.count(label) for label in set(labels)) > 400


def test_no_text_names_a_library(documents):
    texts, _ = documents
    assert [
        text[m.start() - 30 : m.end() + 30] for text in texts for m in NAME.finditer(text)
    ] == []


def test_each_text_once_and_long_enough(documents):
    texts, _ = documents
    assert len(set(texts)) == len(texts)
    assert min(len(text.split()) for text in texts) >= examples.SHORTEST


def test_same_texts_in_every_process():
    # Not compared with this process: what it has imported may have edited a docstring.
    pytest.importorskip("matplotlib")
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (">>> import numpy as np\n>>> np.linalg.norm([3, 4])", "norm([3, 4])"),
        ("from scipy import (stats,\n    special)\nthe end", "the end"),
        (
            "See :func:`~matplotlib.axes.Axes.plot` or :ref:`lines <plt_lines>`.",
            "See plot or lines.",
        ),
        ("`~.Axes.plot` of ``plt.Figure``", "plot of Figure"),
        (".. versionadded:: 1.17\nUse SciPy's own.", "Use 's own."),
        ("scikit-learn, Scikit Learn, scikits.image, mpl_toolkits", ", , image,"),
        ("a simple sample, completely implemented", "a simple sample, completely implemented"),
        ("Parameters\n----------\nx : `array`", "Parameters x : array"),
    ],
)
def test_names_imports_and_markup_are_taken_out(before, after):
    assert examples._anonymous(before) == after


def test_missing_library_names_the_extra(monkeypatch):
    def missing(name, *_):
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(examples.importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"matplotlib.*pip install 'naively\[plots\]'"):
        next(examples._public_objects("matplotlib"))


@pytest.mark.parametrize("load", [examples.digits, examples.wine, examples.breast_cancer])
def test_tables_are_complete(load):
    X, y, columns, classes = load()
    assert X.shape == (len(y), len(columns))
    assert sorted(set(y.tolist())) == list(range(len(classes)))
    assert all(type(name) is str for name in columns + classes)

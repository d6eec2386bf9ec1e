"""Real data that are on the machine already: docstrings, digits, wines and tumours.

The texts are the docstrings of installed libraries, to be classified by library. Names of libraries
would be target leakage, so they are removed from the texts.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import warnings
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

    Dataset = tuple[NDArray[np.float64], NDArray[np.int64], list[str], list[str]]

LIBRARIES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "sklearn",
}  # label: the package to walk

# These modules are not documented for users, or not safe to import, as some act when imported.
SKIPPED = re.compile(
    r"\.(_\w*|tests?|testing|conftest|externals|experimental|f2py|distutils|core|matlib"
    r"|mypy_plugin)(\.|$)"
)
SHORTEST = 8  # words of a text

# These patterns, of names of libraries and of markup, are replaced in this order.
LIBRARY = r"(?:numpy|scipy|sklearn|scikits?)"
ALIAS = r"(?:npt|np|sp)"
REMOVED = [
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"^[>. ]*from +[\w.]+ +import *(?:\([^)]*\)|.*)$", ""),
        (r"^[>. ]*import +[\w.]+(?: +as +\w+)?(?: *[,;#].*)?$", ""),
        (r"\.\. +(?:versionadded|versionchanged|deprecated)::.*$", ""),
        (r"\b\d+\.\d+\.\d+\w*", ""),  # a version
        (r"argument\(s\)[\s`]*\{[^}]*\}", ""),  # a printed set: its order varies by run
        (r"^.*# may vary.*$", ""),  # and so do random numbers
        (r"https?://\S+", ""),
        (r":[a-z:]+:`[~!.]*(?:\w+\.)*([^`<]*?)(?:\s*<[^`]*>)?`", r"\1"),  # a reference's last name
        (r"`[~!.]+(?:\w+\.)*(\w+)`", r"\1"),
        (rf"\b(?:{LIBRARY}|{ALIAS})(?:[./]\w+)*[./](\w+)", r"\1"),  # a path's last name
        (rf"{LIBRARY}\w*(?:[- ]learn\b)?", ""),
        (r"(?<![a-z])(?:npy\w*|npt|npz|np|sp)(?![a-z])", ""),
        (r"^ *(?:>>>|\.\.\.)(?= |$)", ""),
        (r"^ *[-=~^]{3,} *$", ""),
        (r"[`*|]+|::$|^ *\.\. ", " "),
    )
]


def docstrings() -> tuple[list[str], list[str]]:
    """Collect the docstrings of three libraries that are installed, without the libraries' names.

    Returns
    -------
    texts : list of str
        One plain text for each public function, class and module, in a fixed order.
    labels : list of str
        The library of each: numpy, scipy or scikit-learn.

    Examples
    --------
    >>> texts, labels = docstrings()
    >>> len(texts) > 2000
    True
    >>> sorted(set(labels))
    ['numpy', 'scikit-learn', 'scipy']
    """
    label_of: dict[str, str] = {}
    for label, package in LIBRARIES.items():
        for documented in _public_objects(package):
            text = _anonymous(inspect.cleandoc(documented.__doc__))
            if len(text.split()) >= SHORTEST:
                label_of.setdefault(text, label)
    return list(label_of), list(label_of.values())


def digits() -> Dataset:
    """Return handwritten digits: 1,797 images of 8 x 8 pixels.

    Returns
    -------
    X : ndarray of shape (1797, 64)
        How dark each pixel is, from 0 to 16.
    y : ndarray of shape (1797,)
        Index of the class.
    columns, classes : list of str
        Names.

    Examples
    --------
    >>> X, y, columns, classes = digits()
    >>> X.shape, columns[-1], classes[-1]
    ((1797, 64), 'pixel_7_7', '9')
    """
    return _bundled("digits")


def wine() -> Dataset:
    """Return the chemical analysis of 178 wines of three cultivars.

    Returns
    -------
    X : ndarray of shape (178, 13)
        The measurements.
    y : ndarray of shape (178,)
        Index of the class.
    columns, classes : list of str
        Names.

    Examples
    --------
    >>> X, y, columns, classes = wine()
    >>> X.shape, columns[0], classes
    ((178, 13), 'alcohol', ['class_0', 'class_1', 'class_2'])
    """
    return _bundled("wine")


def breast_cancer() -> Dataset:
    """Return measurements of cell nuclei from 569 breast tumours.

    Returns
    -------
    X : ndarray of shape (569, 30)
        The measurements.
    y : ndarray of shape (569,)
        Index of the class.
    columns, classes : list of str
        Names.

    Examples
    --------
    >>> X, y, columns, classes = breast_cancer()
    >>> X.shape, columns[0], classes
    ((569, 30), 'mean radius', ['malignant', 'benign'])
    """
    return _bundled("breast_cancer")


def real(name: str) -> Path | None:
    """Return the path of a file of your own folder of real data, if there is one.

    Parameters
    ----------
    name : str
        The file, from the folder that the variable ``NAIVELY_DATA`` names.

    Returns
    -------
    Path or None
        None where the variable is not set.

    Examples
    --------
    >>> path = real("tables/titanic.csv")
    >>> path is None or path.name == "titanic.csv"
    True
    """
    folder = os.environ.get("NAIVELY_DATA")
    return Path(folder) / name if folder else None


def _bundled(name: str) -> Dataset:
    data = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    columns, classes = (
        [str(x) for x in names] for names in (data.feature_names, data.target_names)
    )
    return data.data, data.target, columns, classes


def _public_objects(package: str) -> Iterator[Any]:
    """Yield the documented modules, classes and functions of a package, in a fixed order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in _public_modules(importlib.import_module(package)):
            if module.__doc__:
                yield module
            for name in sorted(getattr(module, "__all__", dir(module))):
                try:
                    value = getattr(module, name)
                except (AttributeError, ImportError):  # announced, but experimental or gone
                    continue
                if not name.startswith("_") and _is_documented(value, package):
                    yield value


def _public_modules(root: ModuleType) -> Iterator[ModuleType]:
    yield root
    below = pkgutil.iter_modules(root.__path__, f"{root.__name__}.")
    for info in sorted(below, key=attrgetter("name")):
        if SKIPPED.search(info.name):
            continue
        module = importlib.import_module(info.name)
        if info.ispkg:
            yield from _public_modules(module)
        else:
            yield module


def _is_documented(value: Any, package: str) -> bool:
    """Whether a value is a function or class of the package, with a docstring."""
    named = callable(value) and isinstance(getattr(value, "__name__", None), str)
    home = getattr(value, "__module__", None) or package  # ufuncs do not say
    return named and str(home).partition(".")[0] == package and isinstance(value.__doc__, str)


def _anonymous(text: str) -> str:
    """Return a text without the names of libraries and without markup."""
    for pattern, replacement in REMOVED:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())

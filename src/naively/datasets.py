"""Small data that need no download: the lectures' tables and texts, and what is installed already.

Polls, penguins and text messages are real, and a function of each names their source and licence.
Some data were made up for these pages. Iris, digits, wines and tumours are those of scikit-learn.
"""

from __future__ import annotations

import csv
import importlib
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Cell = str | float | None
    Dataset = tuple[NDArray[np.float64], NDArray[np.int64], list[str], list[str]]

# Tables of the lectures' examples, row by row.
TENNIS = """
sunny hot high weak no, sunny hot high strong no, overcast hot high weak yes, rain mild high weak
yes, rain cool normal weak yes, rain cool normal strong no, overcast cool normal strong yes, sunny
mild high weak no, sunny cool normal weak yes, rain mild normal weak yes, sunny mild normal strong
yes, overcast mild high strong yes, overcast hot normal weak yes, rain mild high strong no
"""


def play_tennis() -> tuple[dict[str, list[str]], list[str]]:
    """Return fourteen days, of which is said what the weather was, and whether tennis was played.

    The table is Quinlan's (Induction of decision trees, Machine Learning 1, 1986, table 1), in the
    words of Mitchell (Machine Learning, 1997, table 3.2), who works the day sunny, cool, high,
    strong by hand: .0053 for yes, .0206 for no.

    Returns
    -------
    X : dict of str to list of str
        The columns outlook, temperature, humidity and wind.
    y : list of str
        Yes or no.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X, y = play_tennis()
    >>> day = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"]}
    >>> day["wind"] = ["strong"]
    >>> NaiveBayes.textbook("categorical").fit(X, y).explain(day)[0].worked()
    p(class) · p(outlook = sunny | class) · p(temperature = cool | class) ·
    p(humidity = high | class) · p(wind = strong | class)
    no:  5/14 · 3/5 · 1/5 · 4/5 · 3/5 = 18/875 = 0.0205714
    yes: 9/14 · 2/9 · 3/9 · 3/9 · 3/9 = 1/189 = 0.00529101
    their sum is 611/23625 = 0.0258624
    p(no | x)  = 0.0205714 / 0.0258624 = 486/611 = 0.795417
    p(yes | x) = 0.00529101 / 0.0258624 = 125/611 = 0.204583
    """
    days = [day.split() for day in TENNIS.split(",")]
    *columns, play = map(list, zip(*days, strict=True))
    names = ("outlook", "temperature", "humidity", "wind")
    return dict(zip(names, columns, strict=True)), play


MAILS = (
    ("spam", "cheap pills buy now"),
    ("spam", "buy cheap watches now"),
    ("spam", "you won a prize claim now"),
    ("spam", "free prize free money"),
    ("ham", "lunch at noon tomorrow"),
    ("ham", "notes from the meeting"),
    ("ham", "see you at the meeting"),
    ("ham", "are you free for lunch"),
)


def mails() -> tuple[list[str], list[str]]:
    """Return the eight mails of the lectures, which were made up, and whether each is spam.

    Returns
    -------
    texts : list of str
        Four of spam, and four of ham.
    labels : list of str
        Spam or ham.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes.textbook("text", smoothing=1).fit(*mails())
    >>> nb.predict(["claim your free pills", "lunch after the meeting"])
    array(['spam', 'ham'], dtype='<U4')
    """
    labels, texts = map(list, zip(*MAILS, strict=True))
    return texts, labels


def approval() -> tuple[dict[str, list[Any]], list[str]]:
    """Return how many approved of the president of the United States in 193 polls, 2001 to 2021.

    They are the polls of all adults by ABC News and the Washington Post, in the order of their last
    days, in whole per cent, from FiveThirtyEight's collection of polls
    (https://github.com/fivethirtyeight/data, polls/presidential_approval_with_strength_historical
    .csv of May 2021), whose data are under the Creative Commons Attribution 4.0 International
    License, https://creativecommons.org/licenses/by/4.0/. Columns and rows were chosen from it.

    Returns
    -------
    X : dict of str to list
        The columns end_date (dates as strings) and approve (per cent).
    president : list of str
        Bush, Obama, Trump or Biden.

    Examples
    --------
    >>> X, president = approval()
    >>> len(president), X["end_date"][0], min(X["approve"]), max(X["approve"])
    (193, '2001-04-22', 23, 92)
    """
    polls = _columns("approval.csv")
    percents = [*map(int, polls["approve"])]
    return {"end_date": polls["end_date"], "approve": percents}, polls["president"]


def penguins() -> tuple[dict[str, list[Cell]], list[str]]:
    """Return what was measured of 344 penguins of three species, with some cells missing.

    They were seen near Palmer Station, Antarctica (Gorman, Williams & Fraser, PLOS ONE 9, 2014),
    and are those of the R package palmerpenguins (https://github.com/allisonhorst/palmerpenguins),
    which are in the public domain (CC0 1.0). Columns were chosen from it.

    Returns
    -------
    X : dict of str to list
        The columns island and sex (strings), the length and the depth of the bill and the length
        of a flipper (mm), and the mass of the body (g). A cell that is missing is None.
    species : list of str
        Adelie, Chinstrap or Gentoo.

    Examples
    --------
    >>> X, species = penguins()
    >>> len(species), X["island"][0], X["bill_length_mm"][:4]
    (344, 'Torgersen', [39.1, 39.5, 40.3, None])
    """
    written = _columns("penguins.csv")
    species = written.pop("species")
    X: dict[str, list[Cell]] = {}
    for name, of in written.items():
        read = float if name.endswith(("_mm", "_g")) else str
        X[name] = [read(cell) if cell else None for cell in of]
    return X, species


def sms() -> tuple[list[str], list[str]]:
    """Return 600 text messages of about 2004 to 2011, and whether each is spam.

    They were chosen at random from those messages of the SMS Spam Collection (Almeida, Gomez
    Hidalgo & Yamakami, 2011; https://doi.org/10.24432/C5CC84) that are fit for a classroom. It is
    under the Creative Commons Attribution 4.0 International License,
    https://creativecommons.org/licenses/by/4.0/.

    Returns
    -------
    texts : list of str
        180 of spam, and 420 of ham, in a random order.
    labels : list of str
        Spam or ham.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> texts, labels = sms()
    >>> nb = NaiveBayes().fit(texts, labels)
    >>> nb.predict(["Call now to claim your prize", "call me when you are home"])
    array(['spam', 'ham'], dtype='<U4')
    """
    messages = _columns("sms.csv")
    return messages["text"], messages["label"]


def iris() -> Dataset:
    """Return the sepals and petals of 150 irises of three species.

    Returns
    -------
    X : ndarray of shape (150, 4)
        Lengths and widths, in centimetres.
    y : ndarray of shape (150,)
        Index of the class.
    columns, classes : list of str
        Names.

    Examples
    --------
    >>> X, y, columns, classes = iris()
    >>> X.shape, columns[0], classes
    ((150, 4), 'sepal length (cm)', ['setosa', 'versicolor', 'virginica'])
    """
    return _bundled("iris")


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
    """Return the path of a file of the folder that NAIVELY_DATA names, None if it names none."""
    folder = os.environ.get("NAIVELY_DATA")
    return Path(folder) / name if folder else None


def _columns(file: str) -> dict[str, list[str]]:
    """Return the columns of a table of this package, as they are written."""
    text = (resources.files("naively") / file).read_text(encoding="utf-8")
    names, *rows = csv.reader(text.splitlines())
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _bundled(name: str) -> Dataset:
    data = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    columns, classes = (
        [str(x) for x in names] for names in (data.feature_names, data.target_names)
    )
    return data.data, data.target, columns, classes

"""Interactive pictures: a page gets one by a line ``<!-- motion: name -->``.

Each is plain JavaScript in ``docs/motion``, a file a widget, which is drawn by ``motion.js`` and
scores by the library's own scorer. Here is what each says beside it, and what Python gives it: data
and models, learned while the page is made. Nothing is asked of a network.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from naively import NaiveBayes
from naively.datasets import play_tennis
from naively.inspect.scorecard import in_bytes, scorer
from naively.kernels.folding import table_text

FOLDER = Path(__file__).parents[1] / "motion"
LINE = re.compile(r"^<!-- motion: ([a-z]+) -->$", re.MULTILINE)


def words() -> dict[str, Any]:
    """Return mails to count the words of, and a message."""
    mails = {
        "spam": ["cheap pills buy now", "win money now now", "cheap money offer"],
        "ham": ["lunch at noon", "meeting now at noon", "money for the lunch meeting"],
    }
    texts = [text for of in mails.values() for text in of]
    labels = [label for label, of in mails.items() for _ in of]
    message = "cheap lunch now, money for pills"
    return {"texts": texts, "labels": labels, "classes": ["ham", "spam"], "message": message}


def learn_mail() -> NaiveBayes:
    """Learn the mails of ``docs/motion/mails.txt``."""
    lines = (FOLDER / "mails.txt").read_text(encoding="utf-8").splitlines()[1:]
    labels, texts = zip(*(line.split("|") for line in lines), strict=True)
    return NaiveBayes("multinomial", smoothing=1).fit(list(texts), list(labels))


def mail() -> dict[str, Any]:
    """Return a model of mail as a scorecard, and mails to begin with."""
    samples = {
        "Doubtful": "You are free for lunch on Friday? Claim your prize: cheap noodles, now!",
        "Spam": "Winner! Click here now to claim your free prize money.",
        "Ham": "The notes from the meeting are attached, see you on Monday.",
    }
    card = learn_mail().export.scorecard().to_dict()
    del card["unicode"]  # which is there once a page
    return {"card": card, "samples": samples}


def learn_copies(copies: int, weights: str | None) -> NaiveBayes:
    """Learn 400 rows of one column that is there several times."""
    x, y = _one_column(400, seed=0)
    table = {f"x{j}": x for j in range(copies)}
    return NaiveBayes("gaussian", weights=weights, random_state=0).fit(table, y)


def copies() -> dict[str, Any]:
    """Return a scorecard of each number of copies, with weights and without, and other rows."""
    cards = {}
    for weights in (None, "loo"):
        for n in range(1, 11):
            card = learn_copies(n, weights).export.scorecard()
            cards[f"{str(weights).lower()}-{n}"] = card.to_dict()
    x, y = _one_column(300, seed=1)
    rows = [
        [value, int(label == "yes")] for value, label in zip(x.tolist(), y.tolist(), strict=True)
    ]
    return {"cards": cards, "truth": 2 / DEVIATION**2, "rows": rows}


DEVIATION = 2.0  # of the column in each class, whose means are -1 and 1


def _one_column(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    is_so = rng.random(n) < 0.5
    x = rng.normal(np.where(is_so, 1, -1), DEVIATION).round(2)
    return x, np.where(is_so, "yes", "no")


def tally() -> dict[str, Any]:
    """Return the days of Mitchell (1997, table 3.2); the last two are not learned yet."""
    X, y = play_tennis()
    rows = [[*day] for day in zip(*X.values(), y, strict=True)]
    levels = {
        "outlook": ["sunny", "overcast", "rain"],
        "temperature": ["cool", "mild", "hot"],
        "humidity": ["high", "normal"],
        "wind": ["strong", "weak"],
    }
    return {"columns": levels, "rows": rows, "classes": ["no", "yes"], "start": 12}


@dataclass(frozen=True)
class Widget:
    """What a widget is called, what it says, and what Python gives it."""

    title: str
    says: str
    data: Callable[[], Any] = lambda: None


WIDGETS = {
    "flips": Widget(
        "Flips of a coin, with a prior",
        "Drag the blue dot: sideways to move the prior, upwards to make it narrower. Then add "
        "heads and tails. The posterior lies between prior and likelihood, nearer to the "
        "narrower one. With many flips MLE, MAP and mean agree. With none the posterior is the "
        "prior. At Beta(1, 1) MAP equals MLE. After three heads and no tails MLE is 1, and the "
        "mean is not.",
    ),
    "gaussians": Widget(
        "Two Gaussians and their border",
        "Drag the means (full dots), the widths (hollow dots), and the cross, a row to be "
        "classified. If the classes share a variance, the squares cancel, and the border is a "
        "straight line. If each class has its own, the border is a parabola, an ellipse or a "
        "hyperbola. Make one class narrow within the other to see an ellipse. Move the prior: "
        "the border retreats without turning.",
    ),
    "words": Widget(
        "The pseudo-count λ over the words of a message",
        "Drag λ. At 0 an unseen word rules a class out. If every class is ruled out, only the "
        "prior is left. A little above 0 all words count. The greater λ is, the more alike the "
        "classes' probabilities of a word are, and the posterior returns to the prior. Type a "
        "message of your own: words that are in no mail say nothing.",
        words,
    ),
    "points": Widget(
        "Points, and the regions of two classifiers",
        "Click to set a point, drag it to move it, and click it to take it away. By keyboard, "
        "arrows move the cross, Enter sets a point, and Delete takes it away. Naive Bayes fits "
        "a Gaussian to each class, so its border bends. Logistic regression fits a straight "
        "border. Naive Bayes wins if one class lies within the other. Both fail on the "
        "chessboard, as neither sees two columns together. Two outliers widen a Gaussian and "
        "bend the border of naive Bayes. They hardly move logistic regression's.",
    ),
    "mail": Widget(
        "A mail to type",
        "Type a mail. Words that were learned are marked: blue and dotted for ham, orange and "
        "solid for spam. The deeper the colour, the greater the weight. The weights and the "
        "prior add up to the log odds, which give the probability. Try to write spam that "
        "passes: good words outweigh bad ones, and misspelt words say nothing. The model "
        "learned 50 short mails when this page was made.",
        mail,
    ),
    "copies": Widget(
        "Copies of a column",
        "With one column the probability is right. Now copy it. Naive Bayes takes the copies "
        "for independent evidence, and its log odds grow with their number. As many rows are "
        "right as before, but it says that nearly all are. Leave-one-out fits weights that "
        "divide the evidence among the copies, and the curve stays near the truth. Drag the "
        "dot to read a row.",
        copies,
    ),
    "tally": Widget(
        "Learn and forget",
        "This tally is all that the model keeps of the days. Tick a day to learn it, and untick "
        "it to forget it. A few counts move by 1, and are marked. The probability is that of a "
        "new fit to the ticked days, to the last digit. Forget the sunny days: one "
        "pseudo-count is left of sunny.",
        tally,
    ),
}  # fmt: skip


def scripts(names: list[str]) -> dict[str, str]:
    """Return the scripts that a page of these widgets needs, in order, by their file names."""
    return {
        "naively-scorer.js": scorer(),
        "motion.js": _read("motion.js"),
        "motion-unicode.js": f"motion.unicode = {json.dumps(table_text())};\n",
        **{f"motion-{name}.js": _read(f"{name}.js") for name in names},
    }


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def markup(name: str) -> str:
    """Return a widget as HTML, on one line: its data, what it says, and where it is drawn."""
    of = WIDGETS[name]
    data = json.dumps(of.data(), separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<figure class="motion" data-motion="{name}" aria-label="{html.escape(of.title)}">'
        f"<figcaption>{html.escape(of.says)}</figcaption>"
        f'<script type="application/json">{data}</script>'
        "<noscript>This is drawn by a script, and scripts are off.</noscript></figure>"
    )


def fill(app: Any, page: str, source: list[str]) -> None:
    """Put the widgets into the text of a page, and note which it has."""
    names = LINE.findall(source[0])
    unknown = sorted(set(names) - set(WIDGETS))
    if unknown:
        raise ValueError(f"{page} asks for {unknown[0]!r}; known are {', '.join(WIDGETS)}.")
    app.env.motion = getattr(app.env, "motion", {}) | {page: list(dict.fromkeys(names))}
    source[0] = LINE.sub(lambda found: markup(found[1]), source[0])


def load(app: Any, page: str, *_: Any) -> None:
    """Load the scripts on pages that have widgets, and on no other."""
    names = getattr(app.env, "motion", {}).get(page)
    if names:
        app.add_css_file("motion.css")
        for script in scripts(names):
            app.add_js_file(script)


def write(app: Any) -> None:
    """Write the scripts to where Sphinx looks for them."""
    if app.builder.format != "html":
        return
    folder = Path(app.doctreedir) / "motion"
    folder.mkdir(parents=True, exist_ok=True)
    for name, script in scripts(list(WIDGETS)).items():
        (folder / name).write_bytes(in_bytes(script))
    (folder / "motion.css").write_text(_read("motion.css"), encoding="utf-8")
    app.config.html_static_path.append(str(folder))


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", write)
    app.connect("source-read", fill)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": False, "parallel_write_safe": True}

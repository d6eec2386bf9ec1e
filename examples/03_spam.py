r"""
Spam: maximum likelihood against smoothing
==========================================

The data are 600 text messages: some are learned, and the others are classified. If
NAIVELY_DATA names a folder with the mails of Enron's staff, 11,000 of these are used. A
message is a bag of words. The maximum likelihood estimate of a word's probability is
its share among all words of the class. It is 0 for an unseen word, and one such word
rules the class out. Smoothing adds a pseudo-count to each of the V words of the
vocabulary:

.. math::
   \hat p_{\text{MLE}}(w \mid c) = \frac{n_{wc}}{\sum_v n_{vc}}, \qquad
   \hat p_\alpha(w \mid c) = \frac{n_{wc} + \alpha}{\sum_v n_{vc} + \alpha V}
"""

import random

import matplotlib.pyplot as plt

from naively import NaiveBayes
from naively.datasets import real, sms
from naively.lectures import side_by_side

# %%
# Messages in a random order: first those to be learned, then those of the test.
path = real("text/enron_spam.jsonl.gz")
print(
    "Data: text/enron_spam.jsonl.gz, in full."
    if path
    else "Data: 600 text messages of naively.datasets."
)
if path:
    import pandas as pd

    mails = pd.read_json(path, lines=True)
    pairs = list(zip(mails.subject + "\n" + mails.text, mails.label, strict=True))
else:
    pairs = list(zip(*sms(), strict=True))
random.Random(0).shuffle(pairs)
n, later = (10_000, 1_000) if path else (400, 200)
texts, labels = zip(*pairs[: n + later], strict=True)
train = list(texts[:n]), list(labels[:n])
test = list(texts[n:]), list(labels[n:])

# %%
# Maximum likelihood, and a pseudo-count of 1
# -------------------------------------------
words = {"event_models": "multinomial", "text": "words", "weights": None}
models = {
    "maximum likelihood": NaiveBayes(**words, estimate="mle"),
    "pseudo-count 1": NaiveBayes(**words, smoothing=1.0),
    "pseudo-count, fitted": NaiveBayes(**words),
    "naively's default": NaiveBayes(),
}
scores = {name: nb.fit(*train).evaluate(*test) for name, nb in models.items()}
print(f"{n:,} messages learned, {later:,} classified")
for name, s in scores.items():
    print(
        f"{name:23}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )
for name, ax in zip(list(models)[:2], side_by_side(*list(models)[:2]), strict=True):
    scores[name].plot_confusion(ax=ax)

# %%
# The learning curve
# ------------------
# How many messages are enough? The tally of 400 messages is the tally of 200 plus that
# of the next 200, so a learning curve costs one pass over them.
names = list(models)[:2]
for name, ax in zip(names, side_by_side(*names), strict=True):
    models[name].curve.learning(*train, test=test, repeats=3).plot(ax=ax)

# %%
# The smoothing curve
# -------------------
# How much smoothing is best? Nothing is counted again: one tally serves all
# pseudo-counts. Leave-one-out needs no held-out rows, and finds nearly the same.
curve = models["pseudo-count 1"].curve.smoothing(*test)
for metric, ax in zip(
    ("accuracy", "log_loss"), side_by_side("accuracy", "log loss"), strict=True
):
    curve.plot(ax, metric)
plt.show()

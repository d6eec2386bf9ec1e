r"""
A detector of fake news
=======================

Is a headline from The Onion, which invents its news, or from a paper? (Where
NAIVELY_DATA does not name a folder that holds them, others stand in.) Each word adds
its weight of evidence, and the sum of the weights and of the class prior is the log
odds of the posterior:

.. math::
   \log\frac{p(a \mid \text{words})}{p(b \mid \text{words})} = \log\frac{p(a)}{p(b)}
   + \sum_i \log\frac{p(\text{word}_i \mid a)}{p(\text{word}_i \mid b)}
"""

import matplotlib.pyplot as plt

from naively import NaiveBayes
from naively.datasets import docstrings, real
from naively.lectures import side_by_side

# %%
# Texts and their classes; every sixth is for the test.
path = real("text/onion_headlines.jsonl.gz")
print(
    "Data: text/onion_headlines.jsonl.gz, in full."
    if path
    else "Data: docstrings of NumPy and SciPy, cut to their first line."
)
if path:
    import pandas as pd

    lines = pd.read_json(path, lines=True)
    texts, labels, asked = (
        list(lines.text),
        list(lines.label),
        "Unicorn found on ferry to zyxxy",
    )
else:
    of = [
        (text.split("\n")[0], label) for text, label in zip(*docstrings(), strict=True)
    ]
    texts, labels = zip(*((t, of) for t, of in of if of != "scikit-learn"), strict=True)
    asked = "Matrix of the unicorn, sampled from zyxxy"
train = [i for i in range(len(texts)) if i % 6]
learned = [texts[i] for i in train], [labels[i] for i in train]
test = list(texts[::6]), list(labels[::6])

# %%
# The most telling words
# ----------------------
# These are single words, one pseudo-count each, and no weights: the naive Bayes of the
# textbook.
nb = NaiveBayes("multinomial", text="words", smoothing=1.0, weights=None).fit(*learned)
nb.inspect.strongest(8).plot()
print(nb.inspect.strongest(3))

# %%
# A headline, word by word
# ------------------------
# "zyxxy" was never seen, so it says nothing. Its bar is missing, and the answer is
# still there.
headline = nb.explain([asked])[0]
headline.plot()
print(headline)

# %%
# Probabilities of zero
# ---------------------
# Without smoothing a word that came in one class only rules out the other, whatever
# else is there; and a text with such words of both classes is impossible in either.
# Leaving that to one word is what the maximum likelihood estimate does.
mle = NaiveBayes("multinomial", text="words", estimate="mle", weights=None).fit(
    *learned
)
print(mle.explain([asked])[0])
impossible = (mle.predict_joint_log_proba(test[0]).max(axis=1) == float("-inf")).mean()
print(f"headlines that no class could have written, by the MLE: {impossible:.1%}")

# %%
# How good are they?
# ------------------
# The default learns pairs of words and parts of words as well, and fits how much each
# counts.
default = NaiveBayes().fit(*learned)
models = {"maximum likelihood": mle, "pseudo-count 1": nb, "naively's default": default}
scores = {name: model.evaluate(*test) for name, model in models.items()}
for name, s in scores.items():
    print(
        f"{name:23}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )
left, right = side_by_side("pseudo-count 1", "the default, and before: pseudo-count 1")
before, now = scores["pseudo-count 1"], scores["naively's default"]
before.plot_confusion(ax=left)
now.plot_reliability(ax=right, before=before)
plt.show()

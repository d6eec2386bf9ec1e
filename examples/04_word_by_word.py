r"""
What each word of a text says
=============================

Is a text message spam? If NAIVELY_DATA names a folder with headlines, the question is
another one: is a headline from The Onion, where news are invented, or from a paper?
Each word adds its weight of evidence. The weights and the class prior sum to the log
odds of the posterior:

.. math::
   \log\frac{p(a \mid \text{words})}{p(b \mid \text{words})} = \log\frac{p(a)}{p(b)}
   + \sum_i \log\frac{p(\text{word}_i \mid a)}{p(\text{word}_i \mid b)}
"""

import matplotlib.pyplot as plt

from naively import NaiveBayes
from naively.datasets import real, sms
from naively.lectures import side_by_side

# %%
# Texts and their classes; every sixth is for the test.
path = real("text/onion_headlines.jsonl.gz")
print(
    "Data: text/onion_headlines.jsonl.gz, in full."
    if path
    else "Data: 600 text messages of naively.datasets."
)
if path:
    import pandas as pd

    lines = pd.read_json(path, lines=True)
    texts, labels = list(lines.text), list(lines.label)
    asked = "Unicorn found on ferry to zyxxy"
else:
    texts, labels = sms()
    asked = "Call me about the free zyxxy tomorrow"
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
# A text, word by word
# --------------------
# "zyxxy" was never seen, so it says nothing. Its bar is missing, and the answer is
# still there.
explained = nb.explain([asked])[0]
explained.plot()
print(explained)

# %%
# Probabilities of zero
# ---------------------
# A word may have come in one class only. Without smoothing it rules out the other
# class, whatever else the text says. A text with such words of both classes is
# impossible in either.
mle = NaiveBayes("multinomial", text="words", estimate="mle", weights=None).fit(
    *learned
)
print(mle.explain([asked])[0])
impossible = (mle.predict_joint_log_proba(test[0]).max(axis=1) == float("-inf")).mean()
print(f"texts that no class could have written, by the MLE: {impossible:.1%}")

# %%
# How good are they?
# ------------------
# The default also learns pairs of words and parts of words, and fits their weights.
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

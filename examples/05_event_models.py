r"""
Three event models of the same words
====================================

The texts are messages, spam or not. If NAIVELY_DATA names a folder with WebKB, they are
web pages of a student, a faculty member, a course or a project. Three event models read
the same words. Bernoulli asks whether each word of the vocabulary is there, and uses
absence too. Multinomial counts occurrences. Complement estimates each class from all
others; with two classes it is multinomial again.

.. math::
   \log p_{\text{Bernoulli}}(x \mid c) = \sum_w x_w \log p_{wc}
   + (1 - x_w) \log(1 - p_{wc})

.. math::
   \log p_{\text{multinomial}}(x \mid c) = \sum_w n_w \log p_{wc} + \text{const}
"""

import matplotlib.pyplot as plt

from naively import NaiveBayes
from naively.datasets import real, sms
from naively.lectures import side_by_side

# %%
# Texts to learn, and texts of the test.
path = real("text/webkb_train.jsonl.gz")
print(
    "Data: text/webkb_train.jsonl.gz, in full."
    if path
    else "Data: 600 text messages of naively.datasets."
)
if path:
    import pandas as pd

    pages, later = (
        pd.read_json(path.with_name(f"webkb_{part}.jsonl.gz"), lines=True)
        for part in ("train", "test")
    )
    train, test = ((list(of.text.fillna("")), list(of.label)) for of in (pages, later))
else:
    texts, labels = sms()
    test = texts[::4], labels[::4]
    kept = [i for i in range(len(texts)) if i % 4]
    train = [texts[i] for i in kept], [labels[i] for i in kept]

# %%
# Three event models, and the default
# -----------------------------------
models = {
    name: NaiveBayes(name, text="words", weights=None)
    for name in ("bernoulli", "multinomial", "complement")
}
models["naively's default"] = NaiveBayes()
scores = {name: nb.fit(*train).evaluate(*test) for name, nb in models.items()}
print(f"{len(train[0]):,} texts learned, {len(test[0]):,} classified")
for name, s in scores.items():
    print(
        f"{name:23}   accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}   "
        f"calibration error {s.calibration_error:.3f}"
    )

# %%
# What is confused with what
# --------------------------
for score, ax in zip(
    scores.values(), side_by_side(*scores, rows=2, height=3), strict=True
):
    score.plot_confusion(ax=ax)

# %%
# The words that tell
# -------------------
models["multinomial"].inspect.strongest(5).plot()
print(models["multinomial"].inspect.strongest(4))
plt.show()

r"""
Bernoulli against multinomial as the vocabulary grows
=====================================================

McCallum & Nigam, A comparison of event models for naive Bayes text classification
(1998), found that Bernoulli does well with few words, and multinomial better with many.
For Bernoulli absent words are evidence too, and a text lacks nearly all words of a
large vocabulary.

.. math::
   \log p_{\text{Bernoulli}}(x \mid c) = \sum_{w \in x} \log p_{wc}
   + \sum_{w \notin x} \log(1 - p_{wc}), \qquad
   \log p_{\text{multinomial}}(x \mid c) = \sum_{w \in x} n_w \log p_{wc} + \text{const}

They chose words by mutual information with the class. Here words are chosen by how
often they come.
"""

import matplotlib.pyplot as plt

from naively import NaiveBayes, Text
from naively.datasets import real, sms
from naively.lectures import draw_lines, side_by_side

# %%
# Texts to learn, and texts of the test
# -------------------------------------
path = real("text/newsgroups20_train.jsonl.gz")
print(
    "Data: text/newsgroups20_train.jsonl.gz, in full."
    if path
    else "Data: 600 text messages of naively.datasets."
)
if path:
    import pandas as pd

    posts, later = (
        pd.read_json(path.with_name(f"newsgroups20_{part}.jsonl.gz"), lines=True)
        for part in ("train", "test")
    )
    train, test = ((list(of.body.fillna("")), list(of.label)) for of in (posts, later))
    sizes = [30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
else:
    texts, labels = sms()
    test = texts[::4], labels[::4]
    kept = [i for i in range(len(texts)) if i % 4]
    train = [texts[i] for i in kept], [labels[i] for i in kept]
    sizes = [3, 10, 30, 100, 300, 1_000, 3_000]

# %%
# Accuracy by vocabulary size
# ---------------------------
accuracy = {"bernoulli": [], "multinomial": []}
print(f"{len(train[0]):,} texts learned, {len(test[0]):,} classified")
print("    words  bernoulli  multinomial")
for size in sizes:
    for event, found in accuracy.items():
        nb = NaiveBayes(Text(event=event, max_features=size), weights=None).fit(*train)
        found.append(nb.evaluate(*test).accuracy)
    of = {event: found[-1] for event, found in accuracy.items()}
    print(f"{size:9,}  {of['bernoulli']:9.4f}  {of['multinomial']:11.4f}")
(ax,) = side_by_side("")
draw_lines(sizes, accuracy, ("words in the vocabulary", "accuracy"), ax)
plt.show()

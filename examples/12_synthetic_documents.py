r"""
Synthetic documents
===================

A generative model can write. Here the probabilities of words are known. Documents of a
fixed length are drawn word by word, and learned again. The more documents there are,
the closer the estimates come. As the parameters are known, so is the best possible
accuracy.

.. math::
   \text{words of a document of class } c \sim \text{Multinomial}(L, p_c), \qquad
   \hat p_{wc} = \frac{n_{wc}}{\sum_v n_{vc}}
"""

import matplotlib.pyplot as plt

from naively import Categorical, Multinomial, NaiveBayes
from naively.lectures import side_by_side

# %%
# Known words
# -----------
print("Data: documents drawn from known probabilities of words.")
spam = {"cheap": 0.40, "pills": 0.30, "meeting": 0.10, "lunch": 0.20}
ham = {"cheap": 0.15, "pills": 0.05, "meeting": 0.45, "lunch": 0.35}
columns = {"text": {"spam": Multinomial.of(spam), "ham": Multinomial.of(ham)}}
truth = NaiveBayes.of(class_prior={"spam": 0.3, "ham": 0.7}, columns=columns)
texts, labels = truth.inspect.sample(5, random_state=0, length=6)
for text, label in zip(texts, labels, strict=True):
    print(f"{label:5} {text}")

# %%
# The parameters come back
# ------------------------
texts, labels = truth.inspect.sample(2_000, random_state=1, length=6)
learned = NaiveBayes("multinomial", text="words", estimate="mle", weights=None).fit(
    texts, labels
)
print("class  word      truth  estimate")
for label, p in (("spam", spam), ("ham", ham)):
    of = [text for text, of in zip(texts, labels, strict=True) if of == label]
    words = " ".join(of).split()  # a document of 6 words is 6 throws of a die of words
    die = Categorical(estimate="mle").fit(words)
    for word in p:
        print(f"{label:5}  {word:8}  {p[word]:.3f}    {die.mle[word]:.4f}")
    if label == "spam":
        Categorical().consistency(words, truth=p).plot()
print(learned.inspect.parameters(column="text"))

# %%
# How well can anybody do?
# ------------------------
# The model with the true parameters is the Bayes optimal classifier. Longer documents
# are easier.
print("words  truth   learned from 2,000 documents of 6 words")
for length in (1, 3, 6, 12, 24):
    test = truth.inspect.sample(5_000, random_state=length, length=length)
    best, found = truth.evaluate(*test), learned.evaluate(*test)
    print(f"{length:5}  {best.accuracy:.4f}  {found.accuracy:.4f}")

# %%
# The learning curve
# ------------------
test = truth.inspect.sample(2_000, random_state=2, length=6)
left, right = side_by_side("maximum likelihood", "pseudo-count 1")
learned.curve.learning(texts, labels, test=test, repeats=3).plot(ax=left)
smoothed = NaiveBayes("multinomial", text="words", smoothing=1.0, weights=None)
smoothed.curve.learning(texts, labels, test=test, repeats=3).plot(ax=right)
plt.show()

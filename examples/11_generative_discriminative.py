r"""
Generative against discriminative
=================================

Naive Bayes with one variance for all classes and logistic regression are the same
family of linear models. The first models p(x, y) and counts; the second models p(y | x)
and searches. Ng & Jordan, On discriminative vs. generative classifiers (2002), found
that naive Bayes comes near its limit with few rows. Logistic regression needs more
rows, and has the better limit.

.. math::
   \log\frac{p(1 \mid x)}{p(0 \mid x)} = w_0 + \sum_j w_j x_j, \qquad
   w_j = \frac{\mu_{j1} - \mu_{j0}}{\sigma_j^2}
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from naively import Gaussian, NaiveBayes
from naively.datasets import real
from naively.lectures import draw_lines, side_by_side

# %%
# Tables of numbers with two classes
# ----------------------------------
tumours = load_breast_cancer()
folder = real("tables/{pima_diabetes,magic_gamma,spambase}.csv")
print(
    "Data: tables/{pima_diabetes,magic_gamma,spambase}.csv, in full."
    if folder
    else "Data: tables of scikit-learn."
)
if folder:
    import pandas as pd

    names, target = ("pima_diabetes", "magic_gamma", "spambase"), "class"
    tables = {name: pd.read_csv(folder.with_name(f"{name}.csv")) for name in names}
    data = {
        name: (
            of.drop(columns=target).to_numpy(float),
            of[target].astype(str).to_numpy(),
        )
        for name, of in tables.items()
    }
else:
    data = {"tumours": (tumours.data, tumours.target)}
    for name, of in (("wine", load_wine()), ("iris", load_iris())):
        hard = of.target > 0  # the second class and the third
        data[name] = of.data[hard], of.target[hard]

# %%
# Accuracy as rows are added
# --------------------------
# Each point is a mean over random halves of the rows; the first n rows of a half are
# learned. With few columns, as of the irises, both begin alike: there are few weights
# to search for.
repeats = 10 if folder else 20
draw = np.random.default_rng(0)
generative = NaiveBayes(Gaussian(variance="shared"), weights=None)
discriminative = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
models = {"naive Bayes": generative, "logistic regression": discriminative}
print("table             rows  naive Bayes  logistic regression")
for (name, (X, y)), ax in zip(data.items(), side_by_side(*data), strict=True):
    sizes = np.unique(np.geomspace(8, min(len(y) // 2, 2_000), 7).astype(int))
    accuracy = {model: np.zeros(len(sizes)) for model in models}
    for _ in range(repeats):
        order = draw.permutation(len(y))
        test = order[len(y) // 2 :][:2_000]
        for i, n in enumerate(sizes):
            learned = order[:n]
            if len(np.unique(y[learned])) < 2:  # it is the same for both
                learned = np.append(
                    learned[1:], order[np.argmax(y[order] != y[learned[0]])]
                )
            for model, of in models.items():
                right = of.fit(X[learned], y[learned]).predict(X[test]) == y[test]
                accuracy[model][i] += right.mean() / repeats
    draw_lines(sizes, accuracy, ("rows learned", "accuracy"), ax)
    for i in (0, len(sizes) // 2, len(sizes) - 1):
        print(f"{name:16} {sizes[i]:5,}  {accuracy['naive Bayes'][i]:11.4f}"
              f"  {accuracy['logistic regression'][i]:19.4f}")  # fmt: skip

# %%
# Both are linear
# ---------------
# The weights of naive Bayes follow from means and variances. Logistic regression
# searches for all of its weights together. On standardised columns they can be
# compared.
X = dict(
    zip(
        tumours.feature_names,
        StandardScaler().fit_transform(tumours.data).T,
        strict=True,
    )
)
X = {
    name: X[name]
    for name in ("mean radius", "mean texture", "mean smoothness", "mean symmetry")
}
nb = generative.fit(X, tumours.target)
line = nb.inspect.linear()
matrix = np.column_stack(list(X.values()))
searched = LogisticRegression().fit(matrix, tumours.target)
joint = nb.predict_joint_log_proba(X)
apart = np.abs(
    matrix @ line.coef[0] + line.intercept[0] - joint[:, 1] + joint[:, 0]
).max()
print(f"log odds of naive Bayes are linear but for {apart:.1e} nats")
print(f"{'column':18}{'naive Bayes':>12}{'logistic regression':>22}")
for name, counted, found in zip(X, line.coef[0], searched.coef_[0], strict=True):
    print(f"{name:18}{counted:12.3f}{found:22.3f}")
line.plot()
plt.show()

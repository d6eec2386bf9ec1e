"""What event models, priors and estimates refuse, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import naively
from naively import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Complement,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    InverseGamma,
    KernelDensity,
    LogisticNormal,
    LogitNormal,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    Poisson,
)

NAN, INF = float("nan"), float("inf")
NUMBERS = [1.5, 3.25, -0.5, 2.0]
COIN, BOTH = Bernoulli(prior=Beta(1, 1)).fit([1, 0]), NormalInverseGamma(0, 1, 1, 1)
WHOLE = r"Column 'k' holds 6; binomial\(trials=5\) counts whole numbers from 0 to 5"
NO_PRIOR = "Bernoulli has no proper conjugate prior here"
HALVES = {"x": 0.5, "y": 0.5}
A, B = Bernoulli.of(p=0.3), Poisson.of(rate=1)

PRIORS: list[tuple[Callable[[], object], str]] = [
    *((lambda x=x: Beta(x, 1), "Beta a must be greater than 0") for x in (0, -1, NAN, INF)),
    *((lambda x=x: Dirichlet([1, x]), "alpha must be greater than 0") for x in (0, -1, NAN, INF)),
    *((lambda x=x: Normal(0.0, x), "variance") for x in (0.0, -1.0, INF, NAN)),
    *((lambda x=x: NormalInverseGamma(0, x, 2, 3), "rows") for x in (0.0, -1.0, INF, NAN)),
    *((lambda x=x: NormalInverseGamma(0, 1, x, 3), "shape") for x in (0.0, -1.0, INF, NAN)),
    *((lambda x=x: NormalInverseGamma(0, 1, 2, x), "scale") for x in (0.0, -1.0, INF, NAN)),
    (lambda: InverseGamma(0, 1), "InverseGamma shape must be greater than 0"),
    (lambda: Normal(NAN, 1), "Normal mean must be finite"),
    (lambda: Beta(1, 2).interval(1.0), "probability must be between 0 and 1"),
    (lambda: Dirichlet(1).mean, r"say how many, as in Dirichlet\(1\).over\(3\)"),
    (lambda: Dirichlet([1, 2]).over(3), "has 2 counts and is not over 3 levels"),
    (lambda: LogisticNormal(variance=0.0), "LogisticNormal"),
    (lambda: LogisticNormal(mean=NAN), "LogisticNormal"),
    (lambda: LogisticNormal().fit([0, 2]), "the sample holds 2"),
    (lambda: Bernoulli(prior=Dirichlet(1)), "The prior of Bernoulli is Beta, not "),  # type: ignore[arg-type]
    (lambda: Bernoulli(prior=Gamma(1, 1)), "The prior of Bernoulli is Beta, not "),  # type: ignore[arg-type]
    (lambda: Geometric(prior=Dirichlet([1, 2])), "The prior of Geometric is Beta, not "),  # type: ignore[arg-type]
    (lambda: Poisson(prior=Beta(1, 1)), "The prior of Poisson is Gamma, not "),  # type: ignore[arg-type]
    (lambda: Categorical(prior=Beta(1, 1)), "The prior of Categorical is Dirichlet, not "),  # type: ignore[arg-type]
    (lambda: Multinomial(prior=1.0), "The prior of Multinomial is Dirichlet, not "),  # type: ignore[arg-type]
    (
        lambda: Gaussian(prior=Dirichlet(1)),  # type: ignore[arg-type]
        "The prior of Gaussian is NormalInverseGamma or Normal or InverseGamma, not ",
    ),
    (lambda: Gaussian(prior=Normal(0, 1)), "of the mean alone: give variance= a number"),
    (lambda: Gaussian(prior=InverseGamma(1, 1)), "of the variance alone: give mean= a number"),
    (lambda: Gaussian(prior=BOTH, variance=2.0), "alone it is Normal"),
    (lambda: Gaussian(prior=BOTH, mean=2.0), "the prior is InverseGamma"),
    (lambda: Categorical(prior=Dirichlet([1, 2, 3])).fit("ab").mean, "3 counts for 2 levels"),
]
SETTINGS: list[tuple[Callable[[], object], str]] = [
    (lambda: Gaussian(variance=1.0, mean=2.0), "nothing to estimate"),
    (lambda: Gaussian(mean=INF), "mean must be a finite number"),
    (lambda: Bernoulli(estimate="best"), "estimate must be one of"),  # type: ignore[arg-type]
    (lambda: Bernoulli(m=-1), "Bernoulli m must be at least 0"),
    (lambda: Multinomial(alpha=-1), "must be at least 0"),
    (lambda: Multinomial(alpha="lots"), "be a number, 'laplace' or 'jeffreys', got 'lots'"),
    (lambda: Poisson(alpha="laplace"), "Poisson alpha must be a number, got 'laplace'"),  # type: ignore[arg-type]
    *((lambda m=m: Categorical(m=m), "Categorical m must be") for m in (-1.0, NAN, "many")),
    (lambda: Categorical(m=[1.0, -2.0]), "Categorical m must be"),  # type: ignore[arg-type]
    (lambda: Histogram(smoothing=INF), "must be"),
    *((lambda m=m: Histogram(m=m), "must be") for m in (INF, -1.0)),
    *((lambda b=b: KernelDensity(bandwidth=b), "bandwidth") for b in (0.0, "wide")),
    (lambda: KernelDensity(alpha=-1.0), "alpha"),
    (lambda: KernelDensity(alpha=[1.0, 2.0]), "alpha"),  # type: ignore[arg-type]
    *(
        (lambda r=r: NegativeBinomial(r=r), "NegativeBinomial r must be greater than 0")
        for r in (0.0, -1.0, INF, NAN)
    ),
    *(
        (lambda n=n: Binomial(trials=n), r"needs the number of trials .* Binomial\(trials=10\)")
        for n in (0, -1, 2.5, True)
    ),
    (lambda: NaiveBayes("binomial").fit([[1], [2]], [0, 1]), "needs the number of trials"),
    *(
        (lambda low=low, high=high: LogitNormal(low=low, high=high), "low must be below high")
        for low, high in ((1, 0), (0, 0), (0, INF))
    ),
    (lambda: naively.compare_event_models([1, 2], [Poisson(), Gaussian()]), "not of one measure"),
    (lambda: naively.compare_event_models([1, 2, 3], []), "no event model to compare"),
]
SAMPLES: list[tuple[Callable[[], object], str]] = [
    (lambda: Bernoulli().fit([1, 2, 2, 1]), "the sample holds 2; give a threshold"),
    (lambda: Bernoulli().fit(list("HHT")), "numbers, and the sample holds 'H'; Categorical"),
    (lambda: Bernoulli().fit(["H", "T"]), r"Bernoulli\(success=...\) one of two values"),
    (lambda: Bernoulli(success="H").fit(list("HTX")), "there are 'T' and 'X' beside it"),
    (
        lambda: NaiveBayes(Bernoulli(success="H")).fit({"coin": ["H", "T"]}, [0, 1]),
        "is for a plain sample",
    ),
    (lambda: Categorical().fit([["a"], ["b"]]), "one column of levels.*fit each column alone"),
    (lambda: Categorical().fit(["a", 1]).expectation, "Level 'a' is no number"),
    (lambda: Gaussian().fit([1.0, "two"]), "the sample holds 'two'"),
    *(
        (lambda x=x: LogitNormal(low=0, high=100).fit(x), "needs numbers between 0 and 100")
        for x in ([0.0, 1.0], [50.0, 100.0], [-3.0, 4.0])
    ),
    *(
        (lambda x=x: NaiveBayes(Binomial(trials=5)).fit({"k": [1.0, x, 3]}, [0, 0, 1]), says)
        for x, says in (
            (6, WHOLE),
            (2.5, "Column 'k' holds 2.5"),
            (-1, "Negative values .* in column 'k'"),
        )
    ),
    *(
        (
            lambda of=of: NaiveBayes(of(), weights=None).fit([[1.0], [-1.0]], [0, 1]),
            f"(?i){of.__name__}",
        )
        for of in (Geometric, NegativeBinomial, Poisson, Exponential, Multinomial)
    ),
    (lambda: Bernoulli().fit([1, 0], sample_weight=[1]), r"weight must have shape \(2,\)"),
]
ASKED: list[tuple[Callable[[], object], str]] = [
    (COIN.log_bayes_factor, "Compare with another estimate, or with parameters"),
    (lambda: COIN.log_bayes_factor(COIN, p=0.5), "Compare with another estimate, or with param"),
    (
        lambda: COIN.log_bayes_factor(Bernoulli().fit([1, 0, 1])),
        r"of one sample, and these are of 2 and 3 values\.",
    ),
    (lambda: COIN.parameters("best"), "estimate must be one of"),  # type: ignore[arg-type]
    (COIN.surface, "Bernoulli has no mean and variance"),
    (lambda: Bernoulli(alpha=0).fit([1, 0]).log_evidence, NO_PRIOR),
    (lambda: Histogram().fit(NUMBERS).log_evidence, "Histogram has no likelihood at given param"),
    (lambda: Gaussian().fit(np.eye(2)).log_evidence, "estimate one column at a time"),
    (lambda: KernelDensity().fit(NUMBERS).posterior, "no parameters"),
    (lambda: Bernoulli().fit(np.ones((2, 2))).curve(), "A curve is of one column"),
    (lambda: Histogram().fit(NUMBERS).curve(), "Histogram has no likelihood at given parameters"),
    (lambda: Gaussian().fit([2.0, 2.0]).curve("mean"), "The values are all equal, or there are no"),
    (lambda: Gaussian().fit([]).surface(), "The values are all equal, or there are none"),
    (lambda: Poisson(alpha=0).fit([]).curve(), "give a grid"),
    (lambda: Categorical().fit(["a", "a"]).curve(), "parameter must be one of none"),
    (lambda: Categorical().fit("rgb").curve(), "parameter must be one of 'r', 'g', 'b', got None"),
    (
        lambda: Gaussian(mean=1.5, prior=InverseGamma(2.5, 3)).fit(NUMBERS).curve("mean"),
        "parameter must be one of 'variance', got 'mean'",
    ),
    (lambda: Multinomial().updates([1, 2]), "A curve is of one column"),
    (lambda: Gaussian().updates(NUMBERS), "Gaussian has several here"),
    (lambda: Categorical().updates(["a", "b"]), "Categorical has several here"),
    (lambda: Bernoulli(alpha=0).updates([1, 0]), "no proper conjugate prior"),
    (lambda: Bernoulli().updates([1], at=(-1,)), "at must be numbers of observations"),
    (lambda: Histogram().consistency(NUMBERS), "Histogram has no likelihood at given parameters"),
    (lambda: Bernoulli().consistency([1], truth={"q": 1}), "truth names 'q'"),
    (lambda: Bernoulli().consistency([]), "one observation at least"),
]
AT: list[tuple[Callable[[], object], str]] = [
    *(
        (lambda event=event, at=at: event.log_likelihood_at([1, 0], **at), says)
        for event, at, says in [
            (Bernoulli(), {"p": 1.5}, "Bernoulli p must be a probability, from 0 to 1, got 1.5"),
            (Bernoulli(), {"p": "x"}, "Bernoulli p must be a probability, from 0 to 1, got 'x'"),
            (Bernoulli(), {"rate": 1}, "The parameters of Bernoulli are p; got rate"),
            (Poisson(), {"rate": -1}, "Poisson rate must be at least 0"),
            (Exponential(), {"rate": 0}, "Exponential rate must be greater than 0"),
            (Gaussian(), {"mean": 1, "variance": 0}, "Gaussian variance must be greater than 0"),
            (Gaussian(), {"mean": INF, "variance": 1}, "Gaussian mean must be a finite number"),
            (Gaussian(), {"mean": 1}, "The parameters of Gaussian are mean, variance; got mean"),
            (Complement(), {"p": [0.5, 0.5]}, "Complement has no likelihood at given parameters"),
        ]
    ),
    (
        lambda: Categorical().log_likelihood_at(["a", "b"], p={"a": 1}),
        r"Categorical p must have a number for each level; .* 'b'",
    ),
    (lambda: Bernoulli.of(p=1.5), "Bernoulli p must be a probability, from 0 to 1, got 1.5"),
    (lambda: Bernoulli.of(p=NAN), "Bernoulli p must be a probability"),
    (lambda: Bernoulli.of(p=0.3).normal, "Bernoulli is not normal"),
    (lambda: Categorical.of(p={"a": 0.5, "b": 0.4}), "Categorical p .* that sum to 1"),
    (lambda: Categorical.of(p={"a": 1.5, "b": -0.5}), "Categorical p must be a probability"),
    (lambda: Multinomial.of(p={"Cheap": 1.0}), "'Cheap' is not one word of lower case"),
    (lambda: Multinomial.of(p={"cheap pills": 1.0}), "'cheap pills' is not one word"),
    (lambda: Multinomial.of(p={3: 1.0}), "Words must be strings, got 3"),  # type: ignore[dict-item]
    (lambda: Multinomial.of(p=[1.0], length=0), "Multinomial length must be greater than 0"),
    (lambda: Gaussian.of(mean=0, variance=0), "Gaussian variance must be greater than 0"),
    (lambda: Gaussian.of(mean=[0, 1], variance=[1]), "Gaussian has 2 means and 1 variances"),
    (lambda: Poisson.of(rate=-1), "Poisson rate must be at least 0"),
    (lambda: Exponential.of(rate=0), "Exponential rate must be greater than 0"),
    (lambda: Geometric.of(p=0), "Geometric p must be a probability above 0"),
]
GIVEN: list[tuple[Callable[[], object], str]] = [
    (lambda prior=prior, columns=columns: NaiveBayes.of(class_prior=prior, columns=columns), says)
    for prior, columns, says in [
        ({"x": 0.5, "y": 0.6}, {"c": {"x": A, "y": A}}, "class_prior must be .* sum to 1"),
        ([0.5, 0.5], {"c": {"x": A, "y": A}}, "class_prior must be a mapping"),
        (HALVES, {}, "Give one column at least"),
        (HALVES, {"c": {"x": A}}, "Column 'c' has no distribution for class 'y'"),
        ({"x": 1.0}, {"c": {"x": A, "y": A}}, "Column 'c' names the class 'y'"),
        (HALVES, {"c": {"x": A, "y": B}}, "Column 'c' is bernoulli.* poisson"),
        (HALVES, {"c": A}, "Column 'c' must be a mapping"),
        ({"x": 1.0}, {"c": {"x": Bernoulli().fit([1])}}, "must have parameters that are given"),
        ({"x": 1.0}, {"c": {"x": Bernoulli.of(p=[0.1, 0.2])}}, "parameters of 2 columns"),
    ]
]


EVERY = [*PRIORS, *SETTINGS, *SAMPLES, *ASKED, *AT, *GIVEN]


@pytest.mark.parametrize(("make", "says"), EVERY, ids=[says for _, says in EVERY])
def test_what_is_refused_is_said(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()

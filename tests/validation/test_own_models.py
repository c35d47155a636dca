"""Our own models for survival times, counts and ordered classes in comparisons and stacks."""

import numpy as np
import pytest
from sklearn.base import clone

from ispca import StackedCounts, StackedOrdinal, StackedSurvival
from ispca.validation import compare, recommended_methods
from kinds import count_data, ordinal_data, survival_data

SHORT = {"n_chains": 2, "n_warmup": 150, "n_draws": 150, "retry": False}
DATA = {"survival": survival_data, "count": count_data, "ordinal": ordinal_data}
STACKS = {"survival": StackedSurvival, "count": StackedCounts, "ordinal": StackedOrdinal}


def short_methods(kind):
    """Return the recommended methods with short chains."""
    methods = recommended_methods(3, kind=kind)
    for method in methods.values():
        if hasattr(method, "steps"):
            method["model"].set_params(**SHORT)
    return methods


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", DATA)
def test_recommended_methods(rng, kind):
    X, y = DATA[kind](rng, 90)
    methods = short_methods(kind)
    result = compare(methods, X, y, kind=kind, cv=3, n_jobs=1, baseline="base rate")
    assert not result.errors
    ours, base = list(methods).index("ISPCA"), list(methods).index("base rate")
    assert not np.isnan([scores[:, ours] for scores in result.scores.values()]).any()
    for name in (result.main_metric, "mlpd"):
        means = result.scores[name].mean(axis=0)
        assert means[ours] > means[base]
    check = result.predictions[0][ours].posterior
    assert check["n_draws"] == 300
    assert np.isfinite(check["r_hat"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", DATA)
def test_weights_reach_reduction_and_model(rng, kind):
    X, y = DATA[kind](rng, 60)
    weight = np.where(np.arange(60) % 3, 1.0, 0.0)
    method = {"ISPCA": clone(short_methods(kind)["ISPCA"])}
    train, test = np.arange(60) < 40, np.arange(60) >= 40
    options = {"kind": kind, "n_jobs": 1, "random_state": 0}
    weighted = compare(method, X, y, sample_weight=weight, cv=[(train, test)], **options)
    assert not weighted.errors
    used = weight > 0
    fewer = compare(method, X[used], y[used], cv=[(train[used], test[used])], **options)
    # Up to the error of short chains.
    np.testing.assert_allclose(weighted.scores["mlpd"], fewer.scores["mlpd"], rtol=0.05)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", DATA)
def test_stacks(rng, kind):
    X, y = DATA[kind](rng, 60)
    methods = short_methods(kind)
    candidates = {name: methods[name] for name in ("ISPCA", "base rate")}
    stack = STACKS[kind](candidates, cv=3, n_jobs=1, random_state=0).fit(X, y)
    assert list(stack.estimators_) == ["ISPCA", "base rate"]
    assert stack.weights_[0] > 0.6
    assert np.isfinite(stack.log_predictive_density(X, y)).all()


@pytest.mark.filterwarnings("ignore")
def test_offsets_reach_reduction_and_model(rng):
    X, _ = count_data(rng)
    offset = rng.normal(size=80)
    y = rng.poisson(np.exp(0.5 * X[:, 0] + 1 + offset))
    methods = {name: method for name, method in short_methods("count").items() if name in ("ISPCA", "base rate")}
    options = {"kind": "count", "cv": 3, "n_jobs": 1, "baseline": "base rate"}
    known, unknown = compare(methods, X, y, offset=offset, **options), compare(methods, X, y, **options)
    assert not known.errors
    assert (known.scores["mlpd"].mean(axis=0) > unknown.scores["mlpd"].mean(axis=0) + 0.2).all()
    assert known.scores["mlpd"].mean(axis=0)[0] > known.scores["mlpd"].mean(axis=0)[1]

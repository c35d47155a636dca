"""Fits of the candidates of a mixture: with short chains, and sharing what they compute."""

from __future__ import annotations

import warnings
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ..fitting.fit_and_predict import fit_timed
from ..foundation.messages import PathEndWarning, RankWarning
from ..models.base import Horseshoe
from ..reduction.reuse import share_results
from ..targets.samples import Samples

# Mixtures do not need long chains: predictions are averages over the draws.
FOLD_DRAWS = {"n_chains": 2, "n_warmup": 400, "n_draws": 400}


def in_fold(estimator: Any) -> Any:
    """Return a candidate with shorter chains and no second attempt."""
    estimator = clone(estimator)
    for step in [estimator, *estimator.get_params(deep=True).values()]:
        if isinstance(step, Horseshoe):
            shorter = {name: min(most, getattr(step, name)) for name, most in FOLD_DRAWS.items()}
            step.set_params(retry=False, **shorter)
    return estimator


def fit_together(
    samples: Samples, X: Any, elsewhere: bool, estimators: list[Any]
) -> tuple[list[Any], list[Warning]]:
    """Return the fitted candidates and their warnings, which a worker process would print itself."""
    samples = samples._replace(X=X).read_only()
    if elsewhere:
        # Arrays from the network may be unaligned in memory, and are then summed in another order.
        samples = samples.copy().read_only()
    recorded = warnings.catch_warnings(record=True)
    with threadpool_limits(1), joblib.parallel_config(backend="sequential"), recorded as caught:
        warnings.simplefilter("always")
        # For candidates, n_components is an upper limit, and what a penalty at the end of its path or a short
        # chain costs lowers their weight: none needs a warning.
        for category in (RankWarning, PathEndWarning, ConvergenceWarning):
            warnings.filterwarnings("ignore", category=category)
        with share_results(samples.X):
            for estimator in estimators:
                fit_timed(estimator, samples)
    return estimators, [warning.message for warning in caught if isinstance(warning.message, Warning)]

"""Counts, which may have an exposure: what they are, and what models of them predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..families import NEGATIVE_BINOMIAL, CountFamily
from ..families.counts import explained_deviance
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from . import target_and_prediction_checks as checks
from .measures import ABSOLUTE_ERROR, COVERAGE, EXPLAINED_DEVIANCE, MLPD, POISSON_DEVIANCE
from .samples import INTERVAL_PROBABILITY, Prediction, Samples
from .target import Kind, OffsetPredictions, Target, by_name, find_base_rate, find_method, log_density


class Counts(Target):
    """Integers of 0 or more."""

    name = "count"
    counted = True
    named = True
    family = NEGATIVE_BINOMIAL
    noun = labels = summary = treated_as = "counts"
    example = ", such as the number of lesions"
    regression = "regression of counts"
    predicted = "the expected count"
    measures = by_name(replace(MLPD, limits=(-np.inf, 0.0)), POISSON_DEVIANCE, ABSOLUTE_ERROR, COVERAGE)
    deciding = EXPLAINED_DEVIANCE
    explained = ("the deviance of held-out counts from their mean rate", "that rate")
    shown_measures = ("poisson_deviance",)

    def of(self: Kind, y: Any) -> Kind:
        """Refuse anything but counts."""
        checks.check_counts(y)
        return self

    def base_rate(self) -> Any:
        """Return a negative-binomial distribution with the mean rate of the counts."""
        return find_base_rate("BaseRateCounts")

    def predict(self, estimator: Any, parts: Any, samples: Samples) -> Prediction:
        """Return expected counts and, if there is a predictive distribution, its log density and interval."""
        y, model, Z = samples.y, parts.model, parts.model_input(samples.X)
        options = {} if samples.offset is None else {"offset": samples.offset}
        value = checks.possible_counts(model.predict(Z, **options), len(y))
        quantiles, interval = find_method(model, "predict_interval"), None
        if quantiles is not None:
            interval = checks.possible_interval(quantiles(Z, INTERVAL_PROBABILITY, **options), len(y))
        return Prediction(value, log_density=log_density(model, Z, y, **options), interval=interval)

    def new_columns(self, model: Any, Z: Any, offset: Any, positive: Any = None) -> dict[str, Any]:
        """Return expected counts; only a posterior has intervals."""
        quantiles = find_method(model, "predict_interval")
        interval = () if quantiles is None else quantiles(Z, INTERVAL_PROBABILITY, offset).T
        return {"mean": model.predict(Z, offset), **dict(zip(("q5", "q95"), interval, strict=False))}


COUNTS = Counts()


@share_docs()
class CountPredictions(OffsetPredictions):
    """What a regression of counts predicts, given expected counts."""

    target = COUNTS
    _constant_rate = True  # whether the score compares with a constant rate, not with a constant count
    _mean: Callable[[Any, Floats | None], Floats]  # the expected counts, of Z and offset
    # The family whose deviance is explained, and its dispersion if it has one.
    _deviance_family: Callable[[], tuple[CountFamily, float | None]]

    def _check_y(self, y: Any, n_samples: int) -> np.ndarray:
        return checks.observed_counts(y, n_samples)

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the expected count, averaged over a posterior or mixture.

        $new_samples
        $offset

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Expected counts.
        """
        return self._mean(*self._check_offset(X, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return D2, the fraction of the deviance that the model explains.

        It is 1 minus the deviance of the predictions over that of a constant rate, or for a stack of a constant
        count. The deviance is that of Poisson counts, as in scikit-learn's ``d2_tweedie_score`` with power 1; that
        of a negative-binomial model has the posterior mean of its dispersion.

        $new_samples
        y : array-like of shape (n_samples,)
            Observed counts.
        $sample_weight
        $offset

        Returns
        -------
        score : float
            1 is perfect, and 0 is as good as a constant rate or count.
        """
        Z, offset = self._check_offset(X, offset)
        predicted = self._mean(Z, offset)
        counts, weights = (
            self._check_y(y, len(predicted)),
            checks.check_weights(sample_weight, len(predicted)),
        )
        family, dispersion = self._deviance_family()
        exposure = offset if self._constant_rate else None
        return explained_deviance(family, counts, predicted, exposure, weights, dispersion)

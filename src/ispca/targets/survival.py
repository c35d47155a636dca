"""Survival, events and times or censoring: what it is, and what models of it predict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..families import COX, survival_curves
from ..families.survival_target import survival_target
from ..foundation.arrays import Floats, protect
from ..foundation.docstrings import share_docs
from ..foundation.messages import count
from . import target_and_prediction_checks as checks
from .concordance_and_brier_score import comparable_pairs
from .intervals import UNKNOWN
from .measures import CONCORDANCE, INTEGRATED_BRIER, MLPD, percent
from .samples import HeldOut, Pooled, Prediction, Samples
from .target import (
    Judgment,
    Kind,
    OffsetPredictions,
    Target,
    by_name,
    find_base_rate,
    find_method,
    interval_text,
    log_density,
    mixed_probabilities,
    pooled_estimate,
)

# Predicted survival is evaluated at quantiles of the observed event times: later, too few samples are left.
N_TIMES = 50
FIRST_QUANTILE, LAST_QUANTILE = 0.1, 0.9
# The survival of new samples is given at these quantiles of the training samples' event times.
TIME_QUANTILES = (0.25, 0.5, 0.75)
# With fewer events or pairs of events and later samples of the same fold, survival is not judged.
FEWEST_EVENTS, FEWEST_PAIRS = 10, 20


class Survival(Target):
    """Events and times."""

    name = "survival"
    timed = True
    family = COX
    noun = labels = summary = treated_as = "survival times"
    example = ": a time and an event"
    regression = "proportional hazards regression"
    predicted = "the hazard of the event"
    screened = "the martingale residuals of the model without features"
    measures = by_name(CONCORDANCE, INTEGRATED_BRIER, MLPD)
    deciding = CONCORDANCE
    shown_measures = ("concordance",)

    def read(self, y: Any) -> Any:
        """Return events and times as one array."""
        return survival_target(y)

    def of(self: Kind, y: Any) -> Kind:
        """Return this kind with times to evaluate predicted survival at."""
        return replace(self, times=evaluation_times(y))

    def numbers(self, y: Any) -> np.ndarray:
        """Return the times."""
        return np.asarray(y["time"])

    def strata(self, y: Any) -> tuple[Any, str | None]:
        """Return the events, by which random splits are stratified if both parts can have some."""
        event = y["event"]
        # A single event or censored sample cannot be in both parts.
        several = min(event.sum(), (~event).sum()) > 1
        return event, "event" if several else None

    def held_out(self, test: Samples, train: Samples) -> HeldOut:
        """Return held-out observations, with the probability of not being censored in the training samples."""
        curve = survival_curves.censoring_curve(train.y["event"], train.y["time"], train.sample_weight)
        return super().held_out(test, train)._replace(censoring=curve)

    def observed_columns(self, y: Any) -> dict[str, np.ndarray]:
        """Return times and events."""
        return {"observed_time": y["time"], "observed_event": y["event"].astype(int)}

    def predicted_columns(self, prediction: Prediction, positive: Any = None) -> dict[str, Any]:
        """Return the risks."""
        return {"risk": prediction.value}

    def new_columns(self, model: Any, Z: Any, offset: Any, positive: Any = None) -> dict[str, Any]:
        """Return risk, median survival and the probability of surviving some times."""
        if hasattr(model, "survival_curves"):
            times = shown_times(model.event_times_)
            curves, median = model.survival_curves(Z, times).mean, model.median_survival(Z)
        else:
            functions = model.predict_survival_function(Z)
            times = shown_times(functions[0].x)
            curves = np.array([function(times) for function in functions])
            median = survival_curves.median_times(functions[0].x, np.array([function.y for function in functions]))
        columns: dict[str, Any] = {
            "risk": model.predict(Z),
            # Empty where more than half survive as long as any training sample.
            "median_survival": np.array([time if np.isfinite(time) else None for time in median.tolist()]),
        }
        return columns | {f"survival({time:g})": curves[:, place] for place, time in enumerate(times)}

    def base_rate(self) -> Any:
        """Return the Kaplan-Meier curve."""
        return find_base_rate("BaseRateSurvival")

    def predict(self, estimator: Any, parts: Any, samples: Samples) -> Prediction:
        """Return risk scores and, if the method gives them, survival at the evaluation times and log density."""
        y, model, Z = samples.y, parts.model, parts.model_input(samples.X)
        risk = checks.possible_values(estimator.predict(protect(samples.X, estimator)), len(y))
        # Some methods of scikit-survival predict times instead, and say so here.
        risk = risk if getattr(model, "_predict_risk_score", True) else -risk
        curves = survival_at(model, Z, np.asarray(self.times), len(y))
        return Prediction(risk, curves, log_density=log_density(model, Z, y))

    def mix(self, parts: Sequence[Prediction], weights: Floats) -> Prediction:
        """Return the mixed survival curves; the risk is minus the mean survival time up to the last time."""
        mixed = mixed_probabilities(parts, weights)
        assert mixed.probabilities is not None
        return replace(mixed, value=risk_of_curves(mixed.probabilities, np.asarray(self.times)))

    def judge(self, found: Pooled) -> Judgment:
        """Judge by the concordance index, if there are enough events and pairs."""
        n_events, n_pairs = comparable_pairs(found.held_out)
        if n_events < FEWEST_EVENTS or n_pairs < FEWEST_PAIRS:
            sentence = (
                f"Too few events to judge: {count(n_events, 'event')} in held-out samples can be compared with "
                f"later samples of the same fold, in {count(n_pairs, 'pair')}. A verdict needs at least "
                f"{FEWEST_EVENTS} events and {FEWEST_PAIRS} pairs."
            )
            return Judgment(CONCORDANCE, UNKNOWN, 0.5, sentence, judged=False)
        value = pooled_estimate(CONCORDANCE, found)
        sentence = (
            f"Concordance index {CONCORDANCE.show(value.value)}{interval_text(value, CONCORDANCE)} in held-out "
            "samples, compared with 0.50 by guessing: of two samples with known order of events, the one with the "
            f"earlier event has the higher risk in {percent(value.value)} of cases."
        )
        return Judgment(CONCORDANCE, value, 0.5, sentence)


def evaluation_times(y: Any) -> Floats:
    """Return distinct quantiles of the observed event times, as round numbers."""
    observed = y["time"][y["event"]]
    return survival_curves.round_times(np.quantile(observed, np.linspace(FIRST_QUANTILE, LAST_QUANTILE, N_TIMES)))


def shown_times(known: np.ndarray) -> list[float]:
    """Return the times to predict survival at, round numbers as the names of the columns have them."""
    return [float(f"{time:.6g}") for time in survival_curves.round_times(np.quantile(known, TIME_QUANTILES))]


def survival_at(model: Any, Z: Any, times: Floats, n_samples: int, **options: Any) -> Floats | None:
    """Return the predicted probabilities of surviving some times, or None with a warning that says why."""
    predict = find_method(model, "predict_survival_function")
    if predict is None:
        return None
    try:
        functions = predict(Z, **options)
    except (ValueError, NotImplementedError) as error:
        # Some settings of scikit-survival's methods give risk scores only.
        warnings.warn(f"{type(model).__name__} predicts no survival curves: {error}", stacklevel=2)
        return None
    curves = [survival_curves.SurvivalFunction(item.x, item.y)(times) for item in functions]
    return checks.possible_curves(curves, n_samples, len(times))


SURVIVAL = Survival()


def risk_of_curves(curves: Floats, times: Floats) -> Floats:
    """Return minus the mean survival time up to the last time, the area under each curve (samples x times)."""
    # Everyone survives until the first time.
    before = np.column_stack([np.ones(len(curves)), curves[:, :-1]])
    return -(before @ np.diff(times, prepend=0.0))


@share_docs()
class SurvivalPredictions(OffsetPredictions):
    """What a model of survival predicts, given risks and survival curves; in the style of scikit-survival."""

    target = SURVIVAL
    unique_times_: Floats
    _risk: Callable[[Any, Floats | None], Floats]  # the risk scores, of Z and offset
    _curves: Callable[[Any, Floats | None], Floats]  # survival at ``unique_times_`` (samples x times)

    def _check_y(self, y: Any, n_samples: int) -> np.ndarray:
        return checks.observed_survival(y, n_samples)

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the risk score.

        It is the linear predictor of ``coef_``, for a posterior its mean. Risk scores of different methods have
        different scales, so that of a stack is minus the mean survival time up to the last training time.

        $new_samples
        $offset

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            A higher risk means an earlier event.
        """
        return self._risk(*self._check_offset(X, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return Harrell's concordance index.

        $new_samples
        y : structured array, frame or tuple
            Event and time, as in ``fit``.
        $sample_weight
        $offset

        Returns
        -------
        concordance : float
            Fraction of the comparable pairs whose risks are in the right order; 0.5 is chance.
        """
        risk = self.predict(X, offset)
        observed, weights = self._check_y(y, len(risk)), checks.check_weights(sample_weight, len(risk))
        return survival_curves.concordance_index(observed["event"], observed["time"], risk, weights)

    def predict_survival_function(self, X: Any, return_array: bool = False, offset: Any = None) -> Any:
        """Return the survival function of each sample, averaged over a posterior or mixture.

        $new_samples
        return_array : bool, default=False
            Whether to return the probabilities at ``unique_times_`` instead of functions.
        $offset

        Returns
        -------
        survival : ndarray of SurvivalFunction, or of shape (n_samples, n_times)
            Functions with the points ``x`` and values ``y``, or the values alone.
        """
        curves = self._curves(*self._check_offset(X, offset))
        return curves if return_array else survival_curves.survival_functions(self.unique_times_, curves)

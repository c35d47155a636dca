"""One bag: the whole procedure on a bootstrap sample, and what is kept of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..families import FAMILIES
from ..families.piecewise_hazard import event_counts, log_rates, time_at_risk
from ..families.survival_curves import breslow
from ..fitting.fit_and_predict import fit_options
from ..foundation.arrays import Floats, Indices
from ..models.posterior import Posterior
from ..targets import Target
from ..targets.samples import Samples
from .common_features import SampleBasis, split_weights
from .decoys import chosen_decoys

# More components than about the distinct samples of a bag fit its copies without an error.
COMPONENTS_PER_SAMPLE, SPARE = 0.9, 3
# The logarithm of a hazard before the first event.
NO_HAZARD = -700.0


@dataclass(frozen=True)
class Bag:
    """The draws of one bag, in terms of the common features and of the bag's own supervised directions.

    Attributes
    ----------
    coordinates, own : ndarray of shape (q, r) and (q, q)
        The projection of the supervised components, in terms of common features and directions.
    columns, values, ends : ndarray
        The supervised directions v: features and their weights, one direction after the other, and their ends.
    decoys : ndarray of shape (n_chosen, 2)
        Permuted features that would have been chosen, as rows of component and feature.
    intercept, coef, own_coef : ndarray of shape (draw, [class]), or None without a model
        Intercepts, for features that are centered at the mean of all samples, and coefficients (feature last).
    extra : ndarray of shape (draw, ...) or None
        What the likelihood needs beside the linear predictor.
    log_rates, log_hazard : ndarray of shape (draw, interval) and (draw, time), or None
        Baseline hazards of survival times, on the intervals and at the event times of all samples.
    """

    coordinates: Floats
    own: Floats
    columns: Indices
    values: Floats
    ends: Indices
    decoys: Indices
    intercept: Any = None
    coef: Any = None
    own_coef: Any = None
    extra: Any = None
    log_rates: Any = None
    log_hazard: Any = None

    def __post_init__(self) -> None:
        # Empty arrays have lost type and shape in a file.
        for name, shape in (("columns", -1), ("ends", -1), ("decoys", (-1, 2))):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.intp).reshape(shape))

    def directions(self, n_features: int) -> Floats:
        """Return the supervised directions in rows."""
        rows = np.zeros((len(self.ends), n_features))
        numbers = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        rows[numbers, self.columns] = self.values
        return rows


@dataclass(frozen=True)
class BagFit:
    """Fits a bag: what is the same for all bags.

    Attributes
    ----------
    basis : SampleBasis
        The common features.
    mean : ndarray of shape (D,)
        Mean of all samples, to which intercepts refer.
    X : array or sparse matrix
        All samples, of which ``order`` makes permuted copies of the features.
    order : ndarray of int
        The sample whose features each sample gets in these copies.
    n_draws : int
        Number of draws to keep.
    starts, times : ndarray or None
        Intervals and event times of all samples, for survival.
    """

    basis: SampleBasis
    mean: Floats
    X: Any
    order: Indices
    n_draws: int
    starts: Floats | None = None
    times: Floats | None = None

    def __call__(self, estimator: Pipeline, train: Samples, test: Samples, target: Target) -> Bag:
        """Fit a pipeline of a reduction, and perhaps a model, to the samples of a bag."""
        reduction, *models = (step for _, step in estimator.steps)
        # Of survival times, only events inform.
        n_informative = np.count_nonzero(train.y["event"]) if target.timed else len(train.y)
        n_covariates = len(() if reduction.adjust is None else reduction.adjust)
        most = max(1, int(COMPONENTS_PER_SAMPLE * n_informative) - SPARE - n_covariates)
        if reduction.n_components is not None:
            reduction.set_params(n_components=min(reduction.n_components, most))
        with warnings.catch_warnings():
            # Short chains and weak bags are part of the plan; what matters is said of all bags together.
            warnings.simplefilter("ignore")
            Z = reduction.fit_transform(train.X, train.y, **fit_options(reduction, train))
            draws = [self._draw(model, reduction, Z, train) for model in models]
        q = reduction.n_supervised_
        directions = np.asarray(reduction.directions_)[:q]
        coordinates, own = split_weights(np.asarray(reduction.projection_), directions, self.basis)
        rows, columns = np.nonzero(directions)
        bag = Bag(
            coordinates=coordinates[:q],
            own=own[:q],
            columns=columns,
            values=directions[rows, columns],
            ends=np.cumsum(np.bincount(rows, minlength=q)),
            decoys=chosen_decoys(reduction, train, self.X[self.order[train.kept]]),
        )
        for posterior in draws:
            coef = posterior.coef[0]
            # Scores of the bag are relative to its own mean.
            shift = np.asarray(reduction.projection_) @ ((self.mean - reduction.mean_) / reduction.scale_)
            extra = getattr(posterior, FAMILIES[posterior.family].extra or "", None)
            hazards: dict[str, Any] = self._hazards(posterior, Z, train) if target.timed else {}
            bag = replace(
                bag,
                intercept=posterior.intercept[0] + coef @ shift,
                coef=coef @ coordinates,
                own_coef=coef @ own,
                extra=extra[0] if isinstance(extra, np.ndarray) else None,
                **hazards,
            )
        return bag

    def _draw(self, model: Any, reduction: Any, Z: Floats, train: Samples) -> Posterior:
        """Return the posterior of a model that learns from the scores Z."""
        if reduction.keep_adjusted:
            first = reduction.n_components_
            model.set_params(unpenalized=list(range(first, first + len(reduction.kept_columns_))))
        model.fit(Z, train.y, **fit_options(model, train))
        return _thinned(model.posterior_, self.n_draws)

    def _hazards(self, posterior: Posterior, Z: Floats, train: Samples) -> dict[str, Floats]:
        """Return the baseline hazards that go with the draws, from the scores that the model learned from."""
        assert self.starts is not None
        assert self.times is not None
        event, time, weights = train.y["event"], train.y["time"], train.sample_weight
        eta = posterior.linear_predictor(Z, train.offset)
        at_risk = time_at_risk(self.starts, eta, time, weights)
        rates = log_rates(event_counts(self.starts, event, time, weights), at_risk)
        known, values = breslow(eta, event, time, weights)
        places = np.searchsorted(known, self.times, side="right") - 1
        return {"log_rates": rates, "log_hazard": np.where(places >= 0, values[:, places], NO_HAZARD)}


def _thinned(posterior: Posterior, n_draws: int) -> Posterior:
    """Return evenly spaced draws as one chain."""
    chosen = np.arange(n_draws) * posterior.n_draws // n_draws
    names = ["intercept", "coef"]
    extra = FAMILIES[posterior.family].extra
    names += [extra] if isinstance(getattr(posterior, extra or "", None), np.ndarray) else []
    arrays: dict[str, Any] = {name: posterior.flat(name)[chosen][None] for name in names}
    return Posterior(posterior.family, **arrays)

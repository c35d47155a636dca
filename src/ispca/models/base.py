"""The common part of the estimators that sample a posterior: parameters, checks and sampling."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._array_types import Floats
from .._checks import (
    check_training_data,
    checked_offset,
    checked_weights,
    column_mask,
    integer_seed,
)
from .._warnings import notify
from ..families import Family
from .posterior import Posterior
from .posterior_model import DENSE, PosteriorModel
from .sampling import (
    Problem,
    Settings,
    Training,
    prior_scale,
    ridge_scale,
    sample_posterior,
    spreads,
    thread_count,
    unchanged,
    unpenalized_scales,
)

# Columns whose spreads differ by more than this factor get a warning: they share one global scale.
LARGEST_SCALE_RATIO = 100.0


class Horseshoe(PosteriorModel):
    """Base class of the estimators that sample their posterior."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "prior": [StrOptions({"horseshoe", "ridge"})],
        "p0": [Interval(Real, 0, None, closed="neither")],
        "slab_df": [Interval(Real, 0, None, closed="neither")],
        "slab_scale": [Interval(Real, 0, None, closed="neither")],
        "intercept_scale": [Interval(Real, 0, None, closed="neither")],
        "unpenalized": ["array-like", slice, str, Integral, None],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_warmup": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 4, None, closed="left")],
        "sampler": [StrOptions({"auto", "nuts", "blocked"})],
        "target_accept": [Interval(Real, 0, 1, closed="neither")],
        "retry": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        *,
        prior: str = "horseshoe",
        p0: float = 1,
        slab_df: float = 4,
        slab_scale: float = 5,
        intercept_scale: float = 10,
        unpenalized: Any = None,
        n_chains: int = 4,
        n_warmup: int = 1000,
        n_draws: int = 1000,
        sampler: str = "auto",
        target_accept: float = 0.9,
        retry: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.prior = prior
        self.p0 = p0
        self.slab_df = slab_df
        self.slab_scale = slab_scale
        self.intercept_scale = intercept_scale
        self.unpenalized = unpenalized
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.sampler = sampler
        self.target_accept = target_accept
        self.retry = retry
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_training(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Training:
        """Return the samples to learn from: those whose weight is not zero."""
        X, y = check_training_data(self, X, y, **DENSE, ensure_min_samples=2)
        return self._used(X, y, sample_weight, offset)

    def _used(self, X: Floats, y: Any, sample_weight: Any, offset: Any = None) -> Training:
        weights, offset = checked_weights(sample_weight, len(X)), checked_offset(offset, len(X))
        return Training(X, y, weights, offset).of_positive_weight()

    def _sample(
        self, family: Family, data: Training, complete: Callable[[Posterior], Posterior] = unchanged
    ) -> None:
        names = getattr(self, "feature_names_in_", None)
        unpenalized = column_mask(self.unpenalized, data.Z.shape[1], names, "unpenalized")
        all_spreads = spreads(data.Z, data.weights)
        penalized_spreads = all_spreads[~unpenalized]
        weights = np.ones(len(data.Z)) if data.weights is None else data.weights
        deviation = family.pseudo_deviation(data.y, weights)
        if self.prior == "ridge":
            scale = ridge_scale(penalized_spreads, deviation)
        else:
            _warn_about_scales(penalized_spreads)
            scale = prior_scale(self.p0, len(penalized_spreads), data.total_weight, deviation)
        prior = {
            "prior": self.prior,
            "tau0": scale,
            "slab_df": float(self.slab_df),
            "slab_scale": float(self.slab_scale),
            "intercept_scale": float(self.intercept_scale),
            "unpenalized": unpenalized_scales(unpenalized, all_spreads, float(self.intercept_scale)),
        }
        settings = Settings(
            self.sampler,
            self.n_chains,
            self.n_warmup,
            self.n_draws,
            self.target_accept,
            integer_seed(self.random_state),
            thread_count(self.n_jobs, self.n_chains),
        )
        problem = Problem(family, data, prior, complete)
        self.posterior_, self.diagnostics_ = sample_posterior(problem, settings, self.retry)


def _warn_about_scales(spread: Floats) -> None:
    spread = spread[spread > 0]
    if len(spread) and spread.max() < 1 / LARGEST_SCALE_RATIO:
        notify(
            f"The features vary by {spread.max():.2g} at most, so the prior treats them as irrelevant: use "
            "ISPCA(whiten=True) or a StandardScaler before."
        )
    if len(spread) and spread.max() > LARGEST_SCALE_RATIO * spread.min():
        notify(
            f"The spreads of the features differ by a factor of {spread.max() / spread.min():.0f}, but the prior "
            "treats them as comparable: use ISPCA(whiten=True) or a StandardScaler before."
        )

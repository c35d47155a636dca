"""The common part of the Bayesian estimators: parameters, checks, sampling, and export to ArviZ."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._array_types import Floats
from .._checks import check_new_data, check_training_data, integer_seed
from .._warnings import notify
from ..families import Family
from .arviz import to_arviz
from .sampling import Problem, Settings, prior_scale, ridge_scale, sample_posterior, thread_count

# Columns whose spreads differ by more than this factor get a warning: they share one global scale.
LARGEST_SCALE_RATIO = 100.0
# Dense rows of doubles, as the engine needs them.
DENSE: dict[str, Any] = {"accept_sparse": False, "dtype": np.float64, "order": "C"}


class Horseshoe(BaseEstimator):
    """Base class of both estimators."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "prior": [StrOptions({"horseshoe", "ridge"})],
        "p0": [Interval(Real, 0, None, closed="neither")],
        "slab_df": [Interval(Real, 0, None, closed="neither")],
        "slab_scale": [Interval(Real, 0, None, closed="neither")],
        "intercept_scale": [Interval(Real, 0, None, closed="neither")],
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
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.sampler = sampler
        self.target_accept = target_accept
        self.retry = retry
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_training(self, X: Any, y: Any) -> tuple[Floats, Any]:
        return check_training_data(self, X, y, **DENSE, ensure_min_samples=2)

    def _sample(self, family: Family, Z: Floats, y: Any) -> None:
        if self.prior == "ridge":
            scale = ridge_scale(Z, family.pseudo_deviation(y))
        else:
            _warn_about_scales(Z)
            scale = prior_scale(self.p0, Z.shape[1], len(Z), family.pseudo_deviation(y))
        prior = {
            "prior": self.prior,
            "tau0": scale,
            "slab_df": float(self.slab_df),
            "slab_scale": float(self.slab_scale),
            "intercept_scale": float(self.intercept_scale),
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
        problem = Problem(family, Z, y, prior)
        self.posterior_, self.diagnostics_ = sample_posterior(problem, settings, self.retry)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def _check_new(self, X: Any) -> Floats:
        check_is_fitted(self)
        return check_new_data(self, X, **DENSE)

    def to_arviz(self) -> Any:
        """Return the posterior for ArviZ: InferenceData (0.x) or a DataTree (1.x).

        Returns
        -------
        posterior : arviz.InferenceData or xarray.DataTree
            Groups ``posterior`` and ``sample_stats``.
        """
        check_is_fitted(self)
        features = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return to_arviz(self.posterior_, features, getattr(self, "classes_", None))


def _warn_about_scales(Z: Floats) -> None:
    spread = Z.std(axis=0)
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

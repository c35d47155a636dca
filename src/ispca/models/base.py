"""The common part of the estimators that sample a posterior: parameters, checks and sampling."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..families import Family
from ..foundation.arrays import Floats
from ..foundation.messages import notify
from ..foundation.parameters import column_mask, fit_context, integer_seed
from ..inputs.checks import check_training_data
from ..targets.samples import Samples, select_samples
from .posterior import Posterior
from .posterior_predictor import DENSE, PosteriorModel
from .sampling import (
    Problem,
    SamplerSettings,
    keep_posterior,
    prior_scale,
    ridge_scale,
    sample_posterior,
    spreads,
    thread_count,
    unpenalized_scales,
)

# Columns whose spreads differ by more than this factor, from each other or from one, get a warning: they share one
# global scale.
LARGEST_SCALE_RATIO = 100.0
# What the docstrings of all estimators say.
DOCS = {
    "parameters": """
    prior : {"horseshoe", "ridge"}, default="horseshoe"
        Prior of the coefficients. "ridge" is ``beta ~ N(0, tau^2)`` with half-Cauchy tau of scale
        ``$deviation / sqrt(sum_j var(z_j))``: all features contribute a little, in proportion to their spread. It
        suits all principal components in their natural scale, ``ISPCA(n - 1, n_supervised=0)`` for n samples.
    p0 : float, default=1
        Prior guess of the number of relevant features, used only by the horseshoe.
    slab_df, slab_scale : float, default=4 and 5
        Degrees of freedom and scale of the Student-t slab that regularizes large coefficients under the horseshoe.
    intercept_scale : float, default=10
        Standard deviation of the normal prior of $intercept
    unpenalized : names, indices, mask or slice of features, optional
        Features whose coefficients keep a wide normal prior, such as covariates: per standard deviation of the
        feature, that of the intercept. The other features share the prior above.
    n_chains, n_warmup, n_draws : int, default=4, 1000 and 1000
        Chains, and warm-up and posterior draws per chain. Chains that have not converged are continued, so
        there may be more draws, unless ``retry=False``.
    sampler : {"auto", "nuts"$blocked}, default="auto"
        $sampler
    target_accept : float, default=0.9
        Target acceptance rate of NUTS; the retry after poor convergence uses 0.99.
    retry : bool, default=True
        Whether chains that have not converged are continued and, if that does not help, sampled again with
        smaller steps. If False, there are as many draws as requested, and a warning reports poor convergence.
    n_jobs : int, optional
        Chains run at a time. By default as many as BLAS has threads.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The draws do not depend on the number of threads.""",
    "attributes": """
    posterior_ : Posterior
        The draws, chain and draw first.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, divergences; ``str(diagnostics_)`` is one plain sentence.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.""",
    "intercept": "the intercept.",
    "sampler": 'Both are "nuts": the blocked sampler does not suit this model.',
    "blocked": "",
}
BLOCKED_DOCS = DOCS | {
    "blocked": ', "blocked"',
    "sampler": '"nuts" for few samples, "blocked" for many samples per feature and for Gaussian models.',
}


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

    @fit_context(skip_nested=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : array-like of shape (n_samples,)
            Target: class labels, ordered classes or values.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        self._set_means()
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> None:
        """Sample the posterior, and set what it does not contain."""
        raise NotImplementedError

    def _check_training(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Samples:
        """Return the samples to learn from: those whose weight is not zero."""
        X, y = check_training_data(self, X, y, **DENSE, ensure_min_samples=2)
        return select_samples(X, y, sample_weight, offset, None)

    def _sample(
        self, family: Family, data: Samples, complete: Callable[[Posterior], Posterior] = keep_posterior
    ) -> None:
        names = getattr(self, "feature_names_in_", None)
        unpenalized = column_mask(self.unpenalized, data.X.shape[1], names, "unpenalized")
        all_spreads = spreads(data.X, data.sample_weight)
        penalized_spreads = all_spreads[~unpenalized]
        weights = np.ones(len(data.X)) if data.sample_weight is None else data.sample_weight
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
        settings = SamplerSettings(
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


class OffsetHorseshoe(Horseshoe):
    """Base class of the estimators whose linear predictor may have an offset, and that only NUTS suits."""

    _parameter_constraints = {  # noqa: RUF012
        **Horseshoe._parameter_constraints,
        "sampler": [StrOptions({"auto", "nuts"})],
    }

    @fit_context(skip_nested=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, offset: Any = None) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : array-like of shape (n_samples,), structured array, frame or tuple
            Counts, integers of 0 or more; or event (whether it was observed) and time, as scikit-survival's
            ``Surv`` makes them, as two columns of a frame, or as ``(event, time)``.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor. For counts, it is the logarithm of the exposure, such as the time or the
            volume in which the events were counted.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, offset)
        self._set_means()
        return self


def _warn_about_scales(spread: Floats) -> None:
    spread = spread[spread > 0]
    if len(spread) and spread.max() < 1 / LARGEST_SCALE_RATIO:
        notify(
            f"The features vary by {spread.max():.2g} at most, so the prior treats them as irrelevant: use "
            "ISPCA(whiten=True) or a StandardScaler before."
        )
    if len(spread) and spread.min() > LARGEST_SCALE_RATIO:
        notify(
            f"The features vary by {spread.min():.2g} or more, so the prior hardly shrinks them, and sampling is "
            "slow: use ISPCA(whiten=True) or a StandardScaler before."
        )
    if len(spread) and spread.max() > LARGEST_SCALE_RATIO * spread.min():
        notify(
            f"The spreads of the features differ by a factor of {spread.max() / spread.min():.0f}, but the prior "
            "treats them as comparable, and sampling is slow: use ISPCA(whiten=True) or a StandardScaler before."
        )

"""HorseshoeSurvival: Cox proportional hazards regression under the regularized horseshoe prior."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from .._array_types import Floats
from .._checks import check_one_each, check_training_data, checked_offset, checked_weights
from .._concordance import concordance_index
from ..families import COX
from ..families.survival_curves import median_times, step_values, survival, survival_functions
from ..families.survival_target import survival_target
from .base import DENSE, Horseshoe
from .baseline_hazard import cumulative_hazard, with_hazard
from .posterior import interval_tails, log_predictive_density


class SurvivalCurves(NamedTuple):
    """Survival curves of samples, with credible bands."""

    times: Floats
    mean: Floats  # samples x times, averaged over the posterior
    lower: Floats  # samples x times
    upper: Floats  # samples x times


class HorseshoeSurvival(Horseshoe):
    """Cox proportional hazards regression under the regularized horseshoe prior.

    The hazard of a sample is that of a baseline times ``exp(offset + X beta)``. The posterior of beta under the
    partial likelihood (ties by Efron's method) is sampled, and predictions are averaged over it. Survival
    curves add Breslow's baseline hazard, estimated for each draw. Features are used as given: put
    ``ISPCA(whiten=True)`` or a scaler before. The prior of the coefficients is that of HorseshoeClassifier with
    tau of scale ``p0 / (K - p0) / sqrt(number of events)``: only events inform.

    Targets, ``predict``, ``score`` and ``predict_survival_function`` follow the conventions of scikit-survival.

    Parameters
    ----------
    prior : {"horseshoe", "ridge"}, default="horseshoe"
        Prior of the coefficients. "ridge" is ``beta ~ N(0, tau^2)`` with half-Cauchy tau of scale
        ``s / sqrt(sum_j var(z_j))``: all features contribute a little, in proportion to their spread. It
        suits all principal components in their natural scale, ``ISPCA(n - 1, n_supervised=0)`` for n samples.
    p0 : float, default=1
        Prior guess of the number of relevant features, used only by the horseshoe.
    slab_df, slab_scale : float, default=4 and 5
        Degrees of freedom and scale of the Student-t slab that regularizes large coefficients under the horseshoe.
    intercept_scale : float, default=10
        Standard deviation of the normal prior of unpenalized coefficients, per standard deviation of their
        features. A Cox model has no intercept.
    unpenalized : names, indices, mask or slice of features, optional
        Features whose coefficients keep a wide normal prior, such as covariates: per standard deviation of the
        feature, that of the intercept. The other features share the prior above.
    n_chains, n_warmup, n_draws : int, default=4, 1000 and 1000
        Chains, and warm-up and posterior draws per chain. Chains that have not converged are continued, so
        there may be more draws, unless ``retry=False``.
    sampler : {"auto", "nuts"}, default="auto"
        Both are "nuts": the blocked sampler does not suit this model.
    target_accept : float, default=0.9
        Target acceptance rate of NUTS; the retry after poor convergence uses 0.99.
    retry : bool, default=True
        Whether chains that have not converged are continued and, if that does not help, sampled again with
        smaller steps. If False, there are as many draws as requested, and a warning reports poor convergence.
    n_jobs : int, optional
        Chains run at a time. By default as many as BLAS has threads.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The draws do not depend on the number of threads.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior means of the coefficients, log hazard ratios per unit of the feature.
    intercept_ : float
        Always 0.
    unique_times_ : ndarray
        Distinct times of the training samples, at which survival functions are evaluated.
    event_times_ : ndarray
        Those at which events happened.
    cumulative_hazard_ : CumulativeHazard
        Breslow's cumulative baseline hazard, for at most 1,000 of the draws.
    posterior_ : Posterior
        The draws, chain and draw first.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, divergences; ``str(diagnostics_)`` is one plain sentence.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeSurvival
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(100, 5))
    >>> death, end = rng.exponential(np.exp(-Z[:, 0])), rng.exponential(2, size=100)
    >>> model = HorseshoeSurvival(random_state=0).fit(Z, (death < end, np.minimum(death, end)))
    >>> (model.coef_.round() + 0.0).tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0]
    >>> curves = model.survival_curves([[1.0, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0]], times=[0.5])
    >>> bool(curves.mean[0, 0] < curves.mean[1, 0])
    True
    """

    _parameter_constraints = {  # noqa: RUF012
        **Horseshoe._parameter_constraints,
        "sampler": [StrOptions({"auto", "nuts"})],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, offset: Any = None) -> HorseshoeSurvival:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : structured array, frame or tuple
            Event (whether it was observed) and time, as scikit-survival's ``Surv`` makes them, as two columns of a
            frame, or as ``(event, time)``.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor.

        Returns
        -------
        self : HorseshoeSurvival
            The fitted estimator.
        """
        target = survival_target(y)
        X, _ = check_training_data(self, X, None, needs_target=False, **DENSE, ensure_min_samples=2)
        check_one_each(X, target)
        data = self._used(X, target, sample_weight, offset)
        data = data._replace(y=survival_target(data.y))
        self._sample(COX, data, partial(with_hazard, data=data))
        self.coef_ = self.posterior_.coef.mean(axis=(0, 1))
        self.intercept_ = 0.0
        self.cumulative_hazard_ = cumulative_hazard(self.posterior_, data)
        self.unique_times_ = np.unique(data.y["time"])
        return self

    @property
    def event_times_(self) -> Floats:
        """Distinct times of the training samples at which events happened."""
        return self.cumulative_hazard_.times

    def predict(self, X: Any, offset: Any = None) -> Floats:
        """Return the risk score: the posterior mean of the linear predictor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            A higher risk means an earlier event.
        """
        Z = self._check_new(X)
        offset = checked_offset(offset, len(Z))
        risk = Z @ self.coef_
        return risk if offset is None else risk + offset

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return Harrell's concordance index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : structured array, frame or tuple
            Event and time, as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        concordance : float
            Fraction of the comparable pairs whose risks are in the right order; 0.5 is chance.
        """
        risk = self.predict(X, offset)
        target = survival_target(y, needs_events=False)
        check_one_each(risk, target)
        return concordance_index(target["event"], target["time"], risk, checked_weights(sample_weight, len(risk)))

    def survival_curves(self, X: Any, times: Any = None, level: float = 0.9, offset: Any = None) -> SurvivalCurves:
        """Return survival curves, averaged over the posterior, with credible bands.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        times : array-like of shape (n_times,), optional
            Times of the curves, by default ``unique_times_``. After the last training time, the curves stay where
            they are.
        level : float, default=0.9
            Posterior probability that the survival probability lies inside the band, at each time.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        curves : SurvivalCurves
            ``times``, and ``mean``, ``lower`` and ``upper`` of shape (n_samples, n_times).
        """
        tails = interval_tails(level)
        times = self._times(times)
        found = [
            [draws.mean(axis=0), *np.quantile(draws, tails, axis=0)] for draws in self._curve_draws(X, offset)
        ]
        mean, lower, upper = (step_values(self.event_times_, curves, times) for curves in np.stack(found, axis=1))
        return SurvivalCurves(times, mean, lower, upper)

    def predict_survival_function(self, X: Any, return_array: bool = False, offset: Any = None) -> Any:
        """Return the survival function of each sample, averaged over the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        return_array : bool, default=False
            Whether to return the probabilities at ``unique_times_`` instead of functions.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        survival : ndarray of SurvivalFunction, or of shape (n_samples, n_times)
            Functions with the points ``x`` and values ``y``, or the values alone.
        """
        curves = step_values(self.event_times_, self._mean_curves(X, offset), self._times(None))
        if return_array:
            return curves
        return survival_functions(self.unique_times_, curves)

    def median_survival(self, X: Any, offset: Any = None) -> Floats:
        """Return the time at which the survival function of each sample falls to one half.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        median : ndarray of shape (n_samples,)
            Infinity where the curve stays above one half.
        """
        return median_times(self.event_times_, self._mean_curves(X, offset))

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log posterior predictive density of each event time, or survival probability if censored.

        The partial likelihood gives times no density. The density therefore uses, for each draw, a baseline hazard
        that is constant on up to ten intervals with equally many training events: the events of the interval, plus
        one half, over the sum of ``exp(X beta)`` times the time spent there. The last one goes on forever.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : structured array, frame or tuple
            Event and time, as in ``fit``.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z = self._check_new(X)
        target = survival_target(y, needs_events=False)
        check_one_each(Z, target)
        return log_predictive_density(self.posterior_, Z, target, checked_offset(offset, len(Z)))

    def _times(self, times: Any) -> Floats:
        if times is None:
            return self.unique_times_
        found = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if found.ndim != 1 or not np.isfinite(found).all():
            raise ValueError("times must be a list of finite numbers.")
        return found

    def _curve_draws(self, X: Any, offset: Any) -> Any:
        """Yield for each sample the draws of its survival curve (draws x event times)."""
        Z = self._check_new(X)
        offset = checked_offset(offset, len(Z))
        hazard = self.cumulative_hazard_
        eta = Z @ self.posterior_.flat("coef")[hazard.draws].T
        if offset is not None:
            eta += offset[:, None]
        return (survival(hazard.log_values, sample) for sample in eta)

    def _mean_curves(self, X: Any, offset: Any) -> Floats:
        return np.stack([draws.mean(axis=0) for draws in self._curve_draws(X, offset)])

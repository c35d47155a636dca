"""HorseshoeSurvival: Cox proportional hazards regression under the regularized horseshoe prior."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from .._checks import check_one_each, check_training_data
from ..families import COX
from ..families.survival_target import survival_target
from .base import Horseshoe
from .baseline_hazard import with_hazard
from .posterior_model import DENSE
from .posterior_survival import PosteriorSurvival


class HorseshoeSurvival(PosteriorSurvival, Horseshoe):
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
        self._set_means()
        self._set_curves(data)
        return self

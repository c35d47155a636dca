"""HorseshoeRegressor: Gaussian regression under the regularized horseshoe prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context

from .._checks import numeric_target
from ..families import GAUSSIAN
from .base import Horseshoe
from .posterior_regressor import PosteriorRegressor
from .sampling import spreads


class HorseshoeRegressor(PosteriorRegressor, Horseshoe):
    """Gaussian regression under the regularized horseshoe prior.

    The full posterior is sampled; its cost does not grow with the number of samples. Features are used
    as given: put ``ISPCA(whiten=True)`` or a scaler before. The prior of the coefficients is that of
    HorseshoeClassifier with tau of scale ``p0 / (K - p0) * sigma / sqrt(n)``; the noise sigma has the
    reference prior ``1 / sigma``. The target is centered and scaled to unit spread inside, so the scales of
    slab and intercept are in units of its standard deviation; draws are returned in the original units.

    Parameters
    ----------
    prior : {"horseshoe", "ridge"}, default="horseshoe"
        Prior of the coefficients. "ridge" is ``beta ~ N(0, tau^2)`` with half-Cauchy tau of scale
        ``sigma / sqrt(sum_j var(z_j))``: all features contribute a little, in proportion to their spread. It
        suits all principal components in their natural scale, ``ISPCA(n - 1, n_supervised=0)`` for n samples.
    p0 : float, default=1
        Prior guess of the number of relevant features, used only by the horseshoe.
    slab_df, slab_scale : float, default=4 and 5
        Degrees of freedom and scale of the Student-t slab that regularizes large coefficients under the horseshoe.
    intercept_scale : float, default=10
        Standard deviation of the normal prior of the intercept.
    unpenalized : names, indices, mask or slice of features, optional
        Features whose coefficients keep a wide normal prior, such as covariates: per standard deviation of the
        feature, that of the intercept. The other features share the prior above.
    n_chains, n_warmup, n_draws : int, default=4, 1000 and 1000
        Chains, and warm-up and posterior draws per chain. Chains that have not converged are continued, so
        there may be more draws, unless ``retry=False``.
    sampler : {"auto", "nuts", "blocked"}, default="auto"
        "nuts" for few samples, "blocked" for many samples per feature and for Gaussian models.
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
        Posterior means of the coefficients.
    intercept_ : float
        Posterior mean of the intercept.
    posterior_ : Posterior
        The draws, chain and draw first.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, divergences; ``str(diagnostics_)`` is one plain sentence.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeRegressor
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(60, 5)); y = 3 * Z[:, 0] + rng.normal(size=60)
    >>> model = HorseshoeRegressor(random_state=0).fit(Z, y)
    >>> (model.coef_.round() + 0.0).tolist()
    [3.0, 0.0, 0.0, 0.0, 0.0]
    >>> mean, deviation = model.predict([[1.0, 0, 0, 0, 0]], return_std=True)
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> HorseshoeRegressor:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.

        Returns
        -------
        self : HorseshoeRegressor
            The fitted estimator.
        """
        data = self._check_training(X, y, sample_weight)
        y = numeric_target(data.y)
        # In units of its own spread, y suits the fixed scales of slab and intercept whatever it measures.
        center = float(np.average(y, weights=data.weights))
        spread = float(spreads(y, data.weights))
        self._sample(GAUSSIAN, data._replace(y=(y - center) / spread))
        self.posterior_ = self.posterior_.rescaled(center, spread)
        self._set_means()
        return self

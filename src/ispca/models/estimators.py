"""HorseshoeClassifier and HorseshoeRegressor: regression under the regularised horseshoe prior."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import integer_seed
from ..reduction.notices import notify
from ..reduction.records import Floats
from .arviz import to_arviz
from .posterior import log_predictive_density
from .sampling import Problem, Settings, prior_scale, sample_posterior, thread_count

# Columns whose spreads differ by more than this are worth a warning: one global scale serves them all.
WILD_SCALES = 100.0

_PARAMETERS = """
    Parameters
    ----------
    p0 : float, default=1
        Prior guess of the number of relevant features.
    slab_df, slab_scale : float, default=4 and 5
        Degrees of freedom and scale of the Student-t slab that regularises large coefficients.
    intercept_scale : float, default=10
        Standard deviation of the normal prior of the intercept.
    n_chains, n_warmup, n_draws : int, default=4, 1000 and 1000
        Chains, and warm-up and kept draws of each. Chains that have not converged are continued, so
        there may be more draws.
    sampler : {"auto", "nuts", "blocked"}, default="auto"
        "nuts" for few samples, "blocked" for many samples per feature and for Gaussian models.
    target_accept : float, default=0.9
        Target acceptance rate of NUTS; the retry after bad convergence uses 0.99.
    n_jobs : int, optional
        Chains run at a time. By default as many as BLAS has threads.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The draws do not depend on the number of threads.
"""


class _Horseshoe(BaseEstimator):
    """What both estimators share."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "p0": [Interval(Real, 0, None, closed="neither")],
        "slab_df": [Interval(Real, 0, None, closed="neither")],
        "slab_scale": [Interval(Real, 0, None, closed="neither")],
        "intercept_scale": [Interval(Real, 0, None, closed="neither")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_warmup": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 4, None, closed="left")],
        "sampler": [StrOptions({"auto", "nuts", "blocked"})],
        "target_accept": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        *,
        p0: float = 1,
        slab_df: float = 4,
        slab_scale: float = 5,
        intercept_scale: float = 10,
        n_chains: int = 4,
        n_warmup: int = 1000,
        n_draws: int = 1000,
        sampler: str = "auto",
        target_accept: float = 0.9,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.p0 = p0
        self.slab_df = slab_df
        self.slab_scale = slab_scale
        self.intercept_scale = intercept_scale
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.sampler = sampler
        self.target_accept = target_accept
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _sample(self, model: str, Z: Floats, y: Any, n_classes: int, pseudo_deviation: float) -> None:
        _warn_about_scales(Z)
        prior = {
            "tau0": prior_scale(self.p0, Z.shape[1], len(Z), pseudo_deviation),
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
        problem = Problem(model, Z, y, n_classes, prior)
        self.posterior_, self.diagnostics_ = sample_posterior(problem, settings)

    def _check_new(self, X: Any) -> Floats:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def to_arviz(self) -> Any:
        """Return the posterior as ArviZ has it: InferenceData (0.x) or a DataTree (1.x).

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
    if len(spread) and spread.max() > WILD_SCALES * spread.min():
        notify(
            f"The spreads of the features differ by a factor of {spread.max() / spread.min():.0f}, but the prior "
            "takes them as comparable: use ISPCA(whiten=True) or a StandardScaler before."
        )


class HorseshoeClassifier(ClassifierMixin, _Horseshoe):
    __doc__ = (
        """Logistic (two classes) or softmax (more) regression under the regularised horseshoe prior.

    The full posterior is sampled; predictions are averaged over it. Features are used as given: put
    ``ISPCA(whiten=True)`` or a scaler before. The prior is that of Piironen and Vehtari (2017, 2018):
    ``beta ~ N(0, tau^2 lambda~^2)`` with half-Cauchy tau (scale ``p0 / (K - p0) * 2 / sqrt(n)``, where
    ``K - p0`` is taken as 1 when ``K <= p0``) and lambda, and an inverse-gamma slab. In the softmax each
    of the classes x features coefficients has its own lambda, and there is one tau.
"""
        + _PARAMETERS
        + """
    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Posterior means of the coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Posterior means of the intercepts.
    posterior_ : Posterior
        The draws, chain and draw first.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, divergences; ``str(diagnostics_)`` is one plain sentence.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeClassifier
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(60, 5)); y = np.where(Z[:, 0] + 0.3 * rng.normal(size=60) > 0, "ill", "well")
    >>> clf = HorseshoeClassifier(random_state=0).fit(Z, y)
    >>> clf.predict_proba([[2.0, 0, 0, 0, 0]]).round(1)
    array([[1., 0.]])
    >>> clf.diagnostics_.converged
    True
    """
    )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> HorseshoeClassifier:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, best whitened components.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : HorseshoeClassifier
            The fitted estimator.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, order="C")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only ({classes.tolist()[0]!r}); a classifier needs samples of 2 classes or more."
            )
        model = "logistic" if len(classes) == 2 else "softmax"
        # The pseudo-deviation of a binary observation is about 2 (Piironen and Vehtari, 2017).
        self._sample(model, X, codes, len(classes), 2.0)
        self.classes_ = classes
        self.coef_ = np.atleast_2d(self.posterior_.coef.mean(axis=(0, 1)))
        self.intercept_ = np.atleast_1d(self.posterior_.intercept.mean(axis=(0, 1)))
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior predictive probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Averages over the draws, in the order of ``classes_``.
        """
        Z = self._check_new(X)
        probabilities = np.empty((len(Z), len(self.classes_)))
        for part in self.posterior_.blocks(Z):
            eta = self.posterior_.linear_predictor(Z[part])
            if eta.ndim == 2:
                probabilities[part, 1] = expit(eta).mean(axis=1)
                probabilities[part, 0] = expit(-eta).mean(axis=1)
            else:
                probabilities[part] = softmax(eta, axis=2).mean(axis=1)
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log posterior predictive probability of each observed class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels seen in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z = self._check_new(X)
        y = np.asarray(y)
        if len(y) != len(Z):
            raise ValueError(f"X has {len(Z)} samples, but y has {len(y)}: pass one label per sample.")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which was not seen in fit.")
        return log_predictive_density(self.posterior_, Z, np.searchsorted(self.classes_, y))


class HorseshoeRegressor(RegressorMixin, _Horseshoe):
    __doc__ = (
        """Gaussian regression under the regularised horseshoe prior.

    The full posterior is sampled; its cost does not grow with the number of samples. Features are used
    as given: put ``ISPCA(whiten=True)`` or a scaler before. The prior of the coefficients is that of
    HorseshoeClassifier with tau of scale ``p0 / (K - p0) * sigma / sqrt(n)``; the noise sigma has the
    reference prior ``1 / sigma``. The target is centred and scaled to unit spread inside, so the scales of
    slab and intercept are in units of its standard deviation; draws are returned in the original units.
"""
        + _PARAMETERS
        + """
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
    >>> model.coef_.round().tolist()
    [3.0, 0.0, 0.0, 0.0, 0.0]
    >>> mean, deviation = model.predict([[1.0, 0, 0, 0, 0]], return_std=True)
    """
    )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> HorseshoeRegressor:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, best whitened components.
        y : array-like of shape (n_samples,)
            Target values.

        Returns
        -------
        self : HorseshoeRegressor
            The fitted estimator.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, order="C", y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        if np.ptp(y) <= 1e-13 * np.abs(y).max():
            raise ValueError("y is constant, so there is nothing to learn: pass a target that varies.")
        # In units of its own spread, y suits the fixed scales of slab and intercept whatever it measures.
        centre, spread = float(y.mean()), float(y.std())
        self._sample("gaussian", X, (y - centre) / spread, 0, 1.0)
        self.posterior_ = self.posterior_.rescaled(centre, spread)
        self.coef_ = self.posterior_.coef.mean(axis=(0, 1))
        self.intercept_ = float(self.posterior_.intercept.mean())
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the posterior predictive mean, and on demand its standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        return_std : bool, default=False
            Whether to return the predictive standard deviation (noise and uncertainty together) too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predictive means.
        deviation : ndarray of shape (n_samples,)
            Predictive standard deviations, only with ``return_std=True``.
        """
        Z = self._check_new(X)
        mean = Z @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        noise = (self.posterior_.sigma**2).mean()
        spread = [self.posterior_.linear_predictor(Z[part]).var(axis=1) for part in self.posterior_.blocks(Z)]
        return mean, np.sqrt(np.concatenate(spread) + noise)

    def predict_draws(self, X: Any, random_state: Any = 0) -> Floats:
        """Return draws from the posterior predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the noise.

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples)
            New observations, noise included.
        """
        Z = self._check_new(X)
        eta = self.posterior_.linear_predictor(Z).T
        noise = np.random.default_rng(integer_seed(random_state)).standard_normal(eta.shape)
        return eta + noise * self.posterior_.flat("sigma")[:, None]

    def predict_interval(self, X: Any, probability: float = 0.9) -> Floats:
        """Return the central posterior predictive interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        probability : float, default=0.9
            Probability that a new observation lies inside.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        if not 0 < probability < 1:
            raise ValueError(f"probability={probability} must lie between 0 and 1.")
        tail = (1 - probability) / 2
        return np.quantile(self.predict_draws(X), [tail, 1 - tail], axis=0).T

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log posterior predictive density of each observed value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Observed values.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z = self._check_new(X)
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (len(Z),):
            raise ValueError(f"X has {len(Z)} samples, but y has shape {y.shape}: pass one value per sample.")
        return log_predictive_density(self.posterior_, Z, y)

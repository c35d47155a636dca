"""HorseshoeOrdinal: cumulative logit regression of ordered classes under the regularized horseshoe prior."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets

from ..families import ORDINAL
from ..families.ordinal import declared_order, ordinal_target
from .base import Horseshoe
from .posterior_ordinal import PosteriorOrdinal


class HorseshoeOrdinal(PosteriorOrdinal, Horseshoe):
    """Cumulative logit regression of ordered classes under the regularized horseshoe prior.

    ``P(y <= k) = expit(threshold_k - X beta)``: one coefficient per feature, whatever the number of classes,
    and a positive one moves samples toward higher classes. Suited to tumor grades and response scales. The full
    posterior is sampled; predictions are averaged over it. Features are used as given: put
    ``ISPCA(whiten=True)`` or a scaler before. The prior of the coefficients is that of HorseshoeClassifier with
    tau of scale ``p0 / (K - p0) * s / sqrt(n)``, where ``s = pi / sqrt(3)`` is the standard deviation of a
    logistic variable.

    Parameters
    ----------
    categories : array-like, optional
        The classes from lowest to highest. By default the order of an ordered categorical of pandas, or of the
        numbers; text without an order needs the categories.
    prior : {"horseshoe", "ridge"}, default="horseshoe"
        Prior of the coefficients. "ridge" is ``beta ~ N(0, tau^2)`` with half-Cauchy tau of scale
        ``s / sqrt(sum_j var(z_j))``: all features contribute a little, in proportion to their spread. It
        suits all principal components in their natural scale, ``ISPCA(n - 1, n_supervised=0)`` for n samples.
    p0 : float, default=1
        Prior guess of the number of relevant features, used only by the horseshoe.
    slab_df, slab_scale : float, default=4 and 5
        Degrees of freedom and scale of the Student-t slab that regularizes large coefficients under the horseshoe.
    intercept_scale : float, default=10
        Standard deviation of the normal prior of the thresholds.
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
    classes_ : ndarray of shape (n_classes,)
        The classes that occur, from lowest to highest.
    coef_ : ndarray of shape (n_features,)
        Posterior means of the coefficients.
    intercept_ : float
        Minus the first of the thresholds: ``X coef_ + intercept_`` are the log odds of exceeding the lowest class.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Posterior means of the thresholds between neighboring classes.
    posterior_ : Posterior
        The draws, chain and draw first.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, divergences; ``str(diagnostics_)`` is one plain sentence.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import HorseshoeOrdinal
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(100, 5)); grade = np.digitize(3 * Z[:, 0] + rng.logistic(size=100), [-2, 2])
    >>> clf = HorseshoeOrdinal(categories=["low", "medium", "high"], random_state=0)
    >>> clf = clf.fit(Z, np.array(["low", "medium", "high"])[grade])
    >>> clf.predict([[-2.0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [2.0, 0, 0, 0, 0]]).tolist()
    ['low', 'medium', 'high']
    """

    _parameter_constraints = {  # noqa: RUF012
        **Horseshoe._parameter_constraints,
        "sampler": [StrOptions({"auto", "nuts"})],
        "categories": ["array-like", None],
    }

    def __init__(
        self,
        *,
        categories: Any = None,
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
        super().__init__(
            prior=prior,
            p0=p0,
            slab_df=slab_df,
            slab_scale=slab_scale,
            intercept_scale=intercept_scale,
            unpenalized=unpenalized,
            n_chains=n_chains,
            n_warmup=n_warmup,
            n_draws=n_draws,
            sampler=sampler,
            target_accept=target_accept,
            retry=retry,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.categories = categories

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> HorseshoeOrdinal:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : array-like of shape (n_samples,)
            Ordered classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.

        Returns
        -------
        self : HorseshoeOrdinal
            The fitted estimator.
        """
        categories = declared_order(y) if self.categories is None else self.categories
        data = self._check_training(X, y, sample_weight)
        if categories is None:
            check_classification_targets(data.y)
        codes, self.classes_ = ordinal_target(data.y, categories)
        self._sample(ORDINAL, data._replace(y=codes))
        self._set_means()
        return self

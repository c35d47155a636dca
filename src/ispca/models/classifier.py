"""HorseshoeClassifier: logistic and softmax regression under the regularized horseshoe prior."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context

from .._checks import class_codes
from ..families import class_family
from .base import Horseshoe
from .posterior_classifier import PosteriorClassifier


class HorseshoeClassifier(PosteriorClassifier, Horseshoe):
    """Logistic (two classes) or softmax (more) regression under the regularized horseshoe prior.

    The full posterior is sampled; predictions are averaged over it. Features are used as given: put
    ``ISPCA(whiten=True)`` or a scaler before. The prior is that of Piironen and Vehtari (2017, 2018):
    ``beta ~ N(0, tau^2 lambda~^2)`` with half-Cauchy tau (scale ``p0 / (K - p0) * 2 / sqrt(n)``, where
    ``K - p0`` is taken as 1 when ``K <= p0``) and lambda, and an inverse-gamma slab. In the softmax each
    of the classes x features coefficients has its own lambda, and there is one tau.

    Parameters
    ----------
    prior : {"horseshoe", "ridge"}, default="horseshoe"
        Prior of the coefficients. "ridge" is ``beta ~ N(0, tau^2)`` with half-Cauchy tau of scale
        ``2 / sqrt(sum_j var(z_j))``: all features contribute a little, in proportion to their spread. It
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> HorseshoeClassifier:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.

        Returns
        -------
        self : HorseshoeClassifier
            The fitted estimator.
        """
        data = self._check_training(X, y, sample_weight)
        classes, codes = class_codes(data.y)
        self._sample(class_family(len(classes)), data._replace(y=codes))
        self.classes_ = classes
        self._set_means()
        return self

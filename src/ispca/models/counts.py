"""HorseshoeCounts: Poisson and negative-binomial regression under the regularized horseshoe prior."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from .base import Horseshoe
from .posterior_counts import COUNT_FAMILIES, PosteriorCounts


class HorseshoeCounts(PosteriorCounts, Horseshoe):
    """Regression of counts under the regularized horseshoe prior, with log link.

    A count of mean mu has the variance ``mu + mu^2 / phi`` (negative binomial, the dispersion phi is sampled)
    or mu (Poisson), and ``log(mu) = offset + intercept + X beta``. The full posterior is sampled; predictions
    are averaged over it. Features are used as given: put ``ISPCA(whiten=True)`` or a scaler before. The prior
    of the coefficients is that of HorseshoeClassifier with tau of scale ``p0 / (K - p0) * s / sqrt(n)``, where
    s is ``1 / sqrt(mean(y))`` for Poisson counts and ``sd(y) / mean(y)``, at least that and at most 10, for
    negative-binomial ones. The prior of the dispersion is ``log(phi) ~ N(0, 2^2)``.

    Parameters
    ----------
    family : {"negative-binomial", "poisson"}, default="negative-binomial"
        Distribution of the counts. Counts rarely vary as little as Poisson counts do, and predictions that assume
        so are overconfident.
    prior : {"horseshoe", "ridge"}, default="horseshoe"
        Prior of the coefficients. "ridge" is ``beta ~ N(0, tau^2)`` with half-Cauchy tau of scale
        ``s / sqrt(sum_j var(z_j))``: all features contribute a little, in proportion to their spread. It
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
    sampler : {"auto", "nuts"}, default="auto"
        "auto" is a blocked sampler for Poisson counts with many samples per feature, otherwise "nuts".
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
    >>> from ispca import HorseshoeCounts
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(100, 5)); y = rng.poisson(np.exp(2 + Z[:, 0]))
    >>> model = HorseshoeCounts(random_state=0).fit(Z, y)
    >>> (model.coef_.round() + 0.0).tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0]
    >>> low, high = model.predict_interval([[1.0, 0, 0, 0, 0]])[0]
    """

    _parameter_constraints = {  # noqa: RUF012
        **Horseshoe._parameter_constraints,
        "sampler": [StrOptions({"auto", "nuts"})],
        "family": [StrOptions(set(COUNT_FAMILIES))],
    }

    def __init__(
        self,
        *,
        family: str = "negative-binomial",
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
        self.family = family

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, offset: Any = None) -> HorseshoeCounts:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, preferably components: whitened for the horseshoe, unscaled for the ridge.
        y : array-like of shape (n_samples,)
            Counts: integers of 0 or more.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples: a weight of 2 equals a duplicated sample, and 0 leaves it out.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor: the logarithm of the exposure, such as the time or the volume in which
            the events were counted.

        Returns
        -------
        self : HorseshoeCounts
            The fitted estimator.
        """
        data = self._check_training(X, y, sample_weight, offset)
        family = COUNT_FAMILIES[self.family]
        self._sample(family, data._replace(y=family.target(data.y)))
        self._set_means()
        return self

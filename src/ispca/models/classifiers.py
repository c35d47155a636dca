"""HorseshoeClassifier and HorseshoeOrdinal: regression of classes under the regularized horseshoe prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets

from ..families import ORDINAL, class_family
from ..families.ordinal import declared_order, ordinal_target, probabilities
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..targets.classes import ClassPredictions, OrderedClassPredictions
from ..targets.target_and_prediction_checks import class_codes
from .base import BLOCKED_DOCS, DOCS, Horseshoe
from .posterior_predictor import PosteriorModel


class PosteriorClassifier(ClassPredictions, ClassifierMixin, PosteriorModel):
    """A classifier that predicts from posterior draws, whatever they come from."""

    def _set_means(self) -> None:
        self.coef_ = np.atleast_2d(self.posterior_.coef.mean(axis=(0, 1)))
        self.intercept_ = np.atleast_1d(self.posterior_.intercept.mean(axis=(0, 1)))

    def _probabilities(self, Z: Floats) -> Floats:
        average = class_family(len(self.classes_)).probabilities
        blocks = self.posterior_.blocks(Z)
        return np.concatenate([average(self.posterior_.linear_predictor(Z[part])) for part in blocks])


@share_docs(**BLOCKED_DOCS, deviation="2")
class HorseshoeClassifier(PosteriorClassifier, Horseshoe):
    """Logistic (two classes) or softmax (more) regression under the regularized horseshoe prior.

    The full posterior is sampled; predictions are averaged over it. Features are used as given: put
    ``ISPCA(whiten=True)`` or a scaler before. The prior is that of Piironen and Vehtari (2017, 2018):
    ``beta ~ N(0, tau^2 lambda~^2)`` with half-Cauchy tau (scale ``p0 / (K - p0) * 2 / sqrt(n)``, where
    ``K - p0`` is taken as 1 when ``K <= p0``) and lambda, and an inverse-gamma slab. In the softmax each
    of the classes x features coefficients has its own lambda, and there is one tau.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Posterior means of the coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Posterior means of the intercepts.
    $attributes

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

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> None:
        data = self._check_training(X, y, sample_weight)
        classes, codes = class_codes(data.y)
        self._sample(class_family(len(classes)), data._replace(y=codes))
        self.classes_ = classes


class PosteriorOrdinal(OrderedClassPredictions, ClassifierMixin, PosteriorModel):
    """A cumulative logit regression that predicts from posterior draws, whatever they come from."""

    def _set_means(self) -> None:
        super()._set_means()
        self.thresholds_ = self.posterior_.flat("thresholds").mean(axis=0)
        self.intercept_ = -float(self.thresholds_[0])

    def _probabilities(self, Z: Floats) -> Floats:
        posterior, thresholds = self.posterior_, self.posterior_.flat("thresholds")
        blocks = posterior.blocks(Z)
        return np.concatenate([probabilities(posterior.linear_predictor(Z[part]), thresholds) for part in blocks])


@share_docs(**DOCS | {"intercept": "the thresholds."}, deviation="s")
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
    $parameters

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
    $attributes

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

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> None:
        categories = declared_order(y) if self.categories is None else self.categories
        data = self._check_training(X, y, sample_weight)
        if categories is None:
            check_classification_targets(data.y)
        codes, self.classes_ = ordinal_target(data.y, categories)
        self._sample(ORDINAL, data._replace(y=codes))

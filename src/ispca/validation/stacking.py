"""StackedClassifier and StackedRegressor: Bayesian stacking of predictive distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._array_types import Floats
from .._checks import checked_weights, observed_codes
from .prediction import Prediction, class_probabilities, predict_values
from .prediction_checks import possible_values
from .samples import Samples, n_rows
from .stacking_base import Stacked, normal_part
from .stacking_candidates import default_candidates
from .stacking_weights import SMALLEST_PROBABILITY, fit_inverse_temperature, tempered
from .target import Target

BISECTIONS = 60


class StackedClassifier(ClassifierMixin, Stacked):
    """Mix the predictions of several methods, with weights from held-out samples.

    No reduction wins everywhere, and selecting one by cross-validation often selects noise. Stacking mixes
    the predicted probabilities instead. The weights maximize the log density of out-of-fold predictions,
    with every candidate refitted completely in every fold, under a Dirichlet prior that keeps them from
    extremes. A mixture is underconfident, so one exponent of its probabilities is estimated from the same
    predictions.

    Parameters
    ----------
    estimators : list of (str, estimator) or dict, optional
        The candidates. By default PCA, SPCA, ISPCA (50 components each, 20 for more than two classes) and
        ISPCA with supervised components only, both with the residual test and cross-fitted, each with the
        horseshoe model; lasso and ridge on the original features; and the base rate.
    cv : int, splitter or iterable, default=5
        Number of folds, a scikit-learn splitter, or pairs of training and test indices.
    concentration : float, default=1.5
        Parameter of the Dirichlet prior: 1 is maximum likelihood, larger values give more equal weights.
    n_jobs : int or None, default=-1
        Worker processes. The result does not depend on it.
    resume : path, optional
        Directory in which finished fold fits are stored, to continue after an interruption.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds and of every candidate whose own ``random_state`` is None.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    weights_ : ndarray of shape (n_candidates,)
        Weights of the mixture.
    inverse_temperature_ : float
        Exponent of the mixed probabilities; values above 1 make them more extreme.
    cv_table_ : recarray
        Per candidate: weight, mean log density of the out-of-fold predictions and its error, seconds.
    estimators_ : dict of str to estimator
        The candidates, fitted to all samples.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.dummy import DummyClassifier
    >>> from ispca import StackedClassifier
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> candidates = {"logistic": LogisticRegression(), "base rate": DummyClassifier()}
    >>> stack = StackedClassifier(candidates, n_jobs=1, random_state=0).fit(data.data, data.target)
    >>> stack.cv_table_["candidate"].tolist()
    ['logistic', 'base rate']
    >>> bool(stack.weights_[0] > 0.8)
    True
    """

    _needs = "predict_proba"

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> StackedClassifier:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold, here and in
            candidates that make folds themselves.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, for the candidates and for the weights of the mixture.

        Returns
        -------
        self : StackedClassifier
            The fitted estimator.
        """
        X, y = self._checked(X, y)
        check_classification_targets(y)
        weight = checked_weights(sample_weight, len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        target = Target("classification", self.classes_)
        candidates = self.estimators
        if candidates is None:
            candidates = default_candidates("classification", len(self.classes_))
        predictions = self._fit(Samples(X, y, groups, weight), target, candidates)
        self._temper(predictions, codes, weight)
        return self

    def _temper(self, predictions: list[list[Prediction]], codes: np.ndarray, weight: Floats | None) -> None:
        """Find the exponent that fits the out-of-fold observations best."""
        # Probabilities of every candidate, fold by fold, with axes (candidate, sample, class).
        parts = [np.array([item.probabilities for item in row]) for row in predictions]
        self._out_of_fold = np.concatenate(parts, axis=1)
        pooled = np.tensordot(self.weights_, self._out_of_fold, 1)
        weight = None if weight is None else weight[self._held_out]
        self.inverse_temperature_ = fit_inverse_temperature(pooled, codes[self._held_out], weight)

    def _complete(self, prediction: Prediction) -> bool:
        return prediction.probabilities is not None

    def _candidate_classes(self) -> np.ndarray:
        """Return the labels that the candidates know the classes by, in order."""
        return self.classes_

    def _observed_codes(self, y: Any, n_samples: int) -> np.ndarray:
        """Return the positions of observed classes in ``classes_``."""
        return observed_codes(y, self.classes_, n_samples)

    def predict_proba(self, X: Any) -> Floats:
        """Return the mixture of the candidates' probabilities, sharpened by ``inverse_temperature_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        count = n_rows(X)
        labels = self._candidate_classes()
        parts = self._of_each(lambda estimator: class_probabilities(estimator, X, labels, count))
        mixture: Floats = sum(weight * part for weight, part in zip(self.weights_, parts, strict=True))
        return tempered(mixture, self.inverse_temperature_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log probability of each observed class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Class labels seen in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        probabilities = self.predict_proba(X)
        codes = self._observed_codes(y, len(probabilities))
        observed = probabilities[np.arange(len(codes)), codes]
        return np.log(np.clip(observed, SMALLEST_PROBABILITY, 1.0))


class StackedRegressor(RegressorMixin, Stacked):
    """Mix the predictive distributions of several regressions, with weights from held-out samples.

    Works like StackedClassifier, with Gaussian models as default candidates.

    Parameters
    ----------
    estimators : list of (str, estimator) or dict, optional
        The candidates; each must give a predictive distribution (``predict(X, return_std=True)``, or
        ``log_predictive_density`` and ``predict_interval``). By default as in StackedClassifier.
    cv : int, splitter or iterable, default=5
        Number of folds, a scikit-learn splitter, or pairs of training and test indices.
    concentration : float, default=1.5
        Parameter of the Dirichlet prior: 1 is maximum likelihood, larger values give more equal weights.
    n_jobs : int or None, default=-1
        Worker processes. The result does not depend on it.
    resume : path, optional
        Directory in which finished fold fits are stored, to continue after an interruption.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds and of every candidate whose own ``random_state`` is None.

    Attributes
    ----------
    weights_, cv_table_, estimators_
        As in StackedClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge, ARDRegression
    >>> from ispca import StackedRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 5)); y = 2 * X[:, 0] + rng.normal(size=50)
    >>> stack = StackedRegressor({"ridge": BayesianRidge(), "ard": ARDRegression()}, n_jobs=1, random_state=0)
    >>> stack.fit(X, y).predict_interval(X).shape
    (50, 2)
    """

    _needs = "predict(X, return_std=True), or log_predictive_density and predict_interval"

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> StackedRegressor:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Target values.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, stay in one fold, here and in
            candidates that make folds themselves.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, for the candidates and for the weights of the mixture.

        Returns
        -------
        self : StackedRegressor
            The fitted estimator.
        """
        X, y = self._checked(X, y)
        candidates = default_candidates("regression") if self.estimators is None else self.estimators
        weight = checked_weights(sample_weight, len(y))
        self._fit(Samples(X, y.astype(np.float64), groups, weight), Target("regression"), candidates)
        return self

    def _complete(self, prediction: Prediction) -> bool:
        return prediction.interval is not None

    def _check_part(self, prediction: Prediction) -> None:
        normal_part(prediction)

    def _normal_parts(self, X: Any) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictions, with one row per candidate."""
        check_is_fitted(self)
        unobserved = np.zeros(n_rows(X))
        predictions = self._of_each(lambda estimator: normal_part(predict_values(estimator, X, unobserved)))
        mean, spread = np.array(predictions).swapaxes(0, 1)
        return mean, spread

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of the mixture, and optionally its standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        return_std : bool, default=False
            Whether to return the standard deviation too.

        Returns
        -------
        mean, deviation : ndarray of shape (n_samples,)
            The deviation only with ``return_std=True``.
        """
        check_is_fitted(self)
        if not return_std:
            count = n_rows(X)
            values = self._of_each(lambda estimator: possible_values(estimator.predict(X), count))
            return self.weights_ @ np.array(values)
        mean, spread = self._normal_parts(X)
        center = self.weights_ @ mean
        return center, np.sqrt(self.weights_ @ (spread**2 + (mean - center) ** 2))

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Return the central interval of the mixture, with a normal distribution for each candidate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        level : float, default=0.9
            Probability that a new observation lies inside.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level} must lie between 0 and 1.")
        mean, spread = self._normal_parts(X)
        tail = (1 - level) / 2
        return np.column_stack([self._quantile(end, mean, spread) for end in (tail, 1 - tail)])

    def _quantile(self, tail: float, mean: Floats, spread: Floats) -> Floats:
        """Return a quantile of the mixture by bisection between the quantiles of its parts."""
        parts = norm.ppf(tail, mean, spread)
        low, high = parts.min(axis=0), parts.max(axis=0)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            below = self.weights_ @ norm.cdf(middle, mean, spread) < tail
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log density of each observed value under the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Observed values.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        check_is_fitted(self)
        y = np.asarray(y, dtype=np.float64)
        parts = np.array(self._of_each(lambda estimator: predict_values(estimator, X, y).log_density))
        density: Floats = logsumexp(parts, axis=0, b=self.weights_[:, None])
        return density

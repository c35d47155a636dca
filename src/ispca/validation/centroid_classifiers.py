"""Classifiers by the distance from class centroids: diagonal discriminant analysis, nearest shrunken centroids."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..foundation.arrays import Floats, Indices
from ..targets.target_and_prediction_checks import check_weights

N_FOLDS = 5
N_THRESHOLDS = 30
# As in scikit-learn's GaussianNB: this fraction of the largest variance is added to all.
SMOOTHING = 1e-9


class ClassMoments(NamedTuple):
    """Total weights and centroids of the classes, the overall centroid, and pooled standard deviations."""

    sizes: Floats
    centroids: Floats
    center: Floats
    deviation: Floats


class LinearRule(NamedTuple):
    """Discriminant scores of the classes as linear functions of the features."""

    coef: Floats
    intercept: Floats

    def scores(self, X: Any) -> Floats:
        """Return the log posterior probability of each class, up to a constant of the sample."""
        return np.asarray(X @ self.coef.T + self.intercept, dtype=np.float64)


def class_moments(X: Any, codes: Indices, n_classes: int, weight: Floats) -> ClassMoments:
    """Return the moments of the classes; sparse data stay sparse."""
    members = np.zeros((len(codes), n_classes))
    members[np.arange(len(codes)), codes] = weight
    sizes = members.sum(axis=0)
    centroids = np.asarray((X.T @ members).T) / sizes[:, None]
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).T @ weight).ravel() - sizes @ centroids**2
    else:
        squares = weight @ (X - centroids[codes]) ** 2
    freedom = max(sizes.sum() - n_classes, np.finfo(np.float64).tiny)
    deviation = np.sqrt(np.maximum(squares, 0.0) / freedom)
    return ClassMoments(sizes, centroids, sizes @ centroids / sizes.sum(), deviation)


def linear_rule(moments: ClassMoments, centroids: Floats, variance: Floats) -> LinearRule:
    """Return the scores for normal classes with these centroids and variances, and the frequencies of the classes.

    >>> import numpy as np
    >>> from ispca.validation.centroid_classifiers import ClassMoments, linear_rule
    >>> moments = ClassMoments(np.ones(2), np.array([[0.0], [2.0]]), np.array([1.0]), np.ones(1))
    >>> linear_rule(moments, moments.centroids, np.ones(1)).scores(np.array([[1.0], [2.0]])).round(1).tolist()
    [[-1.2, -1.2], [-2.2, -0.2]]
    """
    # Relative to the overall centroid, from which most shrunken centroids do not differ.
    coef = np.divide(centroids - moments.center, variance, out=np.zeros_like(centroids), where=variance > 0)
    frequencies = moments.sizes / moments.sizes.sum()
    return LinearRule(coef, np.log(frequencies) - (coef * (centroids + moments.center)).sum(axis=1) / 2)


class CentroidClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers with linear scores of normal classes that share the variances of the features."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rule(self, X: Any, codes: Indices, weight: Floats) -> LinearRule:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to samples and their classes; a weight of 2 counts a sample twice."""
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64)
        check_classification_targets(y)
        weight = check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        used = weight > 0
        self.classes_, codes = np.unique(y[used], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y contains only one class, {self.classes_[0]!s}: two or more are needed.")
        rule = self._rule(X if used.all() else X[used], codes, weight[used])
        self.coef_, self.intercept_ = rule
        return self

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return LinearRule(self.coef_, self.intercept_).scores(X)

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classes; for two classes, that of the second minus that of the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes."""
        return np.asarray(softmax(self._scores(X), axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class."""
        codes = self._scores(X).argmax(axis=1)
        return self.classes_[codes]


class DiagonalDiscriminant(CentroidClassifier):
    """Diagonal linear discriminant analysis: normal classes with the same variances and without correlations."""

    def _rule(self, X: Any, codes: Indices, weight: Floats) -> LinearRule:
        moments = class_moments(X, codes, len(self.classes_), weight)
        variance = moments.deviation**2
        return linear_rule(moments, moments.centroids, variance + SMOOTHING * variance.max())


class ShrunkenCentroids(CentroidClassifier):
    """Nearest shrunken centroids (Tibshirani, Hastie, Narasimhan and Chu, 2002).

    The standardized differences of the class centroids from the overall centroid are reduced by a threshold;
    features without any difference left are not used. The threshold has the best log density in five folds.
    """

    def __init__(self, threshold: float | None = None, *, random_state: Any = None) -> None:
        self.threshold = threshold
        self.random_state = random_state

    def _rule(self, X: Any, codes: Indices, weight: Floats) -> LinearRule:
        whole = Shrinkage.of(class_moments(X, codes, len(self.classes_), weight))
        threshold = self.threshold
        if threshold is None:
            threshold = self._choose(X, codes, weight, np.linspace(0, whole.largest, N_THRESHOLDS))
        self.threshold_ = float(threshold)
        self.centroids_ = whole.centroids(self.threshold_)
        return whole.rule(self.threshold_)

    def _choose(self, X: Any, codes: Indices, weight: Floats, thresholds: Floats) -> float:
        """Return the threshold with the best log density in folds, the largest of several."""
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            raise ValueError("Choosing the threshold by folds needs two samples of each class. Pass threshold.")
        splits = StratifiedKFold(min(N_FOLDS, smallest), shuffle=True, random_state=self.random_state)
        total = np.zeros(len(thresholds))
        rows = X.tocsr() if sp.issparse(X) else X
        for train, test in splits.split(np.zeros((len(codes), 1)), codes):
            part = Shrinkage.of(class_moments(rows[train], codes[train], len(self.classes_), weight[train]))
            for number, threshold in enumerate(thresholds):
                density = log_softmax(part.rule(threshold).scores(rows[test]), axis=1)
                total[number] += weight[test] @ density[np.arange(len(test)), codes[test]]
        return float(thresholds[np.flatnonzero(total == total.max())[-1]])


class Shrinkage(NamedTuple):
    """Standardized differences of the centroids from the overall one, and their standard errors."""

    moments: ClassMoments
    scale: Floats
    errors: Floats
    differences: Floats

    @classmethod
    def of(cls, moments: ClassMoments) -> Shrinkage:
        """Standardize the differences; the median deviation is added to all, as a guard against small ones."""
        scale = moments.deviation + np.median(moments.deviation)
        factors = np.sqrt(1 / moments.sizes - 1 / moments.sizes.sum())
        errors = factors[:, None] * scale
        raw = moments.centroids - moments.center
        return cls(moments, scale, errors, np.divide(raw, errors, out=np.zeros_like(raw), where=errors > 0))

    @property
    def largest(self) -> float:
        """The threshold at which all classes have the overall centroid."""
        return float(np.abs(self.differences).max())

    def centroids(self, threshold: float) -> Floats:
        """Return the shrunken centroids."""
        kept = np.sign(self.differences) * np.maximum(np.abs(self.differences) - threshold, 0.0)
        return self.moments.center + self.errors * kept

    def rule(self, threshold: float) -> LinearRule:
        """Return the scores of the classes with shrunken centroids."""
        return linear_rule(self.moments, self.centroids(threshold), self.scale**2)

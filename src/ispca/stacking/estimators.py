"""The stacks: weighted mixtures of predicted classes, quantities, counts and survival."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from ..families import POISSON, CountFamily
from ..families.ordinal import ordinal_target
from ..fitted_parts import take_apart
from ..foundation.arrays import Floats, protect
from ..foundation.docstrings import share_docs
from ..foundation.parameters import fit_context
from ..targets import ORDERED_CLASSES, Target
from ..targets.classes import ClassPredictions, class_probabilities
from ..targets.counts import CountPredictions
from ..targets.mixture_weights import apply_inverse_temperature, fit_inverse_temperature
from ..targets.quantity import QuantityIntervals, mixture_quantile, normal_part
from ..targets.samples import Prediction, Samples, log_class_probability
from ..targets.survival import SurvivalPredictions, risk_of_curves, survival_at
from ..targets.target_and_prediction_checks import n_rows, possible_counts, possible_values
from .base import DOCS, Stacked, offset_option


@share_docs(
    **DOCS,
    candidates="""The candidates. By default kernels (KernelClassifier), the lasso, SPCA (for two classes only) and
        ISPCA (50 components each, 20 for more than two classes), with the residual test and honest training
        scores, each with the horseshoe model; and the base rate.""",
)
class StackedClassifier(ClassPredictions, ClassifierMixin, Stacked):
    """Mix the predictions of several methods, with weights from held-out samples.

    No reduction wins everywhere, and selecting one by cross-validation often selects noise. Stacking mixes
    the predicted probabilities instead. The weights maximize the log density of out-of-fold predictions,
    with every candidate refitted completely in every fold, under a Dirichlet prior that keeps them from
    extremes. A mixture is underconfident, so one exponent of its probabilities is estimated from the same
    predictions.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    $class_labels
    $temperature
    $attributes

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
    _parts = ("log_density", "probabilities")

    def _read_target(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Target]:
        X, y, target = super()._read_target(X, y)
        check_classification_targets(y)
        self.classes_ = target.classes
        return X, y, target

    def _finish(self, samples: Samples, target: Target, predictions: list[list[Prediction]]) -> None:
        # Probabilities of every candidate, fold by fold, with axes (candidate, sample, class).
        parts = [np.array([item.probabilities for item in row]) for row in predictions]
        self._out_of_fold = np.concatenate(parts, axis=1)
        pooled = np.tensordot(self.weights_, self._out_of_fold, 1)
        weight = None if samples.sample_weight is None else samples.sample_weight[self._held_out]
        observed = target.observations(samples.y)[self._held_out]
        self.inverse_temperature_ = fit_inverse_temperature(pooled, observed, weight)

    def _candidate_classes(self) -> np.ndarray:
        """Return the labels that the candidates know the classes by, in order."""
        return self.classes_

    def _probabilities(self, Z: Any) -> Floats:
        count, labels = n_rows(Z), self._candidate_classes()
        parts = self._of_each(lambda estimator: class_probabilities(estimator, Z, labels, count))
        mixture: Floats = sum(weight * part for weight, part in zip(self.weights_, parts, strict=True))
        return apply_inverse_temperature(mixture, self.inverse_temperature_)

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        return log_class_probability(self._probabilities(Z), y)


@share_docs(
    **DOCS,
    candidates="""The candidates; each must have ``predict_proba``. By default kernels (KernelScores), SPCA and
        ISPCA (50 components each), with the residual test and honest training scores, each with
        HorseshoeOrdinal; and the base rate.""",
)
class StackedOrdinal(StackedClassifier):
    """Mix the predictions of several methods for ordered classes, with weights from held-out samples.

    Works like StackedClassifier, with HorseshoeOrdinal in the default candidates. Candidates see the numbers of
    the classes, from 0 on, in place of the labels, so that all of them know the order.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    classes_ : ndarray
        Class labels, from lowest to highest.
    $temperature
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca import StackedOrdinal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)); grade = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> candidates = {"logistic": LogisticRegression(), "base rate": DummyClassifier()}
    >>> stack = StackedOrdinal(candidates, n_jobs=1, random_state=0).fit(X, grade)
    >>> stack.predict_proba(X).shape
    (60, 3)
    """

    target: Target = ORDERED_CLASSES

    def _read_target(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Target]:
        X, codes, target = Stacked._read_target(self, X, y)
        self.classes_ = ordinal_target(y)[1]
        return X, codes, target

    def _candidate_classes(self) -> np.ndarray:
        # Candidates that were fitted before they were combined know the labels.
        numbers, first = np.arange(len(self.classes_)), next(iter(self.estimators_.values()))
        known = np.asarray(take_apart(first).model.classes_).tolist()
        return numbers if set(known) <= set(numbers.tolist()) else self.classes_


@share_docs(
    **DOCS,
    candidates="""The candidates; each must give a predictive distribution (``predict(X, return_std=True)``, or
        ``log_predictive_density`` and ``predict_interval``). By default as in StackedClassifier.""",
)
class StackedRegressor(QuantityIntervals, RegressorMixin, Stacked):
    """Mix the predictive distributions of several regressions, with weights from held-out samples.

    Works like StackedClassifier, with Gaussian models as default candidates. In intervals and standard deviations,
    each candidate has a normal distribution.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    $attributes

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
    _parts = ("log_density", "interval")

    def _read_target(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Target]:
        X, y, target = super()._read_target(X, y)
        return X, y.astype(np.float64), target

    def _check_part(self, prediction: Prediction) -> None:
        normal_part(prediction)

    def _normal_parts(self, Z: Any) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictions, with one row per candidate."""
        samples = Samples(Z, np.zeros(n_rows(Z)))
        parts = self._of_each(lambda item: normal_part(self.target.predict(item, take_apart(item), samples)))
        mean, spread = np.array(parts).swapaxes(0, 1)
        return mean, spread

    def _mean(self, Z: Any) -> Floats:
        count = n_rows(Z)
        values = self._of_each(lambda item: possible_values(item.predict(protect(Z, item)), count))
        return self.weights_ @ np.array(values)

    def _mean_and_deviation(self, Z: Any) -> tuple[Floats, Floats]:
        mean, spread = self._normal_parts(Z)
        center = self.weights_ @ mean
        return center, np.sqrt(self.weights_ @ (spread**2 + (mean - center) ** 2))

    def _quantiles(self, Z: Any, tails: tuple[float, float]) -> Floats:
        mean, spread = self._normal_parts(Z)
        return np.column_stack([mixture_quantile(tail, self.weights_, mean, spread) for tail in tails])

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        # Not all candidates have a density of their own: some have means and standard deviations.
        samples = Samples(Z, y)
        parts = self._of_each(lambda item: self.target.predict(item, take_apart(item), samples).log_density)
        return np.asarray(logsumexp(np.array(parts), axis=0, b=self.weights_[:, None]))


@share_docs(
    **DOCS,
    candidates="""The candidates; each must have ``log_predictive_density``. By default kernels
        (KernelScores), the lasso, SPCA and ISPCA (50 components each), with the residual test and honest training
        scores, each with HorseshoeCounts; and the mean rate.""",
)
class StackedCounts(CountPredictions, RegressorMixin, Stacked):
    """Mix the predictive distributions of several models of counts, with weights from held-out samples.

    The weights maximize the log density of out-of-fold predictions, as in StackedClassifier.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import PenalizedCounts, StackedCounts
    >>> from ispca.targets.base_rates import BaseRateCounts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)); y = rng.poisson(np.exp(1 + X[:, 0]))
    >>> candidates = {"lasso": PenalizedCounts(), "base rate": BaseRateCounts()}
    >>> stack = StackedCounts(candidates, n_jobs=1, random_state=0).fit(X, y)
    >>> bool(stack.weights_[0] > 0.8)
    True
    """

    @fit_context(skip_nested=False)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, offset: Any = None) -> Self:
        """Find the weights, and fit the candidates to all samples.

        Parameters
        ----------
        $samples
        y : array-like of shape (n_samples,)
            Counts: integers of 0 or more.
        $options
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictors: the logarithm of the exposure. All candidates must take it.

        $fitted
        """
        self._fit(X, y, groups, sample_weight, offset)
        return self

    def _mean(self, Z: Any, offset: Floats | None) -> Floats:
        count, options = n_rows(Z), offset_option(offset)
        parts = self._of_each_model(Z, lambda model, Z: possible_counts(model.predict(Z, **options), count))
        return self.weights_ @ np.array(parts)

    _constant_rate = False

    def _deviance_family(self) -> tuple[CountFamily, float | None]:
        return POISSON, None


@share_docs(
    **DOCS,
    candidates="""The candidates; each must have ``predict_survival_function`` and ``log_predictive_density``. By
        default kernels (KernelScores), the lasso, SPCA and ISPCA (50 components each), with the residual test and
        honest training scores, each with HorseshoeSurvival; and the Kaplan-Meier curve.""",
)
class StackedSurvival(SurvivalPredictions, Stacked):
    """Mix the predicted survival of several methods, with weights from held-out samples.

    The weights maximize the log density of out-of-fold predictions, as in StackedClassifier. The survival curve of
    the mixture is the weighted mean of the candidates' curves. Risk scores of different methods have different
    scales, so the risk of the mixture is minus the mean survival time up to the last training time, the area
    under its curve. ``predict`` and ``score`` follow the conventions of scikit-survival.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    unique_times_ : ndarray
        Distinct times of the training samples, at which survival curves are evaluated.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import PenalizedSurvival, StackedSurvival
    >>> from ispca.targets.base_rates import BaseRateSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)); time = rng.exponential(np.exp(-X[:, 0]))
    >>> candidates = {"ridge": PenalizedSurvival(penalty="ridge"), "base rate": BaseRateSurvival()}
    >>> stack = StackedSurvival(candidates, n_jobs=1, random_state=0).fit(X, (time < 2, np.minimum(time, 2)))
    >>> bool(stack.weights_[0] > 0.8)
    True
    """

    _needs = "predict_survival_function and log_predictive_density"
    _parts = ("log_density", "probabilities")

    def _finish(self, samples: Samples, target: Target, predictions: list[list[Prediction]]) -> None:
        self.unique_times_ = np.unique(samples.y["time"])

    def _risk(self, Z: Any, offset: Floats | None) -> Floats:
        return risk_of_curves(self._curves(Z, offset), self.unique_times_)

    def _curves(self, Z: Any, offset: Floats | None) -> Floats:
        times, count, options = self.unique_times_, n_rows(Z), offset_option(offset)
        parts = self._of_each_model(Z, lambda model, Z: survival_at(model, Z, times, count, **options))
        return np.tensordot(self.weights_, np.array(parts), 1)

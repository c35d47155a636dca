"""The penalized estimators: classification, regression, counts and survival with a lasso or ridge penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, RegressorMixin

from ..families import COX, GAUSSIAN, POISSON, CountFamily, Family, class_family
from ..families.counts import count_target, mean
from ..families.piecewise_hazard import PiecewiseHazard, estimate_hazard
from ..families.survival_curves import breslow, step_values, survival
from ..families.survival_target import survival_target
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.messages import shorten
from ..inputs.checks import check_training_data
from ..targets.classes import ClassPredictions
from ..targets.counts import CountPredictions
from ..targets.quantity import QuantityPredictions
from ..targets.samples import Samples
from ..targets.survival import SurvivalPredictions
from ..targets.target_and_prediction_checks import check_one_each, class_codes, numeric_target
from .base import DOCS, OffsetPenalized, Penalized


@share_docs(**DOCS)
class PenalizedClassifier(ClassPredictions, ClassifierMixin, Penalized):
    """Logistic (two classes) or softmax (more) regression with a lasso or ridge penalty.

    $conventions deviance. The folds
    here are stratified: each class is spread evenly over them.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients in the units of X; with ``choice="average"``, their weighted mean.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; with ``choice="average"``, their weighted mean.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200)); y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "ill", "well")
    >>> model = PenalizedClassifier(random_state=0).fit(X, y)
    >>> int(np.abs(model.coef_[0]).argmax()), model.n_nonzero_ < 20
    (0, True)
    >>> model.predict(X[:3]).tolist() == y[:3].tolist()
    True
    """

    def _fit(self, given: Any, samples: Samples) -> None:
        classes, codes = class_codes(samples.y)
        counts = np.bincount(codes)
        if counts.min() < 2:
            single = shorten(repr(classes.tolist()[counts.argmin()]))
            raise ValueError(
                f"The class {single} has a single training sample, so no cross-validation can choose the penalty. "
                "Add samples of this class or drop it."
            )
        family = class_family(len(classes))
        self.coef_, self.intercept_ = self._fit_path(given, samples._replace(y=codes), family)
        self.classes_ = classes

    def decision_function(self, X: Any) -> Floats:
        """Return the linear predictors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        predictors : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log odds of the second class; for more classes one score each. With ``choice="average"``, these are
            the log odds and the log probabilities of the averaged probabilities.
        """
        Z = self._check_new(X)
        if self._averages:
            logs = self._log_probabilities(Z)
            return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs
        predictors = self._mean_predictor(Z)
        return predictors[:, 0] if predictors.shape[1] == 1 else predictors

    def _log_probabilities(self, Z: Any) -> Floats:
        predictors, weights = self._predictors(Z)
        family = class_family(len(self.classes_))
        logs = np.stack([family.log_probabilities(part) for part in predictors])
        return np.asarray(logsumexp(logs, axis=0, b=weights[:, None, None])) if self._averages else logs[0]

    def _probabilities(self, Z: Any) -> Floats:
        return np.exp(self._log_probabilities(Z))

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        return self._log_probabilities(Z)[np.arange(len(y)), y]


@share_docs(**DOCS | {"error": "squared error"})
class PenalizedRegressor(QuantityPredictions, RegressorMixin, Penalized):
    """Linear regression with a lasso or ridge penalty.

    $conventions squared error.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X; with ``choice="average"``, their weighted mean.
    intercept_ : float
        Intercept; with ``choice="average"``, the weighted mean.
    residual_scale_ : float
        Root of the cross-validated mean squared error at the chosen penalty, or of its weighted mean.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200)); y = 3 * X[:, 0] + rng.normal(size=60)
    >>> model = PenalizedRegressor(random_state=0).fit(X, y)
    >>> int(np.abs(model.coef_).argmax())
    0
    >>> mean, deviation = model.predict(X[:2], return_std=True)
    """

    def _fit(self, given: Any, samples: Samples) -> None:
        coef, intercept = self._fit_path(given, samples._replace(y=numeric_target(samples.y)), GAUSSIAN)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        weights = self.lambdas_ == self.lambda_ if self.weights_ is None else self.weights_
        self.residual_scale_ = float(np.sqrt(weights @ self.cv_deviance_))

    def _mean(self, Z: Any) -> Floats:
        return self._mean_predictor(Z)[:, 0]

    def _mean_and_deviation(self, Z: Any) -> tuple[Floats, Floats]:
        mean = self._mean(Z)
        if not self._averages:
            return mean, np.full(len(mean), self.residual_scale_)
        predictors, weights = self._predictors(Z)
        return mean, np.sqrt(self.residual_scale_**2 + weights @ (predictors[:, :, 0] - mean) ** 2)

    def _likelihood(self) -> tuple[Family, Any]:
        # A mixture of normals, if several penalties are averaged.
        return GAUSSIAN, np.sqrt(self.cv_deviance_[self.weights_ > 0]) if self._averages else self.residual_scale_


@share_docs(**DOCS)
class PenalizedCounts(CountPredictions, RegressorMixin, OffsetPenalized):
    """Poisson regression with log link and a lasso or ridge penalty.

    $conventions deviance. There is
    no penalized model for negative-binomial counts; use HorseshoeCounts.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X; with ``choice="average"``, their weighted mean.
    intercept_ : float
        Intercept; with ``choice="average"``, the weighted mean.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedCounts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200)); y = rng.poisson(np.exp(1 + X[:, 0]))
    >>> model = PenalizedCounts(random_state=0).fit(X, y)
    >>> int(np.abs(model.coef_).argmax())
    0
    """

    def _fit(self, given: Any, samples: Samples) -> None:
        coef, intercept = self._fit_path(given, samples._replace(y=count_target(samples.y)), POISSON)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])

    def _mean(self, Z: Any, offset: Floats | None) -> Floats:
        predictors, weights = self._predictors(Z, offset)
        return np.asarray(mean(predictors[:, :, 0].T) @ weights)

    def _deviance_family(self) -> tuple[CountFamily, float | None]:
        return POISSON, None

    def _likelihood(self) -> tuple[Family, Any]:
        return POISSON, None


@share_docs(**DOCS)
class PenalizedSurvival(SurvivalPredictions, OffsetPenalized):
    """Cox proportional hazards regression with a lasso or ridge penalty.

    The conventions are those of R's glmnet: features are standardized internally, and ties are handled by
    Breslow's method. The penalty is chosen by the partial likelihood of the held-out linear predictors of all
    folds together (Dai and Breheny, 2019); folds are stratified by event. Targets, ``predict``, ``score`` and
    ``predict_survival_function`` follow the conventions of scikit-survival.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients in the units of X; with ``choice="average"``, their weighted mean.
    intercept_ : float
        Always 0: the baseline hazard takes its place.
    $attributes
    unique_times_ : ndarray
        Distinct times of the training samples, at which survival functions are evaluated.
    event_times_ : ndarray
        Those at which events happened.
    log_cumulative_hazard_ : ndarray of shape (n_averaged or 1, n_event_times)
        Logarithm of Breslow's cumulative baseline hazard from each event time on.
    hazard_starts_, log_hazard_rates_ : ndarray
        Intervals and rates of the piecewise-constant hazard behind ``log_predictive_density``.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.penalized import PenalizedSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 200))
    >>> death, end = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2, size=80)
    >>> model = PenalizedSurvival(random_state=0).fit(X, (death < end, np.minimum(death, end)))
    >>> int(np.abs(model.coef_).argmax())
    0
    """

    def _check_training(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        target = survival_target(y)
        X, _ = check_training_data(self, X, None, needs_target=False)
        check_one_each(X.shape[0], target)
        return X, target

    def _fit(self, given: Any, samples: Samples) -> None:
        events = survival_target(samples.y)["event"].astype(np.int64)
        coef, _ = self._fit_path(given, samples, COX, events if 0 in events else None)
        # The intercept only centers the features, which cancels from the partial likelihood.
        self.coef_, self.intercept_ = coef[0], 0.0
        if self.averaged_intercept_ is not None:
            self.averaged_intercept_ = np.zeros_like(self.averaged_intercept_)
        eta, event, time = self._eta(samples.X, samples.offset)[0], samples.y["event"], samples.y["time"]
        self.unique_times_ = np.unique(time)
        self.event_times_, self.log_cumulative_hazard_ = breslow(eta, event, time, samples.sample_weight)
        hazard = estimate_hazard(eta, event, time, samples.sample_weight)
        self.hazard_starts_, self.log_hazard_rates_ = hazard.starts, hazard.log_rates

    def _eta(self, Z: Any, offset: Floats | None) -> tuple[Floats, Floats]:
        """Return linear predictors (samples x averaged penalties, or one) and the weights of the penalties."""
        predictors, weights = self._predictors(Z, offset)
        return predictors[:, :, 0].T, weights

    def _risk(self, Z: Any, offset: Floats | None) -> Floats:
        risk = self._mean_predictor(Z)[:, 0]
        return risk if offset is None else risk + offset

    def _curves(self, Z: Any, offset: Floats | None) -> Floats:
        eta, weights = self._eta(Z, offset)
        curves = np.einsum("p,ipt->it", weights, survival(self.log_cumulative_hazard_, eta))
        return step_values(self.event_times_, curves, self.unique_times_)

    def _likelihood(self) -> tuple[Family, Any]:
        return COX, PiecewiseHazard(self.hazard_starts_, self.log_hazard_rates_)

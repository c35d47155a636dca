"""KernelClassifier and KernelRegressor: kernel ridge regression with distributions from left-out values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, RegressorMixin

from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..targets.classes import ClassPredictions
from ..targets.quantity import QuantityIntervals, interval_tails, mixture_quantile
from ..targets.samples import INTERVAL_PROBABILITY, Prediction, log_class_probability
from ..targets.target_and_prediction_checks import class_codes, numeric_target
from .base import DOCS, KernelMethod
from .class_calibration import Calibration, calibrate_classes
from .residual_distribution import choose_degrees, deviation_over_scale, fit_scales, log_densities


@share_docs(**DOCS)
class KernelClassifier(ClassPredictions, ClassifierMixin, KernelMethod):
    """Kernel ridge regression of the classes with calibrated probabilities, in a fraction of a second.

    Indicators of the classes are regressed on kernels of the standardized features, with 24 penalties for each
    kernel. The values that each fit predicts for samples it leaves out follow from one eigendecomposition, exactly
    and without refits. Probabilities are ``softmax(a F + b)``, with a and b fitted to these left-out values F.
    Penalties are averaged by their left-out likelihood, and kernels are stacked.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    $class_labels
    leave_one_out_ : ndarray of shape (n_samples, n_classes)
        Probabilities predicted for each training sample without it, its group and its copies.
    slopes_, intercepts_ : ndarray of shape (n_members,), (n_members, n_classes)
        a and b of each member of the mixture.
    $attributes

    Examples
    --------
    >>> from ispca import KernelClassifier
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=80, n_features=500, random_state=0)
    >>> model = KernelClassifier().fit(data.data, data.target)
    >>> left_out = model.classes_[model.leave_one_out_.argmax(axis=1)] == data.target
    >>> bool(left_out.mean() > 0.8)
    True
    """

    def fit_left_out(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Prediction:
        """Fit, and return what is predicted for the training samples when they are left out."""
        training = self._prepare(X, y, sample_weight, None, groups)
        classes, codes = class_codes(training.samples.y)
        observed = np.eye(len(classes))[codes]
        weights = training.weights
        fits, rows = self._fit_kernels(training, observed), np.arange(len(codes))
        found, logs = _calibrate([fit.left_out for fit in fits], observed, weights)
        in_folds = logs
        if any(fit.in_folds is not fit.left_out for fit in fits):
            in_folds = _calibrate([fit.in_folds for fit in fits], observed, weights)[1]
        members = self._mix(training, fits, logs[:, :, rows, codes], in_folds[:, :, rows, codes])
        self.classes_ = classes
        kept = self.member_kernels_, self.member_penalties_
        self.slopes_ = np.stack([one.slopes for one in found])[kept]
        self.intercepts_ = np.stack([one.intercepts for one in found])[kept]
        left_out = np.tensordot(members, np.exp(logs), 2)
        self.leave_one_out_ = training.add_dropped(left_out, self._probabilities)
        self._store_coefficients(training, self.slopes_)
        return Prediction(left_out.argmax(axis=1), left_out, log_density=log_class_probability(left_out, codes))

    def _probabilities(self, Z: Any) -> Floats:
        logs = Calibration(self.slopes_, self.intercepts_).log_probabilities(self._member_values(Z))
        return np.tensordot(self.member_weights_, np.exp(logs), 1)

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        return log_class_probability(self._probabilities(Z), y)


@share_docs(**DOCS)
class KernelRegressor(QuantityIntervals, RegressorMixin, KernelMethod):
    """Kernel ridge regression with a predictive distribution, in a fraction of a second.

    Works like KernelClassifier. The predictive distribution of a kernel with a penalty is normal, with the root
    mean square of its left-out residuals as standard deviation; their mixture is the prediction. If the residuals
    have clearly heavier tails, such as with outliers, it is Student's t with 10, 5 or 3 degrees of freedom.

    Parameters
    ----------
    $parameters

    Attributes
    ----------
    leave_one_out_ : ndarray of shape (n_samples,)
        Means predicted for each training sample without it, its group and its copies.
    leave_one_out_deviation_ : ndarray of shape (n_samples,)
        Standard deviations of these predictions.
    deviations_ : ndarray of shape (n_members,)
        Standard deviation of each member of the mixture.
    degrees_of_freedom_ : float
        Degrees of freedom of the predictive distributions; infinite if they are normal.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from ispca import KernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 300)); y = X[:, 0] + rng.normal(size=60)
    >>> model = KernelRegressor().fit(X, y)
    >>> bool(np.corrcoef(model.leave_one_out_, y)[0, 1] > 0.5)
    True
    """

    def fit_left_out(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Prediction:
        """Fit, and return what is predicted for the training samples when they are left out."""
        training = self._prepare(X, y, sample_weight, None, groups)
        target, weights = numeric_target(training.samples.y), training.weights
        fits = self._fit_kernels(training, target[:, None])
        values, in_folds = (np.stack(part)[..., 0] for part in zip(*(fit[2:] for fit in fits), strict=True))
        degrees = self.degrees_of_freedom_ = choose_degrees(values, target, weights)
        scales, compared = (fit_scales(part, target, weights, degrees)[..., None] for part in (values, in_folds))
        densities = log_densities(target, values, scales, degrees)
        self._mix(training, fits, densities, log_densities(target, in_folds, compared, degrees))
        kept, shares = (self.member_kernels_, self.member_penalties_), self.member_weights_
        self.deviations_ = scales[kept][:, 0] * deviation_over_scale(degrees)
        mean, deviation = _moments(shares, values[kept], self.deviations_)
        self.leave_one_out_ = training.add_dropped(mean, self._mean)
        self.leave_one_out_deviation_ = training.add_dropped(deviation, lambda Z: self._mean_and_deviation(Z)[1])
        self._store_coefficients(training, np.ones(len(self.deviations_)))
        density = logsumexp(densities[kept], axis=0, b=shares[:, None])
        interval = self._mixture_quantiles(values[kept], interval_tails(INTERVAL_PROBABILITY))
        return Prediction(mean, log_density=density, interval=interval)

    def _mean(self, Z: Any) -> Floats:
        return self._mean_and_deviation(Z)[0]

    def _mean_and_deviation(self, Z: Any) -> tuple[Floats, Floats]:
        return _moments(self.member_weights_, self._member_values(Z)[:, :, 0], self.deviations_)

    def _quantiles(self, Z: Any, tails: tuple[float, float]) -> Floats:
        return self._mixture_quantiles(self._member_values(Z)[:, :, 0], tails)

    def _mixture_quantiles(self, means: Floats, tails: tuple[float, float]) -> Floats:
        degrees, scales = self.degrees_of_freedom_, np.broadcast_to(self._scales, means.shape)
        ends = [mixture_quantile(tail, self.member_weights_, means, scales, degrees) for tail in tails]
        return np.column_stack(ends)

    @property
    def _scales(self) -> Floats:
        return self.deviations_[:, None] / deviation_over_scale(self.degrees_of_freedom_)

    def _log_density(self, Z: Any, y: np.ndarray, offset: Floats | None) -> Floats:
        means = self._member_values(Z)[:, :, 0]
        density = log_densities(y, means, self._scales, self.degrees_of_freedom_)
        return np.asarray(logsumexp(density, axis=0, b=self.member_weights_[:, None]))


def _moments(weights: Floats, means: Floats, deviations: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of a mixture of distributions (members x samples)."""
    center = weights @ means
    return center, np.sqrt(weights @ (deviations[:, None] ** 2 + (means - center) ** 2))


def _calibrate(values: list[Floats], observed: Floats, weights: Floats) -> tuple[list[Calibration], Floats]:
    """Calibrate the left-out values of all kernels; return also log probabilities."""
    found = [calibrate_classes(part, observed, weights) for part in values]
    return found, np.stack([one.log_probabilities(part) for one, part in zip(found, values, strict=True)])

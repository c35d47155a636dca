"""A first verdict without any refit: that of kernels, whose left-out predictions follow from one fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..fitted_parts import take_apart
from ..fitting.fit_and_predict import fit_and_predict
from ..kernels import KernelClassifier, KernelRegressor
from ..kernels.base import KernelMethod
from ..targets import Target
from ..targets.samples import Pooled, Prediction, Samples, select_samples
from ..targets.target import Judgment, nan_to_none
from .held_out_verdict import judged_sentence

OPTIMISTIC = "This is slightly optimistic, because calibration and weights have seen these samples."


def left_out_verdict(method: KernelMethod | Pipeline, samples: Samples, target: Target) -> str:
    """Return in a sentence how well a kernel method predicts samples that it leaves out, alone or in groups.

    Parameters
    ----------
    method : KernelClassifier, KernelRegressor, or pipeline of KernelScores and a model
        A clone of it is fitted.
    samples : Samples
        All samples.
    target : Target
        Kind of target.

    Returns
    -------
    sentence : str
        As that of `verdict`, and in which way it is optimistic.

    Examples
    --------
    >>> from ispca import KernelClassifier
    >>> from ispca.datasets import make_expression
    >>> from ispca.targets import CLASSES
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> left_out_verdict(KernelClassifier(), Samples(data.data, data.target), CLASSES)[:49]
    '100% of left-out samples are classified correctly'
    """
    counted = samples.of_positive_weight()
    target = target.of(counted.y)
    return _sentence(_judge(_left_out(clone(method), samples, counted, target), counted, target))


def kernel_verdict(
    model: KernelClassifier | KernelRegressor, y: Any, groups: Any = None, sample_weight: Any = None
) -> dict[str, Any]:
    """Return how well a fitted kernel method predicts samples that it leaves out, without any refit.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        The fitted method, of which ``leave_one_out_`` is judged.
    y, groups, sample_weight : array-like of shape (n_samples,)
        What the method was fitted to.

    Returns
    -------
    verdict : dict
        ``sentence``, ``measure``, ``value``, ``low``, ``high``, ``baseline_value`` and ``better_than_baseline``,
        as in `verdict`.

    Examples
    --------
    >>> from ispca import KernelClassifier
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> kernel_verdict(KernelClassifier().fit(data.data, data.target), data.target)["value"]
    1.0
    """
    check_is_fitted(model)
    left_out, y = model.leave_one_out_, model.target.read(y)
    if len(y) != len(left_out):
        raise ValueError(f"y has {len(y)} entries, but the model was fitted to {len(left_out)} samples.")
    counted = select_samples(np.zeros((len(y), 1)), y, sample_weight, None, groups)
    left_out = left_out if counted.kept is None else left_out[counted.kept]
    prediction = Prediction(left_out.argmax(axis=1), left_out) if left_out.ndim == 2 else Prediction(left_out)
    own = _judge(prediction, counted, model.target.of(counted.y))
    values = {name: nan_to_none(value) for name, value in own.estimate._asdict().items()}
    found = {"sentence": _sentence(own), "measure": own.measure.name, **values, "baseline_value": own.baseline}
    return found | {"better_than_baseline": own.better}


def _judge(prediction: Prediction, counted: Samples, target: Target) -> Judgment:
    """Judge what is predicted for samples that were left out alone or in groups."""
    held_out, count = target.held_out(counted, counted), len(counted.y)
    unit = None if counted.groups is None else np.unique(counted.groups, return_inverse=True)[1]
    plain: Any = counted._replace(X=np.zeros((count, 1)), groups=None)
    rate = fit_and_predict(target.base_rate(), plain, plain, target)
    # Each fit is trained on all samples but one.
    held_out = held_out._replace(unit=unit, overlap=count / max(count - 1, 1))
    return target.judge(Pooled(np.arange(count), held_out, prediction, rate))


def _sentence(own: Judgment) -> str:
    return f"{judged_sentence(own).replace('held-out', 'left-out')} {OPTIMISTIC}"


def _left_out(method: Any, samples: Samples, counted: Samples, target: Target) -> Prediction:
    """Return what is predicted for the samples that count when they are left out."""
    if not isinstance(method, Pipeline):
        return method.fit_left_out(samples.X, samples.y, samples.groups, samples.sample_weight)
    scores, model = method[0], method[-1]
    Z = counted._replace(
        X=scores.fit_transform(counted.X, counted.y, counted.groups, **counted.weight_and_offset())
    )
    model.fit(Z.X, Z.y, **Z.weight_and_offset())
    return target.predict(model, take_apart(model), Z)

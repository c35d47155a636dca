"""The target as pseudo-response columns: what the scores correlate the features with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from .._warnings import notify
from ..families import FAMILIES, Family, choose_family
from ..families.family import NullModel
from ..families.target_kind import has_fractions
from .deflation import project_off
from .design import RowWeights, total_weights
from .start_basis import independent_columns

FAMILY_CHOICES = ("auto", *FAMILIES)
# Residuals below this fraction of the range of the target are rounding errors.
EXPLAINED = 1e-10


@dataclass(frozen=True, eq=False)
class Target:
    """The target, and what the model without any feature knows about it."""

    family: Family
    values: Any
    covariates: Floats | None = None  # samples x covariates
    offset: Floats | None = None
    sample_weight: Floats | None = None

    @property
    def plain(self) -> bool:
        """Whether the pseudo-responses are linear in the target: samples then need no null model of their own."""
        extras = (self.covariates, self.offset, self.sample_weight)
        return self.family.constant_weights and all(extra is None for extra in extras)

    @cached_property
    def codes(self) -> Indices:
        """Integers that are equal for samples with equal targets."""
        return np.unique(self.values, return_inverse=True)[1].ravel()

    def subset(self, samples: Indices) -> Target:
        """Return the target of some samples."""
        parts = {"values": self.values[samples]}
        for name in ("covariates", "offset", "sample_weight"):
            given = getattr(self, name)
            parts[name] = None if given is None else given[samples]
        return replace(self, **parts)

    def null_model(self) -> NullModel:
        """Fit the model of the constant, the covariates and the offset."""
        n = len(self.values)
        covariates = np.ones((n, 1))
        if self.covariates is not None:
            centered = self.covariates - np.average(self.covariates, axis=0, weights=self.sample_weight)
            centered /= np.maximum(np.abs(centered).max(axis=0), np.finfo(np.float64).tiny)
            # At unit mean square, Newton's method is well conditioned.
            covariates = np.column_stack([covariates, independent_columns(centered)[0] * np.sqrt(n)])
        offset = np.zeros(n) if self.offset is None else self.offset
        weights = np.ones(n) if self.sample_weight is None else self.sample_weight
        return self.family.null_model(self.values, covariates, offset, weights)


class ResidualExchange(NamedTuple):
    """How permutations exchange responses: as residuals that have the same distribution in all samples.

    Attributes
    ----------
    scale : ndarray of shape (n,) or None
        A response is such a residual times this; None if all are 1.
    weights : ndarray of shape (n,) or None
        Sample weights; None if all are 1.
    length : float or None
        Length of the response before it was scaled, in standard deviations of the residuals. If it is given,
        permuted responses keep their scale; otherwise they are scaled to unit length.
    """

    scale: Floats | None = None
    weights: Floats | None = None
    length: float | None = None


PLAIN_EXCHANGE = ResidualExchange()


@dataclass(frozen=True)
class Response:
    """Pseudo-responses of unit length, one column per one-versus-rest problem, in units of weighted rows."""

    family: Family
    columns: Floats  # samples x contrasts
    classes: Any  # sorted labels
    column_classes: tuple[Any, ...]  # the class that each column stands for
    target: Target
    rows: RowWeights | None = None  # None if all samples count the same
    exchange: ResidualExchange = PLAIN_EXCHANGE

    @property
    def class_codes(self) -> Indices:
        """Integers that are equal for samples of the same class."""
        if not self.target.plain:
            return self.target.codes
        return np.unique(self.columns, axis=0, return_inverse=True)[1].ravel()


def make_response(
    y: Any,
    family: str = "auto",
    labels: bool = False,
    *,
    covariates: Floats | None = None,
    offset: Floats | None = None,
    sample_weight: Floats | None = None,
) -> Response:
    """Turn a validated target into its pseudo-responses, or say what is wrong with it.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The target.
    family : str
        Name of a family, or "auto".
    labels : bool
        Whether y is known to contain class labels, which matters for "auto" and integers.
    covariates : ndarray of shape (n, k), optional
        What the target is adjusted for, besides the constant.
    offset, sample_weight : ndarray of shape (n,), optional
        Known parts of the linear predictor, and positive weights of the samples.
    """
    y = _plain(np.asarray(y))
    chosen = choose_family(family, y, labels)
    response = _response(Target(chosen, y, covariates, offset, sample_weight))
    if chosen.classification:
        _warn_about_classes(y)
    elif family == "auto" and chosen.noise_scale and not has_fractions(y):
        notify(
            f"y has {len(np.unique(y))} distinct integers and is treated as a quantity. If they are class labels, "
            'pass family="multinomial" or convert y to strings; family="gaussian" turns this warning off.'
        )
    return response


def _response(target: Target) -> Response:
    contrasts = target.family.contrasts(target.values)
    named = (contrasts.classes if target.family.classification else None, contrasts.column_classes)
    if target.plain:
        return Response(target.family, _unit(contrasts.columns), *named, target)
    null = target.null_model()
    if (np.abs(null.residuals).max(axis=0) <= EXPLAINED * np.ptp(contrasts.columns, axis=0)).any():
        raise ValueError(
            "The covariates and the offset explain the target exactly, so no feature can add anything. "
            "Leave out the covariate that determines the target."
        )
    return Response(
        target.family,
        _unit_length(_scaled(_pearson(null, target.sample_weight))),
        *named,
        target,
        total_weights(target.sample_weight, null.weights),
        _exchange(target, null),
    )


def _exchange(target: Target, null: NullModel) -> ResidualExchange:
    weights = target.sample_weight
    if target.family.constant_weights:
        # The variance belongs to the sample, through its covariates: Pearson residuals are exchangeable.
        return ResidualExchange(None if weights is None else np.sqrt(weights), weights)
    # Where the variance is part of the outcome, such as the hazard survived, the plain residuals are. Divided by
    # the deviation of other samples, their lengths have no meaning.
    inverse = np.divide(1.0, null.weights, out=np.zeros_like(null.weights), where=null.weights > 0)
    scale = np.sqrt(inverse if weights is None else weights * inverse)
    return ResidualExchange(scale, weights, float(np.linalg.norm(_pearson(null, weights))))


def _pearson(null: NullModel, sample_weight: Floats | None) -> Floats:
    """Return the residuals in units of their standard deviations, times the roots of the sample weights."""
    # A sample without information, such as one censored before any event, has no residual either.
    weights = null.weights[:, None]
    residuals = np.divide(null.residuals, np.sqrt(weights), out=np.zeros_like(null.residuals), where=weights > 0)
    return residuals if sample_weight is None else residuals * np.sqrt(sample_weight)[:, None]


def adjusted_response(response: Response, basis: Floats) -> Response:
    """Return the response without what a start basis explains, which for a null model is rounding error."""
    if response.target.plain:
        return response
    return replace(response, columns=_unit_length(project_off(basis, response.columns)))


def statistic_scale(response: Response) -> float:
    """Return what the squared scores are multiplied by to be Rao's score statistics.

    A variance that the family does not know is estimated from the null model.
    """
    target = response.target
    if target.family.noise_scale or target.family.per_class:
        weights = target.sample_weight
        return float(len(response.columns) if weights is None else weights.sum())
    [scale] = (_pearson(target.null_model(), target.sample_weight) ** 2).sum(axis=0)
    return float(scale)


def subset_response(response: Response, samples: Any, covariates: Floats | None = None) -> Response:
    """Return the response of some samples, in which every column must vary.

    A null model is fitted to these samples alone; ``covariates`` (of all samples) replace those of the response.
    """
    if not response.target.plain:
        target = response.target if covariates is None else replace(response.target, covariates=covariates)
        return _response(target.subset(samples))
    return replace(response, columns=_unit(response.columns[samples]))


def _plain(y: Any) -> Any:
    """Turn an object array of numbers or of strings into what it holds; refuse missing labels."""
    if y.dtype != object:
        return y
    missing = sum(label is None or label != label for label in y.tolist())
    if missing:
        raise ValueError(
            f"y has missing labels (None or NaN) in {missing} of {len(y)} samples. Drop these samples."
        )
    kinds = {isinstance(label, str) for label in y.tolist()}
    return np.array(y.tolist()) if len(kinds) == 1 else y


def _warn_about_classes(y: Any) -> None:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) > 2 and len(classes) > len(y) / 2 and np.issubdtype(classes.dtype, np.number):
        notify(
            f"y has {len(classes)} distinct numbers in {len(y)} samples and is treated as class labels. "
            'If it is a quantity, pass family="gaussian".'
        )
    elif counts.min() == 1:
        single = ", ".join(repr(label) for label in classes[counts == 1][:5].tolist())
        notify(
            f"Class {single} has one member only: its scores rest on a single sample; "
            "consider merging or dropping it."
        )


def _unit(columns: Floats) -> Floats:
    centered = _scaled(columns)
    return _unit_length(centered - centered.mean(axis=0))


def _scaled(columns: Floats) -> Floats:
    """Return the columns with a largest value of 1, so that squares neither overflow nor vanish."""
    scaled: Floats = columns / np.abs(columns).max(axis=0)
    return scaled


def _unit_length(columns: Floats) -> Floats:
    unit: Floats = columns / np.linalg.norm(columns, axis=0)
    return unit

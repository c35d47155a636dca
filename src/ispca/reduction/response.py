"""The target as pseudo-response columns, which the scores correlate with the features, and all data of one fit."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..families import FAMILIES, Family
from ..families.family import NullModel
from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.messages import notify
from ..targets import choose_family, has_fractions
from .deflation import StartBasis, independent_columns, project_off
from .design import RowWeights, total_weights
from .permutation import Exchange, exchange_of_similar, exchange_within_groups

FAMILY_CHOICES = ("auto", *FAMILIES)
# Residuals below this fraction of the range of the target are rounding errors.
EXPLAINED = 1e-10
# Of the variance of a sample, compared with the largest one: residuals are divided by it.
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class AdjustedTarget:
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

    def subset(self, samples: Indices) -> AdjustedTarget:
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
        null = self.family.null_model(self.values, covariates, offset, weights)
        return null._replace(weights=np.maximum(null.weights, LEAST_VARIANCE * null.weights.max()))


class ResidualExchange(NamedTuple):
    """How permutations exchange responses: as what the samples contribute to the score statistics.

    Attributes
    ----------
    factor : ndarray of shape (n,) or None
        A response times this is a contribution; None if all are 1.
    """

    factor: Floats | None = None

    def contributions(self, columns: Floats) -> Floats:
        """Return what permutations exchange."""
        return columns if self.factor is None else columns * self.factor[:, None]

    def responses(self, contributions: Floats) -> Floats:
        """Return the responses, or the features, that belong to contributions."""
        return contributions if self.factor is None else contributions / self.factor[:, None]

    def basis(self, basis: Floats) -> Floats:
        """Return the orthonormal basis that contributions are orthogonal to if responses are to the given one."""
        return basis if self.factor is None else np.linalg.qr(self.responses(basis))[0]


@dataclass(frozen=True)
class Response:
    """Pseudo-responses of unit length, one column per one-versus-rest problem, in units of weighted rows."""

    family: Family
    columns: Floats  # samples x contrasts
    classes: Any  # sorted labels
    column_classes: tuple[Any, ...]  # the class that each column stands for
    target: AdjustedTarget
    rows: RowWeights | None = None  # None if all samples count the same
    risk: Floats | None = None  # if permutations exchange only samples of similar risk

    @cached_property
    def exchange(self) -> ResidualExchange:
        """How permutation tests exchange the responses."""
        rows = self.rows
        if rows is None:
            return ResidualExchange()
        # A weight may depend on the outcome or on its variance: it is exchanged with the residual.
        if self.family.unbounded_variance:
            return ResidualExchange(None if rows.samples is None else np.sqrt(rows.samples))
        return ResidualExchange(rows.roots)

    @property
    def class_codes(self) -> Indices:
        """Integers that are equal for samples of the same class."""
        if not self.target.plain:
            return self.target.codes
        return np.unique(self.columns, axis=0, return_inverse=True)[1].ravel()


def make_response(
    y: Any,
    family: str | Family = "auto",
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
    family : str or Family
        A family or its name, or "auto".
    labels : bool
        Whether y is known to contain class labels, which matters for "auto" and integers.
    covariates : ndarray of shape (n, k), optional
        What the target is adjusted for, besides the constant.
    offset, sample_weight : ndarray of shape (n,), optional
        Known parts of the linear predictor, and positive weights of the samples.
    """
    y = _plain(np.asarray(y))
    chosen = family if isinstance(family, Family) else find_family(y, family, labels)
    response = _response(AdjustedTarget(chosen, y, covariates, offset, sample_weight))
    if chosen.classification:
        _warn_about_classes(y)
    return response


def find_family(y: Any, name: str, labels: bool = False) -> Family:
    """Return a family by its name, or for "auto" by the kind of the target, with a warning if it is unclear."""
    y = _plain(np.asarray(y))
    family = choose_family(name, y, labels)
    if name == "auto" and family.noise_scale and not has_fractions(y):
        notify(
            f"y has {len(np.unique(y))} distinct integers and is treated as a quantity. If they are class labels, "
            'pass family="multinomial" or convert y to strings; family="gaussian" turns this warning off.'
        )
    return family


def _response(target: AdjustedTarget) -> Response:
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
        _unit_length(_scale(_pearson(null, target.sample_weight))),
        *named,
        target,
        total_weights(target.sample_weight, null.weights),
        null.risk,
    )


def _pearson(null: NullModel, sample_weight: Floats | None) -> Floats:
    """Return the residuals in units of their standard deviations, times the roots of the sample weights."""
    residuals: Floats = null.residuals / np.sqrt(null.weights)[:, None]
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
    centered = _scale(columns)
    return _unit_length(centered - centered.mean(axis=0))


def _scale(columns: Floats) -> Floats:
    """Return the columns with a largest value of 1, so that squares neither overflow nor vanish."""
    scaled: Floats = columns / np.abs(columns).max(axis=0)
    return scaled


def _unit_length(columns: Floats) -> Floats:
    unit: Floats = columns / np.linalg.norm(columns, axis=0)
    return unit


class TrainingData(NamedTuple):
    """The data of one fit.

    Attributes
    ----------
    X : array-like or sparse matrix of shape (n, D)
        The features and the covariates.
    response : Response or None
        None for a fit without supervised components.
    rows : RowWeights or None
        None if all samples count the same.
    covariates, excluded : ndarray of shape (D,)
        Which columns are covariates, and which are left out.
    groups : ndarray of shape (n,) or None
        Samples that belong together.
    """

    X: Any
    response: Response | None
    rows: RowWeights | None
    covariates: Mask
    excluded: Mask
    groups: Any = None

    @property
    def left_out(self) -> Mask:
        """Columns that are not screened."""
        return self.covariates | self.excluded

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells the fit from others to the same features with the same weights."""
        columns = None if self.response is None else self.response.columns.tobytes()
        groups = None if self.groups is None else np.unique(self.groups, return_inverse=True)[1].tobytes()
        return columns, self.covariates.tobytes(), groups

    def weight_key(self, kept: Indices | None) -> tuple[Hashable, ...]:
        """What tells the weights from others; ``kept`` are the samples with a weight."""
        arrays = [kept, *((None, None) if self.rows is None else (self.rows.total, self.rows.samples))]
        return tuple(None if array is None else array.tobytes() for array in arrays)

    def adjusted(self, start: StartBasis) -> TrainingData:
        """Return the data with a response that is orthogonal to the start basis."""
        response = None if self.response is None else adjusted_response(self.response, start.basis)
        return self._replace(response=response)

    def exchangeable(self) -> Exchange | None:
        """Return what permutation tests may exchange; None if all samples."""
        return None if self.response is None else exchangeable_samples(self.response, self.groups)


def exchangeable_samples(response: Response, groups: Any) -> Exchange | None:
    """Return what permutations of a response may exchange; None if all samples."""
    if groups is not None:
        return exchange_within_groups(groups, response.target.codes)
    return None if response.risk is None else exchange_of_similar(response.risk)

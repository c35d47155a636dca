"""What one fit knows: features, response, weights, covariates and groups."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Indices, Mask
from .design import RowWeights
from .permutation import Exchange, exchange_within_groups
from .response import Response, adjusted_response
from .start_basis import StartBasis


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
        if self.groups is None or self.response is None:
            return None
        return exchange_within_groups(self.groups, self.response.target.codes)

"""Honest training scores of a reduction: as if its samples were new, for models that learn from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.parameters import integer_seed
from ..foundation.splits import cross_fit_splits
from ..inputs.checks import columns_of
from ..reduction import cross_fitting
from ..reduction.deflation import StartBasis, start_basis
from ..reduction.design import Design, Scale, make_subset_design
from ..reduction.reduction_result import Reduction
from ..reduction.response import Response, TrainingData, adjusted_response
from ..reduction.reuse import Reuse, find_or_make
from ..reduction.score_shrinkage import score_shrinkage
from ..reduction.threads import Workers
from .linear_projection import LinearProjection


class HonestScores(LinearProjection):
    """The part of a reduction that holds supervised scores out, and shrinks unsupervised ones."""

    center: bool
    whiten: bool
    cross_fit: Any
    random_state: Any
    n_missing_: int
    n_supervised_: int
    explained_variance_: Any
    _encoded_scale: Callable[[], Scale]
    _usable: Callable[[Design], Mask]
    _fold_components: Callable[..., cross_fitting.FoldComponents]
    _fold_settings: Callable[[], tuple[Any, ...]]

    def _cross_fit(
        self,
        data: TrainingData,
        unfilled: Any,
        design: Design,
        Z: Floats,
        honest: Floats,
        kept: Indices | None,
        threads: Workers,
        reuse: Reuse | None,
    ) -> Floats:
        """Return ``honest`` with the scores Z on supervised components replaced by held-out ones."""
        count, response, given = self.n_supervised_, data.response, honest
        honest = given.copy()
        if response is not None and count:
            splits = self._fold_splits(data, response)
            if splits is None:
                return given
            weights = None if data.rows is None else data.rows.samples
            lengths = np.ones(count) if self.whiten else np.sqrt(self.explained_variance_[:count])
            indices = tuple(part.tobytes() for split in splits for part in split)
            key = (*data.key, data.excluded.tobytes(), indices, count, self._fold_settings())
            make = partial(self._held_out_scores, data, response, unfilled, design, splits, threads)
            folds, parts = find_or_make(reuse, design, ("held-out scores", type(self).__name__, *key), make)
            known = Z[:, :count] if kept is None else Z[kept, :count]
            found = cross_fitting.cross_fitted_scores(known / lengths, folds, parts, weights)
            honest[slice(None) if kept is None else kept, :count] = found * lengths
        return honest

    def _shrink(
        self, Z: Floats, reduction: Reduction, design: Design, start: StartBasis, threads: Workers
    ) -> Floats:
        """Return the scores with those on unsupervised components as small as those of new samples."""
        count = reduction.n_supervised
        supervised = reduction.scores[:, :count]
        basis = np.column_stack([start.basis, supervised / np.linalg.norm(supervised, axis=0)])
        ratios = score_shrinkage(design, threads, basis, Z.shape[1] - count)
        self.score_shrinkage_ = np.concatenate([np.ones(count), ratios])
        return Z * self.score_shrinkage_

    def _store_honest_scores(self, Z: Floats, honest: Floats) -> Floats:
        """Store the scores that a model should learn from, if they are not those of ``transform``."""
        if honest is not Z:
            # Training samples are recognized by their scores on the first component.
            self._first_scores = Z[:, 0].copy()
            self.training_scores_ = honest
        return honest

    def _held_out_scores(
        self,
        data: TrainingData,
        response: Response,
        unfilled: Any,
        design: Design,
        splits: list[tuple[Indices, Indices]],
        threads: Workers,
    ) -> tuple[list[cross_fitting.Fold], list[cross_fitting.FoldScores]]:
        """Repeat everything that looks at the target in the training part of each fold."""
        X, unfilled = (sp.csr_array(part) if design.sparse else part for part in (data.X, unfilled))
        weights = None if data.rows is None else data.rows.samples
        scale = self._encoded_scale()

        def fill(fold: cross_fitting.Fold) -> Any:
            known = unfilled if unfilled.dtype == X.dtype else unfilled.astype(X.dtype)
            return self._fill_by_fold(known, fold.train, weights)

        def fill_covariates(train: Indices) -> Floats | None:
            known = columns_of(unfilled, data.covariates)
            return None if known is None else self._fill_by_fold(known, train, weights, data.covariates)

        def make(fold: cross_fitting.Fold, X: Any) -> Design:
            part = make_subset_design(
                X, fold.train, threads, center=self.center, scale=scale, rows=fold.response.rows
            )
            return part.restricted(self._usable(part) & ~data.left_out)

        def find(fold: cross_fitting.Fold, X: Any, part: Design) -> cross_fitting.FoldComponents:
            start = start_basis(part, data.covariates, self.center)
            fold = replace(fold, response=adjusted_response(fold.response, start.basis))
            found = self._fold_components(X, part, fold, start.basis, threads)
            return cross_fitting.adjusted_components(found, part, start, threads)

        folds = cross_fitting.make_folds(
            design, response, splits, threads, fill_covariates if self.n_missing_ else None
        )
        return folds, cross_fitting.held_out_scores(
            X, folds, make, find, threads, fill if self.n_missing_ else None
        )

    def _fold_splits(self, data: TrainingData, response: Response) -> list[tuple[Indices, Indices]] | None:
        """Return training and held-out samples of each fold; None, with a warning, if two folds are impossible."""
        classes, seed = response.family.classification, integer_seed(self.random_state)
        target: Any = response.class_codes if classes else response.columns[:, 0]
        splits = cross_fit_splits(self.cross_fit, data.X, target, data.groups, classes, seed)
        return None if splits is None else [(split.train, split.test) for split in splits]

"""Base class of the transformers ISPCA and SPCA: checks, fit and fitted attributes."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..containers import ColumnSource
from ..containers.array_api import DeviceArray, exact, like, matching, on_host
from ..containers.derived import SelfFilledSource
from ..containers.source import reading_text
from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.docstrings import share_docs
from ..foundation.messages import RankWarning, notify
from ..foundation.parameters import fit_context, integer_seed
from ..inputs.checks import checked_scale, columns_of, target_array, training_samples
from ..reduction import cross_fitting
from ..reduction.components import needs_sample_gram
from ..reduction.deflation import StartBasis, start_basis
from ..reduction.design import Design, GramFeatures, Scale, make_design, total_weights
from ..reduction.permutation import Permutations
from ..reduction.reduction_result import Reduction
from ..reduction.response import (
    FAMILY_CHOICES,
    Response,
    TrainingData,
    find_family,
    make_response,
)
from ..reduction.reuse import Reuse, find_or_make, find_reuse
from ..reduction.threads import Workers, workers
from ..targets import is_category
from ..targets.samples import Samples
from .honest_scores import HonestScores
from .linear_projection import as_output

# Results that are large, or that are computed with where X is.
FOLLOWING = (
    *("components_", "directions_", "mean_", "scale_"),
    *("explained_variance_", "explained_variance_ratio_", "score_shrinkage_"),
    *("training_scores_", "_supervised_loadings"),
)


@share_docs()
class SupervisedComponents(HonestScores):
    """Base class of ISPCA and SPCA: checks, fit and fitted attributes."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_supervised": [Interval(Integral, 0, None, closed="left"), None],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left")],
        "family": [StrOptions(set(FAMILY_CHOICES))],
        "center": ["boolean"],
        "scale": ["boolean", "array-like"],
        "whiten": ["boolean"],
        "cross_fit": ["cv_object"],
        "shrink_scores": ["boolean"],
        "adjust": ["array-like", str, Integral, None],
        "handle_unknown": [StrOptions({"error", "ignore"})],
        "keep_adjusted": ["boolean"],
        "missing": [StrOptions({"error", "mean"})],
        "exclude": ["array-like", str, Integral, None],
        "memory_budget": [Interval(Real, 2**20, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose"],
    }

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, offset: Any = None, groups: Any = None
    ) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; dense, any SciPy sparse format, a pandas or a polars frame.
        y : array-like of shape (n_samples,)
            The target: class labels (strings too), numbers, or events and times of survival. Not needed when
            ``n_supervised=0``.
        sample_weight : array-like of shape (n_samples,), optional
            How many samples each sample counts as: a weight of 2 equals a duplicated sample, 0 leaves it out.
        offset : array-like of shape (n_samples,), optional
            Known part of the linear predictor, such as the logarithm of the exposure of counts.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as those of one patient, are held out together by ``cross_fit``, and
            permutation tests respect them: they exchange samples within groups if the target varies there,
            otherwise whole groups of equal size.

        $fitted
        """
        self._fit(X, y, sample_weight, offset, groups)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, offset: Any = None, groups: Any = None
    ) -> Any:
        """Find the components and return the new features of the training samples.

        With ``cross_fit`` or ``shrink_scores``, these differ from ``fit(X, y).transform(X)``: they are
        ``training_scores_``, from which a model should learn, as if the samples were new. New samples need
        ``transform``.

        Parameters
        ----------
        X, y, sample_weight, offset, groups
            As in ``fit``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The new features, orthogonal to each other unless they are cross-fitted or weighted.
        """
        return self._fit(X, y, sample_weight, offset, groups)

    @fit_context(skip_nested=True)
    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> np.ndarray:
        needs_target = self.n_supervised != 0
        y = on_host(y)
        given, reuse, labels = X, find_reuse(X), is_category(y)
        y = target_array(y, self.family if needs_target else "auto")
        X, y = self._read_training_data(X, y, needs_target)
        if isinstance(X, ColumnSource):
            X = source = X.arrange(self.memory_budget)
        samples = training_samples(X, y, sample_weight, offset, groups)
        unfilled = samples.X
        X = self._fill_training_data(X, samples)
        samples = samples._replace(X=X if samples.kept is None else X[samples.kept])
        data = self._training_data(samples, needs_target, labels)
        with exact(X), workers() as threads:
            columns, scale = (self.missing, *self.categories_), self._encoded_scale()
            key = ("design", self.center, np.asarray(scale).tobytes(), columns, *data.weight_key(samples.kept))
            make = partial(
                make_design,
                data.X,
                threads,
                center=self.center,
                scale=scale,
                rows=data.rows,
                memory_budget=self.memory_budget,
                vectors=None if data.response is None else data.response.columns,
                gram_features=self._gram_features(data),
            )
            whole = find_or_make(reuse, given, key, make)
            if isinstance(X, SelfFilledSource):
                X.learn()
                self._store_fill_values(X.n_missing, X.values)
            usable = self._usable(whole) & ~data.left_out
            design = find_or_make(reuse, given, (*key, usable.tobytes()), partial(whole.restricted, usable))
            self._check_usable(design.usable, data.covariates)
            start = start_basis(whole, data.covariates, self.center)
            data = data.adjusted(start)
            reduction = self._reduce(data, design, start.basis, threads, reuse)
            self._store(reduction, design, start, data.response, threads)
            Z = self._scores(reduction, design, X, samples.kept)
            honest = self._shrink(Z, reduction, design, start, threads) if self.shrink_scores else Z
            if self.cross_fit is not None:
                honest = self._cross_fit(data, unfilled, whole, Z, honest, samples.kept, threads, reuse)
            Z = self._store_honest_scores(Z, honest)
        with exact(X):
            Z = self._append_kept_columns(Z, X)
            if self.verbose and isinstance(X, ColumnSource) and not isinstance(X, DeviceArray):
                print(f"[{type(self).__name__}] read X {reading_text(source)}")
            if isinstance(X, DeviceArray):
                self._move_to(X)
            return as_output(Z, X)

    def _move_to(self, X: DeviceArray) -> None:
        """Move large results to where X is."""
        for name in FOLLOWING:
            if hasattr(self, name):
                setattr(self, name, like(X.X, getattr(self, name)))

    def _usable(self, design: Design) -> Mask:
        """Return which features may take part."""
        # Given scales come from more samples than these, in which a feature may be more than one value.
        given = not isinstance(self.scale, bool | np.bool_)
        return design.moments.deviation > 0 if given else self._informative(design)

    def _check_usable(self, usable: Mask, covariates: Mask) -> None:
        if not usable.any():
            raise ValueError(
                "No feature is left: every column of X is constant, decided by one sample (one value alone on "
                "its side of the mean, as in any column of 3 samples), or excluded. "
                "Pass at least one feature that varies, or more samples."
            )
        if self.verbose:
            features = usable[~covariates]
            left_out = len(features) - np.count_nonzero(features)
            print(f"[{type(self).__name__}] {left_out} of {len(features)} features left out")

    def _append_kept_columns(self, Z: Floats, X: Any) -> Floats:
        if len(self.kept_columns_):
            Z = np.column_stack([Z, on_host(self._project(X, self.projection_[self.n_components_ :]))])
            if hasattr(self, "training_scores_"):
                self.training_scores_ = Z
        return Z

    def _training_data(self, samples: Samples, needs_target: bool, labels: bool) -> TrainingData:
        """Fit the null model, and choose the columns with a part of their own."""
        X, covariates, excluded = samples.X, self.adjusted_, self._excluded_columns()
        response, rows = None, total_weights(samples.sample_weight, None)
        if needs_target:
            family = find_family(samples.y, self.family, labels)
            self._check_confounding(X, samples.y, family)
            response = make_response(
                samples.y,
                family,
                covariates=columns_of(X, covariates),
                offset=samples.offset,
                sample_weight=samples.sample_weight,
            )
            rows = response.rows
        self._check_screening(X, response)
        return TrainingData(X, response, rows, covariates, excluded, samples.groups)

    def _encoded_scale(self) -> Scale:
        """Return what the columns of the encoded X are divided by: their standard deviations if True."""
        scale = checked_scale(self.scale, self.n_features_in_)
        return scale if isinstance(scale, bool) else scale[self.source_columns_]

    def _gram_features(self, data: TrainingData) -> GramFeatures | None:
        """Return the features of the Gram matrix of the samples, if unsupervised components will need it."""
        chosen = ~data.left_out
        if not self._expects_unsupervised or not needs_sample_gram(data.X.shape[0], int(chosen.sum())):
            return None
        return GramFeatures(chosen, self._usable)

    @property
    def _expects_unsupervised(self) -> bool:
        """Whether the settings suggest that there will be unsupervised components."""
        if self.n_supervised is None or self.n_components is None:
            return self.n_supervised == 0
        return bool(self.n_supervised < self.n_components)

    def _check_screening(self, X: Any, response: Response | None) -> None:
        """Refuse settings that contradict each other or do not fit the data."""

    def _permutations(self, data: TrainingData, most: int, reuse: Reuse | None) -> Permutations:
        seed = integer_seed(self.random_state)
        return Permutations(seed, data.X.shape[0], most, int(self.memory_budget), reuse, data.exchangeable())

    def _most_supervised(self, basis: Floats, n_features: int) -> int:
        limits = (self.n_components, self.n_supervised, basis.shape[0] - basis.shape[1], n_features)
        return min(limit for limit in limits if limit is not None)

    def _store(
        self, reduction: Reduction, design: Design, start: StartBasis, response: Response | None, threads: Workers
    ) -> None:
        n_found = reduction.projection.shape[0]
        self.components_ = reduction.projection
        if len(start.covariates):
            self.components_ = on_host(self.components_)
            own = start.regression(design, threads, self.components_.T)
            self.components_[:, start.covariates] = own.T
        self.directions_ = reduction.directions
        self._supervised_loadings = reduction.loadings
        self.explained_variance_ratio_ = reduction.explained_variance_ratio(design.squared_norms.sum())
        self.n_components_ = n_found
        self.n_supervised_ = reduction.n_supervised
        self.steps_ = list(reduction.steps)
        self.mean_, self.scale_, self.feature_mask_ = design.moments.mean, design.moments.scale, design.usable
        kept = self.adjusted_ & (design.moments.deviation > 0) if self.keep_adjusted else np.zeros(0)
        self.kept_columns_ = np.flatnonzero(kept)
        for name in ("classes_", "training_scores_", "score_shrinkage_", "_first_scores"):
            self.__dict__.pop(name, None)
        if response is not None and response.classes is not None:
            self.classes_ = response.classes
        if self.n_components is not None and n_found < self.n_components:
            noun = "component" if n_found == 1 else "components"
            found = f"X has only rank {n_found}: returning {n_found} {noun}."
            notify(f"n_components={self.n_components}, but {found}", RankWarning)

    def _scores(self, reduction: Reduction, design: Design, X: Any, kept: Indices | None) -> Floats:
        """Return the new features of all training samples, and store their variance."""
        # Those of weighted rows are not those of the samples.
        Z = reduction.scores
        if design.rows is not None or kept is not None:
            Z = on_host(self._project(X, self.components_))
        variance = cross_fitting.score_variance(Z if kept is None else Z[kept], design.rows)
        self.explained_variance_ = variance
        if self.whiten:
            self.components_ = self.components_ / matching(self.components_, np.sqrt(variance)[:, None])
            Z = Z / np.sqrt(variance)
        return Z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.target_tags.required = self.n_supervised != 0
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

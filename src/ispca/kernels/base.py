"""The common part of the kernel methods: kernels of the training samples, members of the mixture, predictions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..containers import ColumnSource
from ..containers.array_api import exact
from ..containers.derived import SelfFilledSource
from ..data_checks.copies_outliers_and_drift import near_copies
from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.docstrings import share_docs
from ..foundation.parameters import fit_context
from ..foundation.splits import make_fold_splits
from ..inputs.checks import columns_of, training_samples
from ..inputs.input_encoding import InputColumns
from ..reduction.design import Design, make_design, total_weights
from ..reduction.response import TrainingData
from ..reduction.reuse import find_or_make, find_reuse
from ..reduction.threads import workers
from ..targets.mixture_weights import stacking_weights
from ..targets.samples import Prediction, Samples
from ..targets.target import Predictions
from .kernel_functions import DEFAULT, KERNELS, SCREENED, InnerProducts, inner_products, median_distance
from .left_out_values import (
    KernelDecomposition,
    KernelRidge,
    Parts,
    dealt_folds,
    decompose,
    fit_screened,
    grouped_copies,
    left_out_folds,
    ranked_features,
)
from .training_samples import Training, numbered_folds, own_samples

MOST_SAMPLES = 5000
# Number of folds in which features are screened again, and on which kernels are compared with each other.
N_FOLDS = 10
# Members with less than this fraction of the largest weight are dropped.
LEAST_WEIGHT = 1e-3

# What the docstrings of all kernel methods say.
DOCS = {
    "parameters": """
    kernels : sequence of str
        Kernels of the standardized features, by default all but "rbf". "linear" is their inner product; "cosine",
        the cosine of the angle between samples; "quadratic", ``(1 + inner product / typical squared length)^2``;
        "rbf", ``exp(-squared distance / its median)``; "screened_10" and "screened_2", the linear kernel of the
        10% and 2% of the features with the largest scores, which are screened again in every fold.
    cv : int, splitter or iterable, optional
        Samples that are left out together: number of folds, a scikit-learn splitter, or pairs of training and test
        indices, whose test parts contain every sample once. By default every sample, or every group, alone, and
        ten folds for kernels of screened features.
    concentration : float, default=2.0
        Parameter of the Dirichlet prior of the weights of the kernels: 1 is maximum likelihood, larger values give
        more equal weights.
    scale : bool, default=True
        Whether features are scaled to unit standard deviation.
    adjust : array-like of int, str or bool, optional
        Covariates, as in ISPCA: columns of X that are not part of the kernels and are not penalized.
    handle_unknown, missing, exclude, memory_budget
        As in ISPCA.""",
    "attributes": """
    kernel_weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels in the mixture.
    penalty_weights_ : ndarray of shape (n_kernels, n_penalties)
        Weights of the penalties of each kernel, proportional to the likelihood of its left-out values.
    penalties_ : ndarray of shape (n_kernels, n_penalties)
        The penalties.
    member_weights_ : ndarray of shape (n_members,)
        Weights of the members of the mixture: the kernels with penalties that have one.
    member_kernels_, member_penalties_ : ndarray of shape (n_members,)
        Numbers of their kernels and penalties.
    dual_coef_ : ndarray of shape (n_members, n_samples, n_outputs)
        Coefficients of the kernels between new and training samples, for each member.
    unpenalized_coef_ : ndarray of shape (n_members, 1 + n_covariates, n_outputs)
        Intercepts and coefficients of the covariates, which are centered at ``mean_``.
    coef_ : ndarray of shape (n_outputs, n_encoded_features)
        Coefficients of the linear kernel in the units of X, averaged over its penalties; only with that kernel.
    training_ : array of shape (n_samples, n_encoded_features)
        The training samples, which predictions need: a model file contains them.
    mean_, weight_ : ndarray of shape (n_encoded_features,)
        The kernels see ``(X - mean_) * weight_``; the weight of a column that takes no part is 0.
    kernel_features_ : ndarray of bool of shape (n_kernels, n_encoded_features)
        Features of each kernel.
    width_ : float
        Median squared distance between training samples.
    $features_in""",
    "samples": """
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.""",
    "options": """
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, are left out together. Copies and near copies
            always are.
        sample_weight : array-like of shape (n_samples,), optional
            How many samples each sample counts as; 0 leaves it out.""",
}


@share_docs(**DOCS)
class KernelMethod(InputColumns, Predictions, BaseEstimator):
    """Base class of the kernel methods; a member of their mixture is a kernel with a penalty."""

    # Fits, and returns what is predicted for the training samples when they are left out.
    fit_left_out: Callable[..., Prediction]

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "kernels": ["array-like"],
        "cv": ["cv_object"],
        "concentration": [Interval(Real, 1, None, closed="left")],
        "scale": ["boolean"],
        "adjust": ["array-like", str, Integral, None],
        "handle_unknown": [StrOptions({"error", "ignore"})],
        "missing": [StrOptions({"error", "mean"})],
        "exclude": ["array-like", str, Integral, None],
        "memory_budget": [Interval(Real, 2**20, None, closed="left")],
    }

    def __init__(
        self,
        *,
        kernels: Any = DEFAULT,
        cv: Any = None,
        concentration: float = 2.0,
        scale: bool = True,
        adjust: Any = None,
        handle_unknown: str = "error",
        missing: str = "error",
        exclude: Any = None,
        memory_budget: float = 2**28,
    ) -> None:
        self.kernels = kernels
        self.cv = cv
        self.concentration = concentration
        self.scale = scale
        self.adjust = adjust
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.exclude = exclude
        self.memory_budget = memory_budget

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.target_tags.required = True
        return tags

    def _prepare(self, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> Training:
        """Read the samples, and decompose their kernels."""
        unknown = [name for name in self.kernels if not (isinstance(name, str) and name in (*KERNELS, *SCREENED))]
        if unknown or not len(self.kernels):
            wrong = f"contains {unknown[0]!r}" if unknown else "is empty"
            raise ValueError(f"kernels {wrong}. Choose from {', '.join((*KERNELS, *SCREENED))}.")
        given, reuse, scale_key = X, find_reuse(X), np.asarray(self.scale).tobytes()
        X, y = self._read_training_data(X, y, True)
        if X.shape[0] > MOST_SAMPLES:
            raise ValueError(
                f"X has {X.shape[0]:,} samples, but {type(self).__name__} takes at most {MOST_SAMPLES:,}: it "
                "decomposes a matrix of samples x samples. Use a penalized model, or a reduction with a model."
            )
        if isinstance(X, ColumnSource):
            X = X.arrange(self.memory_budget)
        samples = training_samples(X, y, sample_weight, offset, groups)
        X = self._fill_training_data(X, samples)
        n_samples, kept, dropped = X.shape[0], samples.kept, None
        if kept is not None:
            dropped = X[np.setdiff1d(np.arange(n_samples), kept)]
        samples = samples._replace(X=X if kept is None else X[kept])
        covariates, excluded = self.adjusted_, self._excluded_columns()
        rows = total_weights(samples.sample_weight, None)
        data = TrainingData(samples.X, None, rows, covariates, excluded, samples.groups)
        with exact(X), workers() as threads:
            options: dict[str, Any] = {"center": True, "scale": self.scale, "rows": rows}
            options["memory_budget"] = self.memory_budget
            key = ("design", True, scale_key, (self.missing, *self.categories_), *data.weight_key(kept))
            whole = find_or_make(reuse, given, key, partial(make_design, samples.X, threads, **options))
            if isinstance(X, SelfFilledSource):
                X.learn()
                self._store_fill_values(X.n_missing, X.values)
            usable = (whole.moments.deviation > 0) & ~data.left_out
            if not usable.any():
                raise ValueError("No feature is left: every column of X is constant or excluded.")
            design = whole.restricted(usable)
            gram = design.sample_gram(threads)
        roots = np.ones(len(gram)) if rows is None else rows.roots
        found = self._store_samples(design, gram / np.outer(roots, roots), samples)
        columns = self._unpenalized_columns(samples.X) / self._units(design)

        def make(name: str) -> KernelDecomposition:
            return decompose(KERNELS[name](found, self.width_), columns, roots)

        known = ("kernel", usable.tobytes(), covariates.tobytes())
        # Without any other, the linear one serves the fit of the unpenalized columns alone.
        names = [name for name in self.kernels if name in KERNELS] or ["linear"]
        parts = {name: find_or_make(reuse, whole, (*known, name), partial(make, name)) for name in names}
        together = grouped_copies(found.distances, found.rows, near_copies(found.products), samples.groups)
        folds = self._folds(together, samples, y, groups, n_samples)
        return Training(samples, design, columns, roots, parts, folds, together, dropped)

    def _folds(
        self, together: Indices | None, samples: Samples, y: Any, groups: Any, n_samples: int
    ) -> list[Indices]:
        """Return which of the samples that count are left out together; y and groups are those of all samples."""
        if self.cv is None:
            folds = left_out_folds(samples.X.shape[0], together)
        else:
            splits = make_fold_splits(self.cv, np.zeros((n_samples, 1)), y, groups, is_classifier(self), 0)
            folds = numbered_folds(splits, samples.kept, n_samples)
        if len(folds) < 2:
            raise ValueError(
                "groups contains a single group, so no group can be held out. Pass at least two groups."
            )
        return folds

    def _fit_kernels(self, training: Training, target: Floats) -> list[KernelRidge]:
        """Fit all kernels and penalties to the target (samples x outputs)."""
        folds, screened = training.folds, any(name in SCREENED for name in self.kernels)
        if screened and self.cv is None:
            # Of indicators of the classes, the strata are the numbers of the classes.
            folds = dealt_folds(target @ np.arange(1, target.shape[1] + 1), training.groups, N_FOLDS)
        design, parts = training.design, Parts(training.columns, training.roots, folds)
        fits, penalties, features = [], [], []
        with exact(training.samples.X), workers() as threads:
            ranked = ranked_features(design, parts, target, threads) if screened else []
            for name in self.kernels:
                chosen = design.usable
                if name in SCREENED:
                    fit, places, found = fit_screened(design, parts, target, ranked, SCREENED[name], threads)
                    chosen = np.isin(np.arange(len(chosen)), places)
                else:
                    part = training.decompositions[name]
                    left_out, found = part.leave_out(target, training.folds), part.penalties
                    in_folds = left_out if folds is training.folds else part.leave_out(target, folds)
                    fit = KernelRidge(*part.fit(target), left_out, in_folds)
                fits.append(fit)
                penalties.append(found)
                features.append(chosen)
        self.penalties_, self.kernel_features_ = np.array(penalties), np.array(features)
        return fits

    def _store_samples(self, design: Design, gram: Floats, samples: Samples) -> InnerProducts:
        lengths = np.diag(gram).copy()
        found = InnerProducts(gram, lengths, lengths)
        self.mean_, self.weight_, self.lengths_ = design.moments.mean, design.weight, lengths
        self.covariate_weight_ = 1 / self._units(design)[1:]
        self.width_, self.training_ = median_distance(found, samples.sample_weight), own_samples(samples.X)
        return found

    def _unpenalized_columns(self, X: Any) -> Floats:
        """Return the constant and the covariates, which are centered as in ``fit``."""
        given = columns_of(X, self.adjusted_)
        constant = np.ones((X.shape[0], 1))
        if given is None:
            return constant
        centered = given - self.mean_[self.adjusted_]
        return np.column_stack([constant, centered])

    def _units(self, design: Design) -> Floats:
        """Return the standard deviations of the covariates, after 1 for the constant."""
        deviation = design.moments.deviation[self.adjusted_]
        # What a constant column differs from its mean by is rounding, which has no effect in infinite units.
        return np.append(1.0, np.where(deviation > 0, deviation, np.inf))

    def _mix(self, training: Training, fits: list[KernelRidge], densities: Floats, in_folds: Floats) -> Floats:
        """Set the members and their weights from log densities of left-out samples (kernel x penalty x sample).

        Penalties are weighted by the first, and kernels by those in folds, which are the same for all kernels.
        Returns the weights of all kernels and penalties.
        """
        weights = training.weights
        self.penalty_weights_, shares = (_proportional(part @ weights) for part in (densities, in_folds))
        of_kernels = logsumexp(in_folds, axis=1, b=shares[:, :, None])
        self.kernel_weights_ = stacking_weights(of_kernels.T, self.concentration, weights)
        all_weights = self.kernel_weights_[:, None] * self.penalty_weights_
        kept = all_weights > LEAST_WEIGHT * all_weights.max()
        self.member_kernels_, self.member_penalties_ = np.nonzero(kept)
        self.member_weights_ = all_weights[kept] / all_weights[kept].sum()
        self.dual_coef_ = np.stack([fit.dual for fit in fits])[kept]
        units = self._units(training.design)[:, None]
        self.unpenalized_coef_ = np.stack([fit.unpenalized for fit in fits])[kept] / units
        return np.where(kept, all_weights, 0.0) / all_weights[kept].sum()

    def _store_coefficients(self, training: Training, slopes: Floats) -> None:
        """Set the coefficients of the linear kernel, averaged over its penalties times their slopes."""
        self.__dict__.pop("coef_", None)
        if "linear" not in list(self.kernels):
            return
        members = self.member_kernels_ == list(self.kernels).index("linear")
        weights = self.member_weights_[members] * slopes[members]
        total = max(self.member_weights_[members].sum(), np.finfo(np.float64).tiny)
        dual = np.tensordot(weights / total, self.dual_coef_[members], 1)
        with exact(training.samples.X), workers() as threads:
            coef = training.design.t_dot(dual / training.roots[:, None], threads) * self.weight_[:, None]
        unpenalized = np.tensordot(weights / total, self.unpenalized_coef_[members], 1)
        coef[self.adjusted_] = unpenalized[1:]
        self.coef_ = coef.T

    @fit_context(skip_nested=True)
    def fit(self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit all kernels and penalties, and weight them by their left-out predictions.

        Parameters
        ----------
        $samples
        y : array-like of shape (n_samples,)
            Class labels, or values.
        $options

        $fitted
        """
        self.fit_left_out(X, y, groups, sample_weight)
        return self

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.encode(X)

    def _member_values(self, Z: Any) -> Floats:
        """Return what each member predicts (members x samples x outputs)."""
        values = self._unpenalized_columns(Z) @ self.unpenalized_coef_
        whole = None
        for number in np.unique(self.member_kernels_):
            members, name = self.member_kernels_ == number, self.kernels[number]
            if name in SCREENED:
                kernel = self._inner_products(Z, self.kernel_features_[number]).products
            else:
                whole = whole or self._inner_products(Z, np.ones(len(self.weight_), dtype=bool))
                kernel = KERNELS[name](whole, self.width_)
            values[members] += kernel @ self.dual_coef_[members]
        return values

    def _inner_products(self, Z: Any, features: Mask) -> InnerProducts:
        return inner_products(Z, self.training_, self.mean_, self.weight_ * features, self.lengths_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "member_weights_")


def _proportional(log_likelihood: Floats) -> Floats:
    """Return weights of penalties (last axis) proportional to their likelihoods."""
    return np.exp(log_likelihood - logsumexp(log_likelihood, axis=-1, keepdims=True))

"""The common part of the kernel methods: kernels of the training samples, members of the mixture, predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from time import perf_counter
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..containers import ColumnSource
from ..containers.array_api import exact
from ..containers.derived import SelfFilledSource
from ..foundation.arrays import Floats, Indices
from ..inputs.checks import columns_of, training_samples
from ..inputs.input_encoding import InputColumns
from ..reduction.design import Design, make_design, total_weights
from ..reduction.response import TrainingData
from ..reduction.reuse import find_or_make, find_reuse
from ..reduction.threads import workers
from ..targets.mixture_weights import stacking_weights
from ..targets.samples import Prediction, Samples
from ..targets.target import Predictions
from .inner_products import inner_products
from .kernel_functions import KERNELS, SCREENED, InnerProducts, median_distance
from .left_out_values import (
    KernelDecomposition,
    KernelRidge,
    dealt_folds,
    decompose,
    grouped_copies,
    left_out_folds,
)
from .screened_kernel import best_features, fit_screened

MOST_SAMPLES = 5000
DEFAULT = ("linear", "cosine", "quadratic", "screened_10", "screened_2")
# Features are screened again in so many folds, on which kernels are also compared with each other.
N_FOLDS = 10
# Members with less than this fraction of the largest weight are dropped.
LEAST_WEIGHT = 1e-3

# What the docstrings of all kernel methods say.
DOCS = {
    "parameters": """kernels : sequence of str
        Kernels of the standardized features, by default all but "rbf". "linear" is their inner product; "cosine",
        the cosine of the angle between samples; "quadratic", ``(1 + inner product / typical squared length)^2``;
        "rbf", ``exp(-squared distance / its median)``; "screened_10" and "screened_2", the linear kernel of the
        10% and 2% of the features with the largest scores, which are screened again in every fold.
    cv : list of ndarray of int, optional
        Samples that are left out together. By default every sample or group alone, and ten folds for kernels of
        screened features.
    concentration : float, default=2.0
        Parameter of the Dirichlet prior of the weights of the kernels: 1 is maximum likelihood, larger values give
        more equal weights.
    scale : bool, default=True
        Whether features are scaled to unit standard deviation.
    adjust : array-like of int, str or bool, optional
        Covariates: columns of X that are not part of the kernels and are not penalized, such as age, sex or batch.
        Text, categories and Booleans of a frame become indicators.
    handle_unknown : {"error", "ignore"}, default="error"
        What to do with a category that ``fit`` has not seen; "ignore" treats it as the first category.
    missing : {"error", "mean"}, default="error"
        What to do with NaN in X; "mean" replaces it by the mean of the column over the training samples.
    exclude : array-like of int, str or bool, optional
        Features to leave out.
    memory_budget : float, default=2**28
        Bytes of memory for the blocks of an X that is not in memory.""",
    "attributes": """kernel_weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels in the mixture.
    penalty_weights_ : ndarray of shape (n_kernels, n_penalties)
        Weights of the penalties of each kernel, proportional to the likelihood of its left-out values.
    dual_coef_ : ndarray of shape (n_members, n_samples, n_outputs)
        Coefficients of the kernels between new and training samples, for each kernel and penalty with a weight.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients of the linear kernel in the units of X, averaged over its penalties; only with that kernel.
    training_ : array of shape (n_samples, n_features)
        The training samples, which predictions need: a model file contains them.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.""",
}
FIT_DOCS = {
    "options": """groups : array-like of shape (n_samples,), optional
            Samples of a group, such as the samples of a patient, are left out together. Copies of a sample always
            are.
        sample_weight : array-like of shape (n_samples,), optional
            How many samples each sample counts as; 0 leaves it out."""
}


@dataclass(frozen=True, eq=False)
class Training:
    """Training samples, the decompositions of their kernels, and what is left out together.

    Kernels of all features leave out single samples or groups, others the samples of a fold.
    """

    samples: Samples
    design: Design
    columns: Floats  # unpenalized
    roots: Floats  # square roots of the sample weights
    decompositions: dict[str, KernelDecomposition]
    groups: Indices | None  # of samples that are left out together

    @property
    def weights(self) -> Floats:
        """Weight of each sample."""
        given = self.samples.sample_weight
        return np.ones(self.design.shape[0]) if given is None else given


class KernelMethod(InputColumns, Predictions, BaseEstimator):
    """Base class of the kernel methods; a member of their mixture is a kernel with a penalty."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "kernels": ["array-like"],
        "cv": [list, None],
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
        unknown = [name for name in self.kernels if name not in (*KERNELS, *SCREENED)]
        if unknown or not len(self.kernels):
            wrong = f"contains {unknown[0]!r}" if unknown else "is empty"
            raise ValueError(f"kernels {wrong}. Choose from {', '.join((*KERNELS, *SCREENED))}.")
        given, reuse = X, find_reuse(X)
        X, y = self._read_training_data(X, y, True)
        if X.shape[0] > MOST_SAMPLES:
            raise ValueError(
                f"X has {X.shape[0]:,} samples, but {type(self).__name__} decomposes a matrix of samples x "
                f"samples and takes at most {MOST_SAMPLES:,}. Use a penalized model, or a reduction with a model."
            )
        if isinstance(X, ColumnSource):
            X = X.arranged(self.memory_budget)
        samples = training_samples(X, y, sample_weight, offset, groups)
        X = self._filled_training_data(X, samples)
        samples = samples._replace(X=X if samples.kept is None else X[samples.kept])
        covariates, excluded = self.adjusted_, self._excluded_columns()
        rows = total_weights(samples.sample_weight, None)
        data = TrainingData(samples.X, None, rows, covariates, excluded, samples.groups)
        with exact(X), workers() as threads:
            options: dict[str, Any] = {"rows": rows, "memory_budget": self.memory_budget}
            key = ("design", True, self.scale, (self.missing, *self.categories_), *data.weight_key(samples.kept))
            whole = find_or_make(
                reuse,
                given,
                key,
                partial(make_design, samples.X, threads, center=True, scale=self.scale, **options),
            )
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
        columns = self._unpenalized_columns(samples.X)

        def make(name: str) -> KernelDecomposition:
            return decompose(KERNELS[name](found, self.width_), columns, roots)

        known = ("kernel", usable.tobytes(), covariates.tobytes())
        names = [name for name in (*self.kernels, "linear") if name in KERNELS]
        parts = {name: find_or_make(reuse, whole, (*known, name), partial(make, name)) for name in names}
        groups = grouped_copies(found.distances, found.rows, samples.groups)
        return Training(samples, design, columns, roots, parts, groups)

    def _fit_kernels(self, training: Training, target: Floats) -> list[KernelRidge]:
        """Fit all kernels and penalties to the target (samples x outputs)."""
        alone = folds = self.cv
        if self.cv is None:
            alone = folds = left_out_folds(len(target), training.groups)
            if any(name in SCREENED for name in self.kernels):
                # The first output of classes says which samples are of the first class, and so on.
                strata = target @ np.arange(1, target.shape[1] + 1)
                folds = dealt_folds(strata, training.groups, N_FOLDS)
        columns, roots = training.columns, training.roots
        fits, self.screened_features_ = [], {}
        with exact(training.samples.X), workers() as threads:
            if folds is not alone or any(name in SCREENED for name in self.kernels):
                every = np.arange(len(target))
                parts = [every, *(np.setdiff1d(every, fold) for fold in folds)]
                ranked = best_features(training.design, columns, roots, target, parts, threads)
            for name in self.kernels:
                if name in SCREENED:
                    fit, chosen = fit_screened(
                        training.design, columns, roots, target, ranked, SCREENED[name], folds, threads
                    )
                    self.screened_features_[name] = chosen
                else:
                    part = training.decompositions[name]
                    left_out = part.leave_out(target, alone)
                    in_folds = left_out if folds is alone else part.leave_out(target, folds)
                    fit = KernelRidge(*part.fit(target), left_out, in_folds)
                fits.append(fit)
        return fits

    def _store_samples(self, design: Design, gram: Floats, samples: Samples) -> InnerProducts:
        lengths = np.diag(gram).copy()
        found = InnerProducts(gram, lengths, lengths)
        self.mean_, self.weight_, self.lengths_ = design.moments.mean, design.weight, lengths
        self.width_, self.training_ = median_distance(found), samples.X
        return found

    def _unpenalized_columns(self, X: Any) -> Floats:
        """Return the constant and the covariates, which are centered as in ``fit``."""
        given = columns_of(X, self.adjusted_)
        constant = np.ones((X.shape[0], 1))
        if given is None:
            return constant
        # A reduction may have looked at the covariates with other weights, so they are centered here.
        centered = given - self.mean_[self.adjusted_]
        return np.column_stack([constant, centered])

    def _mix(self, fits: list[KernelRidge], densities: Floats, in_folds: Floats, weights: Floats) -> Floats:
        """Set the members and their weights from log densities of left-out samples (kernel x penalty x sample).

        Penalties are weighted by the first, and kernels by those in folds, which are the same for all kernels.
        Returns the weights of all kernels and penalties.
        """
        self.penalty_weights_ = _proportional(densities @ weights)
        shares = _proportional(in_folds @ weights)
        of_kernels = logsumexp(in_folds, axis=1, b=shares[:, :, None])
        self.kernel_weights_ = stacking_weights(of_kernels.T, self.concentration, weights)
        all_weights = self.kernel_weights_[:, None] * self.penalty_weights_
        kept = all_weights > LEAST_WEIGHT * all_weights.max()
        self._member_kernels, self._member_penalties = np.nonzero(kept)
        self.member_weights_ = all_weights[kept] / all_weights[kept].sum()
        self.dual_coef_ = np.stack([fit.dual for fit in fits])[kept]
        self.unpenalized_coef_ = np.stack([fit.unpenalized for fit in fits])[kept]
        return np.where(kept, all_weights, 0.0) / all_weights[kept].sum()

    def _store_coefficients(self, training: Training, slopes: Floats) -> None:
        """Set the coefficients of the linear kernel, averaged over its penalties times their slopes."""
        self.__dict__.pop("coef_", None)
        if "linear" not in list(self.kernels):
            return
        members = self._member_kernels == list(self.kernels).index("linear")
        weights = self.member_weights_[members] * slopes[members]
        total = max(self.member_weights_[members].sum(), np.finfo(np.float64).tiny)
        dual = np.tensordot(weights / total, self.dual_coef_[members], 1)
        with exact(training.samples.X), workers() as threads:
            coef = training.design.t_dot(dual / training.roots[:, None], threads) * self.weight_[:, None]
        unpenalized = np.tensordot(weights / total, self.unpenalized_coef_[members], 1)
        coef[self.adjusted_] = unpenalized[1:]
        self.coef_ = coef.T

    def _fit(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> Prediction:
        """Fit, and return what is predicted for the training samples when they are left out."""
        raise NotImplementedError

    def left_out_predictions(self, samples: Samples, folds: list[Indices]) -> list[Prediction]:
        """Return the predictions of each fold by a fit without it, from one decomposition."""
        start = perf_counter()
        found = clone(self).set_params(cv=folds)._fit(samples.X, samples.y, None, samples.sample_weight)
        found = replace(found, seconds_model=(perf_counter() - start) / len(folds))
        return [found.part(fold) for fold in folds]

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.encode(X)

    def _member_values(self, Z: Any) -> Floats:
        """Return what each member predicts (members x samples x outputs)."""
        columns, values = self._unpenalized_columns(Z), []
        for number in np.unique(self._member_kernels):
            members = self._member_kernels == number
            kernel = self._new_kernel(self.kernels[number], Z)
            values.append(kernel @ self.dual_coef_[members] + columns @ self.unpenalized_coef_[members])
        return np.concatenate(values)

    def _new_kernel(self, name: str, Z: Any) -> Floats:
        """Return a kernel between new and training samples."""
        if name not in SCREENED:
            found = inner_products(Z, self.training_, self.mean_, self.weight_, self.lengths_)
            return KERNELS[name](found, self.width_)
        weight = np.zeros_like(self.weight_)
        chosen = self.screened_features_[name]
        weight[chosen] = self.weight_[chosen]
        return inner_products(Z, self.training_, self.mean_, weight, self.lengths_).products

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "member_weights_")


def _proportional(log_likelihood: Floats) -> Floats:
    """Return weights of penalties (last axis) proportional to their likelihoods."""
    return np.exp(log_likelihood - logsumexp(log_likelihood, axis=-1, keepdims=True))

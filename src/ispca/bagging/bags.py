"""The bags of a data set: what is the same for all of them, and the loop that fits them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets

from ..containers import ColumnSource, wrap_container
from ..data_checks.copies_outliers_and_drift import copies_together
from ..families import Family
from ..families.ordinal import declared_order, ordinal_target
from ..families.piecewise_hazard import interval_starts
from ..fitted_parts import FittedParts, take_apart
from ..fitting.comparison_inputs import checked_data
from ..fitting.fit_store import Failure
from ..fitting.runner import Work, run
from ..foundation.arrays import Floats, Mask, protect
from ..foundation.messages import count, notify
from ..foundation.splits import Split, check_groups
from ..models.base import Horseshoe
from ..targets import Target
from ..targets.samples import Samples
from ..targets.target_and_prediction_checks import check_offset, check_weights, n_rows
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from .bag import Bag, BagFit
from .bootstrap import draw_bags
from .common_features import SampleBasis, sample_basis
from .decoys import decoy_order

# The chain of a bag: what matters is the draws of all bags together, of which this many are kept.
N_WARMUP, N_DRAWS, KEPT_DRAWS = 300, 200, 2000
# Folds for the scores that the model of a bag learns from.
FOLDS = 10
# A bag has fewer distinct samples than the data, so that its tests find less: at the level of the full fit, bags
# miss components, and their intervals are too narrow.
BAG_ALPHA, BAG_PERMUTATIONS = 0.2, 100
# Bags that may not fail.
FEWEST_BAGS = 2


@dataclass(frozen=True)
class BagData:
    """The samples as numbers, and what is the same for all bags.

    Attributes
    ----------
    columns : SupervisedComponents
        A reduction that knows the columns of X: their means, scales, categories and covariates.
    samples : Samples
        All samples, encoded.
    target : Target
        The kind of target, with its classes.
    labels : ndarray or None
        The labels of ordered classes, whose numbers the samples have.
    """

    columns: SupervisedComponents
    samples: Samples
    target: Target
    family: Family
    labels: Any = None


@dataclass(frozen=True)
class Bags:
    """Fitted bags, the samples of each, and the basis that they share."""

    bags: list[Bag]
    splits: list[Split]
    basis: SampleBasis

    def left_out(self, n_samples: int) -> Mask:
        """Return which samples each bag left out (bags x samples)."""
        found = np.zeros((len(self.bags), n_samples), dtype=bool)
        for row, split in zip(found, self.splits, strict=True):
            row[split.test] = True
        return found

    def frequency(self, n_features: int) -> Floats:
        """Return the fraction of bags in which a supervised component chose each feature."""
        chosen = [np.isin(np.arange(n_features), bag.columns) for bag in self.bags]
        return np.mean(chosen, axis=0)


def check_parts(estimator: Any) -> FittedParts:
    """Return the parts of a pipeline that can be bagged, or say what it needs."""
    parts = take_apart(estimator)
    if not isinstance(parts.reduction, SupervisedComponents) or not isinstance(parts.model, Horseshoe):
        raise ValueError(
            "estimator must be a pipeline of ISPCA or SPCA and a horseshoe model, such as "
            f"make_pipeline(ISPCA(50, whiten=True), HorseshoeClassifier()), got {estimator!r:.200}."
        )
    if parts.between:
        names = ", ".join(type(step).__name__ for step in parts.between)
        raise ValueError(f"Move the steps between the reduction and the model ({names}) before the reduction.")
    for step in parts.before:
        # SelectKBest says that it needs no target, because some of its scores do not.
        if get_tags(step).target_tags.required or hasattr(step, "score_func"):
            raise ValueError(
                f"{type(step).__name__} uses the target, but steps before the reduction are fitted once, to all "
                "samples. Leave it out: the reduction screens the features in every bag."
            )
    return parts


def fit_before(parts: FittedParts, X: Any) -> tuple[list[Any], Any]:
    """Return the steps before the reduction, fitted, and what they make of X."""
    steps = [clone(step) for step in parts.before]
    for step in steps:
        X = step.fit_transform(protect(X, step))
    return steps, X


def read_data(
    reduction: Any,
    target: Target,
    X: Any,
    y: Any,
    *,
    categories: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    groups: Any = None,
) -> BagData:
    """Return the samples as numbers: categories encoded and missing values filled by the means of all samples."""
    # joblib passes large arrays to its workers as files in memory.
    X = np.array(X) if isinstance(X, np.memmap) else X
    if isinstance(wrap_container(X), ColumnSource):
        raise ValueError("Bags need X in memory. Use the posterior without bags for larger data.")
    labels = None
    if not target.timed and np.asarray(y).ndim == 2:
        y = column_or_1d(y, warn=True)
    if target.ordered:
        categories = declared_order(y) if categories is None else categories
        y, labels = ordinal_target(np.asarray(y), categories)
    plain = {"n_components": 1, "n_supervised": 0, "cross_fit": None, "shrink_scores": False, "verbose": 0}
    columns = clone(reduction).set_params(**plain)
    n_samples = n_rows(X)
    weight, offset = check_weights(sample_weight, n_samples), check_offset(offset, n_samples)
    columns.fit(X, sample_weight=weight)
    encoded, y = checked_data(columns.encode(X), y if target.ordered else target.read(y))
    if target.unordered:
        check_classification_targets(y)
    target = target.of(y)
    groups = copies_as_groups(encoded, y) if groups is None else check_groups(groups, n_samples)
    samples = Samples(encoded, y, groups, weight, offset).of_positive_weight()
    # Bags number the samples by their places here.
    return BagData(columns, samples._replace(kept=None), target, target.choose_family(y), labels)


def run_bags(
    reduction: Any, model: Any, data: BagData, n_bags: int, n_jobs: int | None, resume: Any, seed: int
) -> Bags:
    """Fit the bags: a reduction and a model, or a reduction alone if there is no model."""
    samples, columns, target = data.samples, data.columns, data.target
    units = units_of(samples)
    splits = draw_bags(n_bags, units, _strata(data), samples.groups, seed)
    if not any(len(split.test) for split in splits):
        raise ValueError(
            "Every bag would contain all samples, so bags would not differ. Pass at least three samples of a "
            "class, or three groups of a class if there are groups."
        )
    basis = sample_basis(
        samples.X, columns.mean_, columns.scale_, columns.feature_mask_, np.flatnonzero(columns.adjusted_)
    )
    timed: dict[str, Any] = {}
    if target.timed:
        event, time = samples.y["event"], samples.y["time"]
        starts = interval_starts(event, time, samples.sample_weight)
        timed = {"starts": starts, "times": np.unique(time[event])}
    order = decoy_order(units, np.random.default_rng(seed))
    n_draws = max(4, min(N_DRAWS, KEPT_DRAWS // n_bags))
    fit = BagFit(basis, columns.mean_, samples.X, order, n_draws, **timed)
    work = Work({"bag": bag_pipeline(reduction, model, data)}, samples, target, splits, seed, fit, Bag)
    outcomes = [outcome for _, outcome in sorted(run(work, resume, n_jobs, "Bags").items())]
    good = [k for k, outcome in enumerate(outcomes) if not isinstance(outcome, Failure)]
    failed = count(n_bags - len(good), "bag")
    error = next((outcome.error for outcome in outcomes if isinstance(outcome, Failure)), None)
    if len(good) < FEWEST_BAGS:
        raise ValueError(f"{failed} of {n_bags} failed. The first error: {error}")
    if error is not None:
        notify(
            f"{failed} of {n_bags} failed, so their samples are missing from the average. The first error: {error}"
        )
    return Bags([outcomes[k] for k in good], [splits[k] for k in good], basis)


def copies_as_groups(X: Any, y: Any) -> Any:
    """Return copies of a sample as groups, which folds and permutations keep together; None if there are none.

    Copies with different targets are not: permutations would exchange nothing but these targets.
    """
    copies = copies_together(X)
    if copies is None:
        return None
    first = np.unique(copies, return_index=True)[1]
    return copies if (y == y[first][np.unique(copies, return_inverse=True)[1].ravel()]).all() else None


def units_of(samples: Samples) -> Any:
    """Return what is drawn together: groups, or copies of a sample."""
    if samples.groups is not None:
        return samples.groups
    copies = copies_together(samples.X)
    return np.arange(len(samples.y)) if copies is None else copies


def _strata(data: BagData) -> Any:
    labels, strata = data.target.strata(data.samples.y)
    return labels if strata else None


def bag_pipeline(reduction: Any, model: Any, data: BagData) -> Pipeline:
    """Return reduction and model with the settings of a bag: honest scores, given scales, a short chain."""
    columns = data.columns
    covariates = np.flatnonzero(columns.adjusted_)
    own = clone(reduction).set_params(
        adjust=covariates if len(covariates) else None,
        exclude=np.flatnonzero(~columns.feature_mask_ & ~columns.adjusted_),
        missing="error",
        scale=columns.scale_,
        family=data.family.name if reduction.family == "auto" else reduction.family,
        verbose=0,
        random_state=None,
    )
    if isinstance(own, ISPCA) and own.alpha is not None:
        own.set_params(alpha=max(own.alpha, BAG_ALPHA), n_permutations=BAG_PERMUTATIONS)
    if model is None:
        # The components do not depend on honest scores, from which only a model learns.
        return make_pipeline(own.set_params(cross_fit=None, shrink_scores=False))
    own.set_params(cross_fit=FOLDS if reduction.cross_fit is None else reduction.cross_fit, shrink_scores=True)
    chain: dict[str, Any] = {"n_chains": 1, "n_warmup": N_WARMUP, "n_draws": N_DRAWS, "retry": False, "n_jobs": 1}
    if data.target.ordered:
        chain["categories"] = None
    return make_pipeline(own, clone(model).set_params(**chain, random_state=None))

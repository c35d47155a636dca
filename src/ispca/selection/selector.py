"""ProjectionSelector: the smallest set of original features whose submodel predicts like a reference."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._array_types import Mask
from .._checks import known_names
from .._messages import suggestion
from .._progress import shown
from .._splits import Split
from .._terminal import tell
from ..plots.panel import plot_panel
from ..reduction.reuse import Reuse
from ..validation.fitting import fit_timed, prepared
from ..validation.input_checks import resumable_seed
from ..validation.runner import Work, in_a_fit
from ..validation.target import KINDS
from .candidates import columns
from .exchange import Exchange, exchanges
from .feature_panel import FeaturePanel
from .plan import check_prefit, fold_splits, read_data, read_features, read_settings
from .submodels import submodel_for
from .suggestion import (
    Suggestion,
    draws_message,
    paired_differences,
    suggest_size,
    suggest_unvalidated_size,
    weighted_mean,
)
from .tables import alternatives_table, groups_table, panel_table, path_table
from .time_estimate import estimated_time
from .validated_path import (
    FoldEvaluation,
    FoldPath,
    HeldOut,
    Search,
    Searcher,
    ordered_density,
    reference_density,
    submodel_density,
    validated_paths,
)


class ProjectionSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Select the features of the smallest submodel that predicts like a reference model.

    The predictions of the reference, draw by draw of its posterior, are projected onto submodels with few original
    features (Goutis and Robert; Dupuis and Robert; Piironen and Vehtari). A forward search adds the feature that
    brings the submodel closest to the reference. The search is repeated in every fold of a cross-validation, with
    the reference refitted there, and the smallest submodel within one standard error of the held-out log density
    of the reference is suggested.

    Parameters
    ----------
    reference : estimator
        A pipeline, a stack, or any classifier or regressor with a predictive distribution.
    max_features : int, default=20
        Size of the largest submodel.
    always, never : names, indices, mask or slice of features, optional
        Features of every submodel, in this order, and of none. Columns that are not made of numbers are never
        chosen.
    costs : dict of name to price, or array-like of shape (n_features,), optional
        Price of each feature, 1 if it is not named. The search maximizes the gain per unit of price.
    kind : {"classification", "regression", "survival", "count", "ordinal"}, optional
        What y contains, as in `ispca.validation.compare`.
    cv : int, splitter, iterable of pairs or None, default=10
        Folds of the validation: an integer is a number of folds, stratified by class or event. With None, the
        path is not validated.
    n_clusters, n_draws : int, default=20 and 400
        Number of clusters of posterior draws in the search, and of draws in the submodels.
    prefit : bool, default=False
        Whether the reference is already fitted to these samples. The folds refit clones of it in any case.
    n_jobs : int or None, default=-1
        Worker processes of the validation. Results do not depend on it.
    resume : path, optional
        Directory in which finished folds are stored; an interrupted validation continues from there.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds, of the clusters, and of a reference whose own ``random_state`` is None.

    Attributes
    ----------
    path_ : recarray
        One row for each size: ``size``, ``feature`` (what the panel has that the smaller one does not have),
        ``dropped`` (what only the smaller one has, usually nothing), ``divergence`` from the reference in the
        training samples (nats per sample); after validation ``density`` (mean held-out log density),
        ``difference`` from the reference, ``difference_error`` (standard error of the mean of the paired
        differences) and ``fraction`` (of the folds whose panel of this size contains a feature, averaged over
        the features of the panel); ``cost`` (of all features of the panel) if there are costs.
    n_features_ : int
        Suggested size: the smallest within one standard error of the reference, or 0 if the reference predicts no
        better than chance.
    message_ : str
        Why this size is suggested, and what to change if no submodel matches the reference.
    validated_ : bool
        Whether the suggestion comes from held-out samples. It is False while, or if, the validation is not done.
    panels_ : list of ndarray of int
        Features of the submodel of each size, in order of entry. They need not be nested: among correlated
        features, one that entered early may become superfluous when others have followed.
    groups_ : recarray
        For each suggested ``feature`` the features that it ``stands_for``: those whose exchange costs less than a
        tenth of a standard error, with their ``correlation`` and ``cost`` (nats per sample).
    reference_ : estimator
        The reference fitted to all samples.
    reference_density_ : float or None
        Mean held-out log density of the reference; None without validation.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from ispca.datasets import make_expression
    >>> from ispca.penalized import PenalizedClassifier
    >>> from ispca.selection import ProjectionSelector
    >>> data = make_expression(n_samples=80, n_features=60, signal=2.0, random_state=0)
    >>> selector = ProjectionSelector(PenalizedClassifier(), max_features=5, cv=3, n_jobs=1, random_state=0)
    >>> panel = selector.fit_transform(data.data, data.target)
    >>> panel.shape[1] == selector.n_features_
    True
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "reference": [HasMethods(["fit", "predict"])],
        "max_features": [Interval(Integral, 1, None, closed="left")],
        "always": ["array-like", slice, set, str, Integral, None],
        "never": ["array-like", slice, set, str, Integral, None],
        "costs": [dict, "array-like", None],
        "kind": [StrOptions(set(KINDS)), None],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object", None],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "prefit": ["boolean"],
        "n_jobs": [Integral, None],
        "resume": "no_validation",
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        reference: Any,
        *,
        max_features: int = 20,
        always: Any = None,
        never: Any = None,
        costs: Any = None,
        kind: str | None = None,
        cv: Any = 10,
        n_clusters: int = 20,
        n_draws: int = 400,
        prefit: bool = False,
        n_jobs: int | None = -1,
        resume: Any = None,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.max_features = max_features
        self.always = always
        self.never = never
        self.costs = costs
        self.kind = kind
        self.cv = cv
        self.n_clusters = n_clusters
        self.n_draws = n_draws
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.resume = resume
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, offset: Any = None) -> Any:
        """Search for a submodel, and validate it.

        After an interruption of the validation, the selector has the path that is not validated.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,), or events and times
            The target, as in `ispca.validation.compare`.
        groups : array-like of shape (n_samples,), optional
            Samples of a group stay in the same fold.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in the fits and in the held-out log densities.
        offset : array-like of shape (n_samples,), optional
            For counts: offset of the linear predictor, such as the log of the exposure.

        Returns
        -------
        self : ProjectionSelector
            The fitted selector.
        """
        if y is None:
            raise ValueError("ProjectionSelector requires y to be passed, but the target y is None.")
        given = {"groups": groups, "sample_weight": sample_weight, "offset": offset}
        data = read_data(self.reference, read_features(self, X), y, self.kind, given)
        if self.prefit:
            check_prefit(self.reference, data)
        names, wanted = known_names(self), (self.max_features, self.always, self.never, self.costs)
        settings, self._values = read_settings(data.samples.X, names, *wanted)
        seed = resumable_seed(self.random_state, self.resume)
        splits = fold_splits(self.cv, data, seed)
        self._data, self._searcher = data, Searcher(settings, self.n_draws, self.n_clusters, seed)
        self.reference_ = self.reference if self.prefit else prepared(self.reference, seed)
        seconds = None if self.prefit else sum(fit_timed(self.reference_, data.samples, Reuse()))
        if _talks():
            tell(estimated_time(self._searcher, self.reference_, data, seconds, len(splits), self.n_jobs))
        self._search()
        if splits:
            self._validate(splits, seed)
        return self

    def submodel(self, size: int | None = None) -> Pipeline:
        """Return the submodel of a size.

        Parameters
        ----------
        size : int, optional
            Number of features; by default the suggested one.

        Returns
        -------
        submodel : Pipeline
            Takes tables with all features; its last step takes tables with the features of the panel.
        """
        check_is_fitted(self)
        chosen = self.panels_[self._checked_size(size)]
        names, X = known_names(self), self._data.samples.X
        panel = FeaturePanel(chosen if names is None else names[chosen]).fit(X)
        model = submodel_for(self._data.target.kind)()
        model.fit(panel.transform(X), self._found.draws, classes=self._data.labels)
        return Pipeline([("panel", panel), ("model", model)])

    def panel(self, size: int | None = None) -> np.recarray:
        """Return the features of the submodel of a size, with their coefficients.

        Parameters
        ----------
        size : int, optional
            Number of features; by default the suggested one.

        Returns
        -------
        table : recarray
            One row per feature in order of entry (and class, where there are more than two): ``feature``,
            ``target_class``, the coefficient as in `ispca.original_coefficients` (``mean``, ``sd``, ``q5``,
            ``q95``, ``p_sign``), and the ``fraction`` of the folds whose panel of this size contains the feature
            (NaN without validation).
        """
        check_is_fitted(self)
        chosen = self.panels_[self._checked_size(size)]
        unknown = np.full(len(chosen), np.nan)
        fractions = unknown if self._held_out is None else self._held_out.fractions(chosen)
        return panel_table(self.submodel(len(chosen)), fractions)

    def alternatives(self, feature: Any, size: int | None = None) -> np.recarray:
        """Return the features that could take the place of one in a submodel, cheapest first.

        Parameters
        ----------
        feature : str or int
            Name or index of a feature of the submodel.
        size : int, optional
            Size of the submodel; by default the suggested one.

        Returns
        -------
        table : recarray
            ``feature``, its ``correlation`` with the replaced one, the ``cost`` of the exchange (rise of the
            divergence from the reference, nats per sample), the same in standard errors of the difference from the
            reference (``cost_in_errors``), and whether it is below a tenth of a standard error (``equivalent``).
        """
        check_is_fitted(self)
        size = self._checked_size(size)
        panel, names = self.panels_[size], self._names()
        known = [names[place] for place in panel]
        chosen = names[int(feature)] if isinstance(feature, Integral) else str(feature)
        if chosen not in known:
            advice = suggestion(chosen, known) if known else "It has no features."
            raise ValueError(f"{feature!r} is not in the submodel of size {size}. {advice}")
        return alternatives_table(self._exchange(size, known.index(chosen)), self._error(size), names)

    def plot(self, ax: Any = None) -> Any:
        """Draw how close submodels of each size come to the reference; see `ispca.plots.plot_panel`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        check_is_fitted(self)
        return plot_panel(self, ax)

    def transform(self, X: Any) -> Any:
        """Return the suggested features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The same features as in ``fit``.

        Returns
        -------
        panel : ndarray, sparse matrix or data frame of shape (n_samples, n_features_)
            The suggested features in the order of X.
        """
        check_is_fitted(self)
        if not hasattr(X, "columns"):
            return super().transform(X)
        # Other columns of a data frame may contain text or missing values.
        X = validate_data(self, X, reset=False, skip_check_array=True)
        return columns(X, self.get_support(indices=True))

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.panels_[self.n_features_]] = True
        return mask

    def _search(self) -> None:
        """Search on all samples, and set the attributes without validation."""
        self._found: Search = self._searcher.search(self.reference_, self._data.samples, self._data.target)
        path, costs = self._found.path, self._searcher.settings.costs
        self._held_out: HeldOut | None = None
        self.panels_, self.validated_ = list(path.sets), False
        self.reference_density_: float | None = None
        self.path_ = path_table(path, self._names(), costs, None)
        self._conclude(suggest_unvalidated_size(path.divergence, len(self._searcher.settings.always)))
        if _talks():
            tell(self.message_)
            names = self._names()
            largest = ", ".join(names[feature] for feature in self.panels_[-1])
            tell(f"Features in order of entry, not validated: {largest}" if largest else "No feature was chosen.")

    def _validate(self, splits: Sequence[Split], seed: int) -> None:
        """Repeat everything in the folds, and set the attributes with validation."""
        samples, target, _ = self._data
        # The splits contain the groups of their training samples.
        data = {"reference": self.reference}, samples._replace(groups=None), target
        work = Work(*data, list(splits), seed, FoldEvaluation(self._searcher), FoldPath)
        found = validated_paths(work, self.resume, self.n_jobs)
        weight = None if samples.sample_weight is None else samples.sample_weight[found.samples]
        path, settings = self._found.path, self._searcher.settings
        differences = paired_differences(found.log_density[: len(self.panels_)], found.reference, weight)
        self.reference_density_ = float(weighted_mean(found.reference, weight))
        self.path_ = path_table(path, self._names(), settings.costs, (found, differences, weight))
        n_allowed = self.n_features_in_ - len(settings.never)
        more = len(self.panels_) - 1 == settings.max_features < n_allowed
        verdict = suggest_size(differences, len(settings.always), more)
        if found.halves is not None:
            advice = draws_message(found.halves, float(differences.error[-1]), self.n_draws, weight)
            verdict = verdict._replace(message=f"{verdict.message} {advice}".strip())
        self.validated_, self._held_out = True, found
        self._conclude(verdict)

    def _conclude(self, suggested: Suggestion) -> None:
        """Set the suggested size, its explanation and the groups of its features."""
        self.n_features_, self.message_ = suggested
        self._exchanges: dict[tuple[int, int], Exchange] = {}
        size = self.n_features_
        found = [self._exchange(size, place) for place in range(size)]
        error = self._error(size) if size else 0.0
        self.groups_ = groups_table(self.panels_[size], found, error, self._names())

    def _exchange(self, size: int, place: int) -> Exchange:
        """Return the exchanges of a feature in the submodel of a size, computed once."""
        if (size, place) not in self._exchanges:
            never, width = self._searcher.settings.never, self.n_features_in_
            panel = self.panels_[size]
            clusters = self._found.clusters
            self._exchanges[size, place] = exchanges(self._values, clusters, panel, place, never, width)
        return self._exchanges[size, place]

    def _error(self, size: int) -> float:
        """Return the standard error of the difference from the reference; of training samples if not validated."""
        if self.validated_:
            return float(self.path_.difference_error[size])
        samples, target, _ = self._data
        part = columns(self._values, self.panels_[size])
        density = submodel_density((part, part), self._found.draws, samples, target, target.classes)
        # A reference fitted before knows ordered classes by their labels, not by their numbers.
        find = ordered_density if target.kind == "ordinal" else reference_density
        reference = find(self.reference_, samples, target)
        return float(paired_differences(density[None], reference, samples.sample_weight).error[0])

    def _checked_size(self, size: int | None) -> int:
        if size is None:
            return self.n_features_
        sizes = range(len(self.panels_))
        if size not in sizes:
            raise ValueError(f"size={size!r}, but the path has sizes from 0 to {sizes[-1]}.")
        return int(size)

    def _names(self) -> list[str]:
        known = known_names(self)
        return [str(name) for name in (range(self.n_features_in_) if known is None else known)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        with suppress(TypeError):  # fit refuses what is not an estimator
            tags.input_tags.sparse = get_tags(self.reference).input_tags.sparse
        return tags


def _talks() -> bool:
    """Return whether to report on the terminal: not inside a fit of a comparison."""
    return shown() and not in_a_fit.get()

"""ProjectionSelector: the smallest set of original features whose submodel predicts like a reference."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..fitted_parts import take_apart
from ..fitting.comparison_inputs import resumable_seed
from ..fitting.fit_and_predict import clone_with_seed, fit_timed
from ..fitting.runner import Work
from ..foundation.messages import Text
from ..foundation.parameters import fit_context
from ..foundation.splits import Split, make_fold_splits
from ..inputs.checks import known_names
from ..reduction.reuse import share_results
from ..stacking.base import Stacked
from ..targets import TARGETS
from . import suggestion
from .search import groups_table
from .selection_data import check_prefit, read_data, read_features, read_settings
from .selector_methods import PanelResults, path_table
from .validated_path import FoldEvaluation, FoldPath, HeldOutPaths, Search, Searcher, validate_path


class ProjectionSelector(PanelResults):
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
    kind : str, optional
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
        differences, corrected for what the folds' training samples have in common), measures of the held-out
        predictions (``accuracy`` and ``auc``, ``accuracy`` and ``absolute_error`` for ordered classes, ``r2``,
        ``concordance`` within the folds, or ``poisson_deviance``) and ``fraction`` (of the folds
        whose panel of this size contains a feature, averaged over the features of the panel); ``cost`` (of all
        features of the panel) if there are costs.
    n_features_ : int
        Suggested size: the smallest within one standard error of the reference, at least 1; 0 only if the
        reference predicts no better than chance.
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
    reference_measures_ : dict of str to float
        The measures of ``path_`` for the reference; empty without validation.
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
        "kind": [StrOptions(set(TARGETS)), None],
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

    @fit_context(skip_nested=False)
    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None, offset: Any = None) -> Self:
        """Search for a submodel, and validate it.

        After an interruption of the validation, the selector has the path that is not validated.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of `ispca.containers`, of shape (n_samples, n_features)
            The features. Of a source, only candidates are in memory; with n_jobs=1, one process reads it.
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
            check_prefit(self, data)
        names, wanted = known_names(self), (self.max_features, self.always, self.never, self.costs)
        settings, self._values = read_settings(data.samples.X, names, *wanted)
        seed = resumable_seed(self.random_state, self.resume)
        labels, strata = data.target.strata(data.samples.y)
        drawn = (data.samples.X, labels, data.samples.groups, strata is not None, seed)
        splits = [] if self.cv is None else make_fold_splits(self.cv, *drawn)
        self._data, self._searcher = data, Searcher(settings, self.n_draws, self.n_clusters, seed)
        self.reference_ = self.reference if self.prefit else clone_with_seed(self.reference, seed)
        if not self.prefit:
            samples = data.samples.read_only()
            with share_results(samples.X):
                fit_timed(self.reference_, samples)
        self._search()
        if splits:
            self._validate(splits, seed)
        return self

    def _search(self) -> None:
        """Search on all samples, and set the attributes without validation."""
        self._found: Search = self._searcher.search(self.reference_, self._data.samples, self._data.target)
        path, costs = self._found.path, self._searcher.settings.costs
        self._held_out: HeldOutPaths | None = None
        self.panels_, self.validated_ = list(path.sets), False
        self.reference_density_: float | None = None
        self.reference_measures_: dict[str, float] = {}
        self.path_ = path_table(path, self._names(), costs, None)
        self._conclude(suggestion.suggest_unvalidated_size(path.divergence, len(self._searcher.settings.always)))

    def _validate(self, splits: Sequence[Split], seed: int) -> None:
        """Repeat everything in the folds, and set the attributes with validation."""
        samples, target, _ = self._data
        # The splits contain the groups of their training samples.
        data = {"reference": self.reference}, samples._replace(groups=None), target
        work = Work(*data, list(splits), seed, FoldEvaluation(self._searcher), FoldPath)
        found = validate_path(work, self.resume, self.n_jobs, samples.groups)
        weight = None if samples.sample_weight is None else samples.sample_weight[found.samples]
        path, settings = self._found.path, self._searcher.settings
        densities = found.log_density[: len(self.panels_)]
        test_to_train = np.mean([len(split.test) / len(split.train) for split in splits])
        factor = suggestion.overlap_factor(len(splits), float(test_to_train))
        differences = suggestion.paired_differences(densities, found.reference, weight, factor)
        self.reference_density_ = float(suggestion.weighted_mean(found.reference, weight))
        self.reference_measures_ = {name: float(values[-1]) for name, values in found.measures.items()}
        self.path_ = path_table(path, self._names(), settings.costs, (found, differences, weight))
        n_allowed = self.n_features_in_ - len(settings.never)
        more = len(self.panels_) - 1 == settings.max_features < n_allowed
        if found.better:
            verdict = suggestion.suggest_size(differences, len(settings.always), more)
        else:
            gains = suggestion.paired_differences(densities, densities[0], weight, factor)
            of_reference = found.better is not None, isinstance(take_apart(self.reference_).model, Stacked)
            verdict = suggestion.suggest_without_reference(differences, gains, len(settings.always), *of_reference)
        if found.halves is not None:
            error = float(differences.error[-1])
            advice = suggestion.draws_message(found.halves, error, self.n_draws, weight)
            verdict = verdict._replace(message=f"{verdict.message} {advice}".strip())
        self.validated_, self._held_out = True, found
        self._conclude(verdict)

    def _conclude(self, suggested: suggestion.Suggestion) -> None:
        """Set the suggested size, its explanation and the groups of its features."""
        self.n_features_, self.message_ = suggested[0], Text(suggested[1])
        size = self.n_features_
        found, error = self._exchanges(size, range(size)), self._error(size) if size else 0.0
        self.groups_ = groups_table(self.panels_[size], found, error, self._names())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        with suppress(TypeError):  # fit refuses what is not an estimator
            tags.input_tags.sparse = get_tags(self.reference).input_tags.sparse
        return tags

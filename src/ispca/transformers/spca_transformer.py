"""SPCA: the scikit-learn estimator of supervised principal components, screened once."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.messages import NoFeatureWarning, notify
from ..reduction import screening
from ..reduction.algorithm import take_components
from ..reduction.cross_fitting import Fold, FoldComponents, screened_components
from ..reduction.deflation import best_features
from ..reduction.design import Design
from ..reduction.reduction_result import Reduction
from ..reduction.response import Response, TrainingData
from ..reduction.reuse import Reuse
from ..reduction.threads import Workers
from .base import SupervisedComponents


class SPCA(SupervisedComponents):
    """Supervised principal components (Bair and others, 2006), with a permutation test for the screening.

    The features with high enough scores are selected, and their principal components are computed.
    With ``n_supervised`` below ``n_components``, the rest are unsupervised components of the residual
    of all features (the paper's PSPCA).

    Parameters
    ----------
    n_components : int, optional
        Total number of components; fewer, with a warning, if X has a lower rank. By default only
        those of the selected features.
    n_supervised : int, optional
        Largest number of components from the selected features; by default ``n_components``.
    alpha : float, default=0.001
        Select the features with a permutation p-value below alpha.
    n_permutations : int, default=1000
        Permutations of the test.
    n_features : int, optional
        Select instead this number of best-scoring features.
    threshold : float, optional
        Select instead the features above a relative threshold: 0 is the lowest and 1 the highest
        score of the ``max_features`` best-scoring features.
    statistic : {"pearson", "spearman", "kendall", "runs"}, default="pearson"
        How a feature is scored; see ``feature_scores``. Only "pearson" allows covariates, weights and offsets.
    max_features : int, default=500
        Number of best-scoring features that ``threshold`` considers.
    cross_fit : int, splitter or None, default=None
        As in ISPCA; each fold takes as many best-scoring features as the fit selected. Only the screening uses
        the target: with more than a few components, pass ``n_supervised`` to cross-fit only the first ones.
    family, center, scale, whiten, shrink_scores, adjust, handle_unknown, keep_adjusted, missing, exclude,
    memory_budget, random_state
        As in ISPCA.
    verbose : int, default=0
        Print the number of selected features.

    Attributes
    ----------
    selected_ : ndarray of int
        Indices of the selected features.
    components_, directions_ : ndarray of shape (n_components_, n_features)
        The paper's W and v; see ISPCA.
    n_components_, n_supervised_ : int
        Total number of components, and number of those from the selected features, which come first.
    steps_ : list
        Empty, because SPCA screens once.
    explained_variance_, explained_variance_ratio_, training_scores_, score_shrinkage_, mean_, scale_, adjusted_,
    kept_columns_, categories_, source_columns_, projection_, n_missing_, fill_values_, classes_, n_features_in_,
    feature_names_in_
        As in ISPCA.
    feature_mask_ : ndarray of shape (n_features,)
        As in ISPCA; only covariates, constant and excluded features are left out.

    References
    ----------
    E. Bair, T. Hastie, D. Paul and R. Tibshirani (2006). Prediction by supervised principal
    components. JASA 101.

    Examples
    --------
    >>> from ispca import SPCA
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=500, random_state=0)
    >>> spca = SPCA(n_components=4, n_features=20).fit(data.data, data.target)
    >>> len(spca.selected_), spca.n_components_
    (20, 4)
    """

    _parameter_constraints = SupervisedComponents._parameter_constraints | {
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
        "threshold": [Interval(Real, 0, 1, closed="both"), None],
        "statistic": [StrOptions(set(screening.STATISTICS))],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_supervised: int | None = None,
        alpha: float = 0.001,
        n_permutations: int = 1000,
        n_features: int | None = None,
        threshold: float | None = None,
        statistic: str = "pearson",
        max_features: int = 500,
        family: str = "auto",
        center: bool = True,
        scale: Any = True,
        whiten: bool = False,
        cross_fit: Any = None,
        shrink_scores: bool = False,
        adjust: Any = None,
        handle_unknown: str = "error",
        keep_adjusted: bool = False,
        missing: str = "error",
        exclude: Any = None,
        memory_budget: float = 2**28,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_supervised = n_supervised
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.n_features = n_features
        self.threshold = threshold
        self.statistic = statistic
        self.max_features = max_features
        self.family = family
        self.center = center
        self.scale = scale
        self.whiten = whiten
        self.cross_fit = cross_fit
        self.shrink_scores = shrink_scores
        self.adjust = adjust
        self.handle_unknown = handle_unknown
        self.keep_adjusted = keep_adjusted
        self.missing = missing
        self.exclude = exclude
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _check_screening(self, X: Any, response: Response | None) -> None:
        if response is not None:
            screening.check_statistic(self.statistic, X, response)
        if self.n_features is not None and self.threshold is not None:
            raise ValueError("n_features and threshold exclude each other. Pass only one of them.")

    @staticmethod
    def _informative(design: Design) -> Mask:
        return design.moments.deviation > 0

    def _reduce(
        self, data: TrainingData, design: Design, basis: Floats, threads: Workers, reuse: Reuse | None
    ) -> Reduction:
        selected = np.empty(0, np.intp)
        if data.response is not None:
            selected = self._screen(data, design, basis, threads, reuse)
            if not len(selected):
                message = "No single feature passed the screening, so SPCA returns unsupervised components only."
                notify(message, NoFeatureWarning)
        self.selected_ = selected
        if self.verbose:
            print(f"[SPCA] {len(selected)} of {design.shape[1]} features selected")
        most = self._most_supervised(basis, len(selected))
        return take_components(
            design, threads, selected, n_supervised=most, n_components=self.n_components, basis=basis
        )

    def _screen(
        self, data: TrainingData, design: Design, basis: Floats, threads: Workers, reuse: Reuse | None
    ) -> Indices:
        assert data.response is not None
        statistic = screening.make_statistic(self.statistic, data.X, design, data.response, basis, threads)
        if self.n_features is not None:
            return np.sort(best_features(statistic.scores(threads), self.n_features))
        if self.threshold is not None:
            scores = statistic.scores(threads)
            return np.sort(screening.relative_threshold_features(scores, self.threshold, self.max_features))
        permutations = self._permutations(data, self.n_permutations, reuse)
        return screening.significant_features(statistic, permutations, self.alpha, threads)

    def _fold_components(
        self, X: Any, design: Design, fold: Fold, basis: Floats, threads: Workers
    ) -> FoldComponents:
        samples = X if self.statistic == "pearson" else X[fold.train]
        statistic = screening.make_statistic(self.statistic, samples, design, fold.response, basis, threads)
        features = np.sort(best_features(statistic.scores(threads), len(self.selected_)))
        return screened_components(design, threads, features, count=self.n_supervised_, basis=basis)

    def _fold_settings(self) -> tuple[str, int]:
        return self.statistic, len(self.selected_)

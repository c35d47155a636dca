"""ISPCA: the scikit-learn estimator of iterative supervised principal components."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..foundation.arrays import Floats, Mask
from ..foundation.messages import NoFeatureWarning, notify, p_value_text
from ..reduction.algorithm import iterate, start_steps, take_components
from ..reduction.cross_fitting import Fold, FoldComponents, iterated_components
from ..reduction.design import Design
from ..reduction.max_score_test import MaxScoreTest, ResidualTest
from ..reduction.reduction_result import Reduction, Step
from ..reduction.response import TrainingData
from ..reduction.reuse import Reuse, find_or_make
from ..reduction.stopping_rule import stopping_rule
from ..reduction.threads import Workers
from ..reduction.threshold import SearchSettings
from .base import SupervisedComponents

# Of sums of sample weights.
ROUNDING = 1e-9


class ISPCA(SupervisedComponents):
    """Iterative supervised principal components (Piironen and Vehtari, 2018).

    Each step screens the features by their correlation with the target, takes the first principal component of
    the best-scoring ones, and subtracts what it explains from all features. The steps continue while a
    permutation test finds signal; unsupervised components are then added up to ``n_components``.

    Parameters
    ----------
    n_components : int, optional
        Total number of components; fewer, with a warning, if X has a lower rank. By default only
        supervised components.
    n_supervised : int, optional
        Largest number of supervised components; 0 gives plain principal components.
    alpha : float or None, default=0.01
        Extract components while the p-value is below alpha. None skips the test, which overfits.
    n_permutations : int or "auto", default=1000
        Permutations per test. "auto" continues each test until it is known on which side of alpha the p-value
        lies, with an error of at most 0.001, up to 100,000 permutations; if they do not settle it, no component is
        extracted.
    test : {"paper", "residual"}, default="paper"
        Permute the target, as in the paper, which is conservative from the second component on, or its
        residual after the components so far, which keeps the level of the test there, too.
    max_features : int, default=500
        Number of best-scoring features that the threshold search considers.
    n_thresholds : int, default=10
        Number of thresholds to try.
    family : {"auto", "gaussian", "binomial", "multinomial", "poisson", "negative-binomial", "cox", "ordinal"}, \
            default="auto"
        Kind of target. "auto" treats text, Booleans, categories and at most ten distinct integers as classes,
        other numbers as a quantity, and structured arrays of event and time as survival times. Features are
        scored by Rao's score statistic of the model without features; survival times by martingale residuals,
        with Breslow's handling of ties.
    center : bool, default=True
        Whether features are centered. Without centering, angles replace correlations.
    scale : bool or array-like of shape (n_features,), default=True
        Whether features are scaled to unit standard deviation, or what each of them is divided by: then, only
        constant features are left out.
    whiten : bool, default=False
        Whether to scale the new features to unit variance, as the models expect.
    cross_fit : int, splitter or None, default=None
        Number of (stratified) folds, or how to make them, for the supervised scores that ``fit_transform``
        returns: those of each fold come from components found without it, for the same classes and with as many
        features as the fit's, so that a model which learns from them is less overconfident. None, the paper's
        method, returns the scores of the fit itself.
    shrink_scores : bool, default=False
        Whether the scores on unsupervised components that ``fit_transform`` returns are multiplied by
        ``score_shrinkage_``: new samples vary less along the components of wide data than the training samples,
        and a model that learns from shrunken scores knows it.
    adjust : array-like of int, str or bool, optional
        Covariates: columns of X (indices, names or a mask) such as age, sex or batch. They are never screened;
        every feature and the target are adjusted for them, and new samples with the training coefficients.
        Permutation tests then permute the residuals of the model with the covariates (Freedman and Lane).
        Text, categories and Booleans of a frame become indicators, with the first category as the reference. A
        covariate that determines the target is refused; one that explains over 80% of it gives a warning.
    handle_unknown : {"error", "ignore"}, default="error"
        What ``transform`` does with a category that ``fit`` has not seen. "ignore" sets all its indicators to
        zero, as for the first category.
    keep_adjusted : bool, default=False
        Whether the standardized columns of ``adjust`` follow the components in the output, so that a model can
        use them.
    missing : {"error", "mean"}, default="error"
        What to do with NaN in X. "mean" replaces it by the mean of the column over the training samples. A column
        without any value is refused.
    exclude : array-like of int, str or bool, optional
        Features to leave out: indices, names or a mask.
    memory_budget : float, default=2**28
        Bytes of memory for the permutations, and for the blocks of an X that is not in memory. The result does
        not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations and of the folds.
    verbose : int, default=0
        Print a line per step, and how often an X outside of memory was read.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The paper's W: ``transform(X)`` is ``((X - mean_) / scale_) @ components_.T``. The weights of covariates
        subtract what they explain of the features. If covariates have categories, the features here and below
        are those of the encoded X, named by ``get_encoded_feature_names``, in which indicators replace them.
    projection_ : ndarray
        ``components_`` and, with ``keep_adjusted``, one row per adjusted column: what ``transform`` multiplies by.
    directions_ : ndarray of shape (n_components_, n_features)
        The paper's v: the principal component of the deflated features, zero outside the selected ones.
    n_components_, n_supervised_ : int
        Total number of components, and number of supervised ones, which come first.
    steps_ : list of Step
        One record per supervised step, and one for the test that ended them.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the new features (before whitening).
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Fraction of the total variance of the standardized training features (without ``center``, of their sum of
        squares) that their regression on each component explains. Components are orthogonal, so the fractions
        add up, to 1 at full rank; without supervised components they equal those of scikit-learn's PCA.
    training_scores_ : ndarray of shape (n_samples, n_components_)
        What ``fit_transform`` returned, with ``cross_fit`` or ``shrink_scores``.
    score_shrinkage_ : ndarray of shape (n_components_,)
        With ``shrink_scores``, the predicted ratio of the standard deviations of the scores of new and of training
        samples (Ledoit and Wolf, 2020); 1 for supervised components, which ``cross_fit`` is for.
    mean_, scale_ : ndarray of shape (n_features,)
        Center and scale of the features.
    feature_mask_ : ndarray of shape (n_features,)
        False for features left out: covariates, excluded, constant, or with one value alone on its side of the
        mean.
    adjusted_ : ndarray of shape (n_features,)
        True for covariates.
    kept_columns_ : ndarray of int
        The covariates that follow the components in the output, if ``keep_adjusted``: those that vary.
    categories_ : dict of str to list of str
        The categories of covariates that have them, as text; the first is the reference.
    source_columns_ : ndarray of int
        The column of X that each feature comes from.
    n_missing_ : int
        Number of missing values that were replaced in ``fit``.
    fill_values_ : ndarray of shape (n_features,) or None
        What replaces missing values, if ``missing="mean"``.
    classes_ : ndarray
        Class labels of a classification target.
    n_features_in_, feature_names_in_
        Number of features seen in ``fit``, and their names, if X has them.

    Notes
    -----
    Signs: a supervised component correlates positively with its target, or the class it separates
    (of two classes, the second); an unsupervised one has a direction whose largest entry is positive.

    X may also be an array of PyTorch, CuPy or JAX, a Dask array, or a container of `ispca.containers`: the page
    "Data larger than memory" says how each is read, how much memory that takes, and how it is tested.

    References
    ----------
    J. Piironen and A. Vehtari (2018). Iterative supervised principal components. AISTATS.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=500, random_state=0)
    >>> ispca = ISPCA(n_components=5, random_state=0)
    >>> Z = ispca.fit_transform(data.data, data.target)
    >>> Z.shape
    (60, 5)
    >>> ispca.n_supervised_
    1
    """

    _parameter_constraints = SupervisedComponents._parameter_constraints | {
        "alpha": [Interval(Real, 0, 1, closed="right"), None],
        "n_permutations": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "test": [StrOptions({"paper", "residual"})],
        "n_thresholds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_supervised: int | None = None,
        alpha: float | None = 0.01,
        n_permutations: int | str = 1000,
        test: str = "paper",
        max_features: int = 500,
        n_thresholds: int = 10,
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
        self.test = test
        self.max_features = max_features
        self.n_thresholds = n_thresholds
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

    @property
    def _expects_unsupervised(self) -> bool:
        # Tests usually end the supervised components early.
        tested = self.n_components is not None and self.alpha is not None
        return tested or super()._expects_unsupervised

    @staticmethod
    def _informative(design: Design) -> Mask:
        # One value alone on its side of the mean: a single outlier decides such a column.
        n_below = design.moments.n_below
        alone = (n_below < 1 + ROUNDING) | (n_below > design.size - 1 - ROUNDING)
        return (design.moments.deviation > 0) & ~alone

    def _reduce(
        self, data: TrainingData, design: Design, basis: Floats, threads: Workers, reuse: Reuse | None
    ) -> Reduction:
        n_features, response = design.shape[1], data.response
        if response is None:
            nothing = np.empty(0, np.intp)
            return take_components(
                design, threads, nothing, n_supervised=0, n_components=self.n_components, basis=basis
            )
        test, seed = None, None
        if self.alpha is not None:
            kind = MaxScoreTest if self.test == "paper" else ResidualTest
            rule = stopping_rule(self.n_permutations, self.alpha)
            permutations = self._permutations(data, rule.most, reuse)
            test, seed = kind(design, response, permutations, rule), permutations.seed
        settings = SearchSettings(self.max_features, self.n_thresholds)
        most = self._most_supervised(basis, n_features)
        start = partial(start_steps, design, threads, response, test, settings, basis)
        tested = (self.test, self.alpha, self.n_permutations, self.memory_budget, seed)
        key = ("supervised steps", *data.key, tested, settings)
        steps = find_or_make(reuse, design, key, start)
        if len(steps.steps) > most:  # those of a fit that wanted more components
            steps = start()
        reduction = iterate(
            steps, threads, max_supervised=most, n_components=self.n_components, listen=self._report
        )
        if reduction.n_supervised == 0 and self.n_components is None:
            notify(
                "No single feature passed the test, so ISPCA returns one unsupervised component.", NoFeatureWarning
            )
        return reduction

    def _fold_components(
        self, X: Any, design: Design, fold: Fold, basis: Floats, threads: Workers
    ) -> FoldComponents:
        accepted = [step for step in self.steps_ if step.accepted]
        return iterated_components(design, threads, fold, accepted, basis=basis)

    def _fold_settings(self) -> tuple[Any, ...]:
        return tuple((step.target_class, step.n_features) for step in self.steps_ if step.accepted)

    def _report(self, step: Step) -> None:
        if not self.verbose:
            return
        p_value = p_value_text(step.p_value, step.n_permutations, step.borderline)
        outcome = "undecided" if step.limit_reached else "not significant"
        if step.accepted:
            outcome = f"component of {step.n_features} features, score {step.component_score:.3f}"
        print(f"[ISPCA] largest score {step.score:.3f}, {p_value}: {outcome}")

"""ISPCA and SPCA: thin scikit-learn estimators over the reduction."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ._components import SupervisedComponents
from ._text import p_value_text
from .reduction.design import Design
from .reduction.iterate import iterate, screened
from .reduction.maximum import MaximumTest, ResidualTest
from .reduction.notices import notify
from .reduction.records import Indices, Mask, Reduction, Step
from .reduction.response import Response
from .reduction.scores import best_features
from .reduction.screening import relative_threshold_features, significant_features
from .reduction.statistics import SCORES, check_container, make_statistic
from .reduction.threads import Workers


class ISPCA(SupervisedComponents):
    """Iterative supervised principal components (Piironen and Vehtari, 2018).

    Each step screens the features by their correlation with the target, takes the first principal
    component of the best-scoring ones, and subtracts what it explains from all features. The steps
    go on while a permutation test says that there is signal left; then unsupervised components
    fill up to ``n_components``.

    Parameters
    ----------
    n_components : int, optional
        Number of components in all. By default supervised components only.
    n_supervised : int, optional
        Largest number of supervised components; 0 gives plain principal components.
    alpha : float or None, default=0.01
        Go on while the p-value is below alpha. None skips the test, which overfits.
    n_permutations : int, default=1000
        Permutations per test.
    test : {"paper", "residual"}, default="paper"
        Permute the whole target as in the paper, which is strict from the second component on, or
        what the components so far have left of it, which holds its level there too.
    window : int, default=500
        At most so many features enter a supervised component.
    n_thresholds : int, default=10
        So many subsets of them are tried.
    family : {"auto", "gaussian", "binomial", "multinomial"}, default="auto"
        Kind of target. "auto" takes labels and whole numbers as classes, other numbers as a quantity.
    center, scale : bool, default=True
        Whether features are centred, and scaled to unit standard deviation. Without centring,
        angles take the place of correlations.
    whiten : bool, default=False
        Whether to scale the new features to unit variance, as the models want them.
    exclude : array-like of int, str or bool, optional
        Features to leave out: indices, names or a mask.
    memory_budget : float, default=2**28
        Bytes of working space the permutations may take. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations.
    verbose : int, default=0
        Print a line per step.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The paper's W: ``transform(X)`` is ``((X - mean_) / scale_) @ components_.T``.
    directions_ : ndarray of shape (n_components_, n_features)
        The paper's v: the principal component of the deflated features, zero outside the selected ones.
    n_components_, n_supervised_ : int
        Components in all, and how many of them, the first ones, are supervised.
    steps_ : list of Step
        A record per supervised step and for the test that ended them.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the new features (before whitening).
    mean_, scale_ : ndarray of shape (n_features,)
        Centre and scale of the features.
    feature_mask_ : ndarray of shape (n_features,)
        False for features left out: excluded, constant, or with one value alone on its side of the mean.
    classes_ : ndarray
        Class labels of a classification target.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has them.

    Notes
    -----
    Signs: a supervised component correlates positively with its target, or the class it separates
    (of two classes, the second); an unsupervised one has a direction whose largest entry is positive.

    ================  =====================================================
    container         how it is handled
    ================  =====================================================
    dense array       by reference, standardised block by block, never copied
    mostly zeros      (under 5 per cent nonzero) converted to sparse
    SciPy sparse      one compressed copy, never densified
    pandas, polars    converted to one dense array
    ================  =====================================================

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
        "test": [StrOptions({"paper", "residual"})],
        "n_thresholds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_supervised: int | None = None,
        alpha: float | None = 0.01,
        n_permutations: int = 1000,
        test: str = "paper",
        window: int = 500,
        n_thresholds: int = 10,
        family: str = "auto",
        center: bool = True,
        scale: bool = True,
        whiten: bool = False,
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
        self.window = window
        self.n_thresholds = n_thresholds
        self.family = family
        self.center = center
        self.scale = scale
        self.whiten = whiten
        self.exclude = exclude
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _informative(self, design: Design) -> Mask:
        # One value alone on its side of the mean: a single outlier decides such a column.
        alone = (design.n_below == 1) | (design.n_below == design.shape[0] - 1)
        return (design.deviation > 0) & ~alone

    def _reduce(self, X: Any, design: Design, response: Response | None, threads: Workers) -> Reduction:
        n, n_features = design.shape
        if response is None:
            return screened(
                design,
                np.empty(0, np.intp),
                n_supervised=0,
                n_components=self.n_components,
                center=self.center,
            )
        test = None
        if self.alpha is not None:
            kind = MaximumTest if self.test == "paper" else ResidualTest
            test = kind(design, response.columns, self._permutations(n, threads), self.alpha)
        reduction = iterate(
            design,
            response,
            test,
            self,
            max_supervised=self._most_supervised(n, n_features),
            n_components=self.n_components,
            center=self.center,
            listen=self._report,
        )
        if reduction.n_supervised == 0 and self.n_components is None:
            notify("No signal: no supervised component passed the test; ISPCA returns one unsupervised component.")
        return reduction

    def _report(self, step: Step) -> None:
        if not self.verbose:
            return
        p_value = p_value_text(step.p_value, step.n_permutations)
        outcome = (
            f"component of {step.n_features} features, score {step.component_score:.3f}"
            if step.accepted
            else "no signal left"
        )
        print(f"[ISPCA] largest score {step.score:.3f}, {p_value}: {outcome}")


class SPCA(SupervisedComponents):
    """Supervised principal components (Bair and others, 2006), with a permutation test for the screening.

    The features that score high enough with the target are kept, and their principal components
    taken. With ``n_supervised`` below ``n_components`` the rest are unsupervised components of what
    is left of all features (the paper's PSPCA).

    Parameters
    ----------
    n_components : int, optional
        Number of components in all. By default those of the kept features only.
    n_supervised : int, optional
        Largest number of components from the kept features; by default ``n_components``.
    alpha : float, default=0.001
        Keep the features with a permutation p-value below alpha.
    n_permutations : int, default=1000
        Permutations of the test.
    n_features : int, optional
        Keep so many best-scoring features instead.
    threshold : float, optional
        Keep the features whose score is at least this far (0 to 1) from the lowest to the highest
        score inside the window instead.
    score : {"pearson", "spearman", "kendall", "runs"}, default="pearson"
        The score of a feature.
    window : int, default=500
        Number of best-scoring features that ``threshold`` looks at.
    family : {"auto", "gaussian", "binomial", "multinomial"}, default="auto"
        Kind of target. "auto" takes labels and whole numbers as classes, other numbers as a quantity.
    center, scale : bool, default=True
        Whether features are centred, and scaled to unit standard deviation.
    whiten : bool, default=False
        Whether to scale the new features to unit variance, as the models want them.
    exclude : array-like of int, str or bool, optional
        Features to leave out: indices, names or a mask.
    memory_budget : float, default=2**28
        Bytes of working space the permutations may take. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations.
    verbose : int, default=0
        Print how many features are kept.

    Attributes
    ----------
    selected_ : ndarray of int
        Indices of the kept features.
    components_, directions_ : ndarray of shape (n_components_, n_features)
        The paper's W and v; see ISPCA.
    n_components_, n_supervised_ : int
        Components in all, and how many of them, the first ones, come from the kept features.
    steps_ : list
        Empty: there is one screening, no iteration.
    explained_variance_, mean_, scale_, feature_mask_, classes_, n_features_in_, feature_names_in_
        As in ISPCA; only constant and excluded features are left out.

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
        "score": [StrOptions(set(SCORES))],
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
        score: str = "pearson",
        window: int = 500,
        family: str = "auto",
        center: bool = True,
        scale: bool = True,
        whiten: bool = False,
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
        self.score = score
        self.window = window
        self.family = family
        self.center = center
        self.scale = scale
        self.whiten = whiten
        self.exclude = exclude
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    # To scikit-learn an attribute named score is a method; the parameter lives beside it.
    @property
    def score(self) -> str:
        """Not an attribute: the parameter is ``get_params()["score"]``."""
        raise AttributeError('SPCA has no method "score"; the parameter is get_params()["score"].')

    @score.setter
    def score(self, name: str) -> None:
        self.__dict__["score"] = name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            For scikit-learn; no parameter is itself an estimator.

        Returns
        -------
        params : dict
            Parameter names and values.
        """
        return {name: vars(self)[name] for name in self._get_param_names()}

    def _check_screening(self, X: Any, response: Response | None) -> None:
        if response is not None:
            check_container(vars(self)["score"], X, response)
        if self.n_features is not None and self.threshold is not None:
            raise ValueError("n_features and threshold are two ways to screen: pass one of them.")

    def _informative(self, design: Design) -> Mask:
        return design.deviation > 0

    def _reduce(self, X: Any, design: Design, response: Response | None, threads: Workers) -> Reduction:
        selected = np.empty(0, np.intp)
        if response is not None:
            selected = self._screen(X, design, response, threads)
            if not len(selected):
                notify("No signal: no feature passed the screening, so SPCA returns unsupervised components only.")
        self.selected_ = selected
        if self.verbose:
            print(f"[SPCA] {len(selected)} of {design.shape[1]} features kept")
        return screened(
            design,
            selected,
            n_supervised=self._most_supervised(design.shape[0], len(selected)),
            n_components=self.n_components,
            center=self.center,
        )

    def _screen(self, X: Any, design: Design, response: Response, threads: Workers) -> Indices:
        statistic = make_statistic(vars(self)["score"], X, design, response, threads)
        if self.n_features is not None:
            return np.sort(best_features(statistic.observed(), self.n_features))
        if self.threshold is not None:
            return np.sort(relative_threshold_features(statistic.observed(), self.threshold, self.window))
        return significant_features(statistic, self._permutations(design.shape[0], threads), self.alpha)

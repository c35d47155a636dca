"""ISPCA and SPCA: thin scikit-learn estimators over the reduction."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._checks import (
    check_n_components,
    check_new_data,
    check_training_data,
    excluded_mask,
    permutation_seed,
)
from .reduction.design import Design, make_design
from .reduction.iterate import iterate, screened
from .reduction.permutation import MaximumTest, Permutations, ResidualTest
from .reduction.records import Indices, Reduction, Step
from .reduction.response import FAMILIES, Response, make_response
from .reduction.scores import best_features
from .reduction.screening import relative_threshold_features, significant_features
from .reduction.statistics import SCORES, make_statistic
from .reduction.threads import Workers, workers

# Rows are transformed in blocks of about this many numbers.
TRANSFORM_BLOCK = 2**20


class _SupervisedComponents(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What ISPCA and SPCA share: checks before, attributes after, and the use of the result."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_supervised": [Interval(Integral, 0, None, closed="left"), None],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "window": [Interval(Integral, 1, None, closed="left")],
        "family": [StrOptions(set(FAMILIES))],
        "center": ["boolean"],
        "scale": ["boolean"],
        "whiten": ["boolean"],
        "exclude": ["array-like", str, Integral, None],
        "memory_budget": [Interval(Real, 2**20, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose"],
    }

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; dense, any SciPy sparse format, a pandas or a polars frame.
        y : array-like of shape (n_samples,)
            The target: class labels (strings too) or numbers. Not needed when ``n_supervised=0``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the components and return the new features of the training samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The target.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The new features, orthogonal to each other.
        """
        Z = self._fit(X, y)
        return Z.astype(np.float32) if _dtype_of(X) == np.float32 else Z

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit(self, X: Any, y: Any) -> np.ndarray:
        needs_target = self.n_supervised != 0
        X, y = check_training_data(self, X, y, needs_target)
        check_n_components(self.n_components, X.shape)
        response = make_response(y, self.family) if needs_target else None
        names = getattr(self, "feature_names_in_", None)
        excluded = excluded_mask(self.exclude, X.shape[1], names)
        with workers() as threads:
            design = make_design(X, threads, center=self.center, scale=self.scale)
            design.use(self._informative(design) & ~excluded)
            if not design.usable.any():
                raise ValueError(
                    "No feature is left: every column of X is constant, decided by one sample, or excluded. "
                    "Pass at least one feature that varies."
                )
            reduction = self._reduce(X, design, response, threads)
        return self._keep(reduction, design, response)

    def _permutations(self, n_samples: int, threads: Workers) -> Permutations:
        seed = permutation_seed(self.random_state)
        return Permutations(seed, n_samples, self.n_permutations, int(self.memory_budget), threads)

    def _most_supervised(self, n_samples: int, n_features: int) -> int:
        limits = (self.n_components, self.n_supervised, n_samples - int(self.center), n_features)
        return min(limit for limit in limits if limit is not None)

    def _keep(self, reduction: Reduction, design: Design, response: Response | None) -> np.ndarray:
        n_found = len(reduction.projection)
        variance = (reduction.scores**2).sum(axis=0) / (len(reduction.scores) - 1)
        self.components_ = reduction.projection
        Z = reduction.scores
        if self.whiten:
            self.components_ = self.components_ / np.sqrt(variance)[:, None]
            Z = Z / np.sqrt(variance)
        self.directions_ = reduction.directions
        self._supervised_loadings = reduction.loadings
        self.explained_variance_ = variance
        self.n_components_ = n_found
        self.n_supervised_ = reduction.n_supervised
        self.steps_ = list(reduction.steps)
        self.mean_, self.scale_, self.feature_mask_ = design.mean, design.scale, design.usable
        if response is not None and response.classes is not None:
            self.classes_ = response.classes
        self._warn(n_found)
        return Z

    def _warn(self, n_found: int) -> None:
        if self.n_supervised_ == 0 and self.n_supervised != 0:
            filled = f"{n_found} unsupervised component(s)" + (" instead" if self.n_components is None else "")
            warnings.warn(
                f"No signal: no supervised component passed the test, so {type(self).__name__} returns {filled}.",
                UserWarning,
                stacklevel=4,
            )
        if self.n_components is not None and n_found < self.n_components:
            warnings.warn(
                f"X has rank {n_found} only: {n_found} instead of {self.n_components} components are returned.",
                UserWarning,
                stacklevel=4,
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Any:
        """Return the new features of any samples: ``((X - mean_) / scale_) @ components_.T``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The same features, in the same order, as in ``fit``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The new features.
        """
        check_is_fitted(self)
        X = check_new_data(self, X)
        weights = (self.components_ / self.scale_).T
        if sp.issparse(X):
            Z = np.asarray(X @ weights) - self.mean_ @ weights
        else:
            Z = np.empty((X.shape[0], weights.shape[1]))
            rows = max(1, TRANSFORM_BLOCK // X.shape[1])
            for start in range(0, len(Z), rows):
                # Centring explicitly keeps the digits of data far from zero.
                part = slice(start, start + rows)
                Z[part] = np.subtract(X[part], self.mean_, dtype=np.float64) @ weights
        return Z.astype(np.float32) if X.dtype == np.float32 else Z

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return the features as far as the components explain them.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components_)
            New features.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The best linear reconstruction, in the original units; left-out features are at their mean.
        """
        check_is_fitted(self)
        loadings = np.concatenate([self._supervised_loadings, self.directions_[self.n_supervised_ :]])
        lengths = np.sqrt(self.explained_variance_) if self.whiten else 1.0
        return (np.asarray(Z) * lengths) @ loadings * self.scale_ + self.mean_

    def original_coef(self, coef: Any, intercept: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Carry a linear model on the new features back to the original features and units.

        Parameters
        ----------
        coef : array-like of shape (..., n_components_)
            Coefficients of the new features: one vector, one per class, or a stack of posterior draws.
        intercept : array-like of shape (...)
            Intercepts that go with them.

        Returns
        -------
        coef : ndarray of shape (..., n_features)
            Coefficients of the original features.
        intercept : ndarray of shape (...)
            Intercepts, so that ``X @ coef.T + intercept`` equals the model on ``transform(X)``.

        Examples
        --------
        >>> import numpy as np
        >>> from ispca import ISPCA
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(5, 2, (30, 100)); y = X[:, 0] + X[:, 1]
        >>> ispca = ISPCA(n_components=2, random_state=0).fit(X, y)
        >>> coef, intercept = ispca.original_coef([1.0, -0.5], 3.0)
        >>> np.allclose(X @ coef + intercept, ispca.transform(X) @ [1.0, -0.5] + 3.0)
        True
        """
        check_is_fitted(self)
        original = np.asarray(coef, dtype=np.float64) @ (self.components_ / self.scale_)
        return original, np.asarray(intercept) - original @ self.mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.n_supervised != 0
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _dtype_of(X: Any) -> Any:
    return getattr(X, "dtype", None)


class ISPCA(_SupervisedComponents):
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

    _parameter_constraints = _SupervisedComponents._parameter_constraints | {
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

    def _informative(self, design: Design) -> np.ndarray:
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
        return iterate(
            design,
            response,
            test,
            self,
            max_supervised=self._most_supervised(n, n_features),
            n_components=self.n_components,
            center=self.center,
            listen=self._report,
        )

    def _report(self, step: Step) -> None:
        if not self.verbose:
            return
        p_value = "no test" if step.p_value is None else f"p = {step.p_value:.4g}"
        outcome = (
            f"component of {step.n_features} features, score {step.component_score:.3f}"
            if step.accepted
            else "no signal left"
        )
        print(f"[ISPCA] largest score {step.score:.3f}, {p_value}: {outcome}")


class SPCA(_SupervisedComponents):
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

    _parameter_constraints = _SupervisedComponents._parameter_constraints | {
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
        vars(self)["score"] = name

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

    def _informative(self, design: Design) -> np.ndarray:
        return design.deviation > 0

    def _reduce(self, X: Any, design: Design, response: Response | None, threads: Workers) -> Reduction:
        if self.n_features is not None and self.threshold is not None:
            raise ValueError("n_features and threshold are two ways to screen: pass one of them.")
        selected = np.empty(0, np.intp)
        if response is not None:
            selected = self._screen(X, design, response, threads)
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

"""BaggedPosterior: the posterior of a reduction and a model, averaged over bootstrap samples of the data."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..fitted_parts import take_apart
from ..fitting.comparison_inputs import resumable_seed
from ..foundation.parameters import fit_context
from ..foundation.result_tables import ResultTable, as_table
from ..models.base import Horseshoe
from ..models.coefficients import original_coefficients
from ..targets.samples import Prediction
from .bags import BagData, check_parts, fit_before, read_data, run_bags
from .pooled_components import PooledComponents
from .pooled_models import POOLED, PooledModel
from .stability import Stability, bag_components, summarize


def _delegate(name: str) -> Any:
    """Return a method that asks the model of all bags; it exists if that model has it."""
    described = next(getattr(kind, name) for kind in POOLED.values() if hasattr(kind, name))

    def has_method(bagged: Any) -> bool:
        model = take_apart(bagged.estimator).model
        return isinstance(model, Horseshoe) and hasattr(POOLED[model.target.name], name)

    @available_if(has_method)
    @wraps(described)
    def method(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.model_, name)(self.pipeline_[:-1].transform(X), *args, **options)

    return method


class BaggedPosterior(MetaEstimatorMixin, BaseEstimator):
    """The posterior of a reduction and a model, averaged over bootstrap samples of the data.

    A model that learns from components takes them for given, so its intervals are too narrow. Here, everything is
    repeated in bootstrap samples of the data, the bags: screening, tests, components and model. Inside a bag, the
    model learns from honest scores (``cross_fit`` and ``shrink_scores`` of the reduction) in one short chain. The
    draws of all bags together are the bagged posterior (Huggins and Miller, 2019). Each sample is left out of
    about a third of the bags, whose predictions of it are held-out predictions.

    Parameters
    ----------
    estimator : Pipeline
        ISPCA or SPCA, and a model such as HorseshoeClassifier behind it. Steps before are fitted once, to all
        samples. Features are scaled by their standard deviation over all samples.
    n_bags : int, default=50
        Number of bags.
    n_jobs : int or None, default=-1
        Worker processes. The result does not depend on it.
    resume : path, optional
        Directory in which finished bags are stored, to continue after an interruption.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bags, and of what happens in them.

    Attributes
    ----------
    pipeline_ : Pipeline
        What predicts: the steps before the reduction, the linear features of all bags, and a model with the pooled
        draws as its ``posterior_``, whose chains are bags. It is what model files contain.
    out_of_bag_ : recarray
        Predictions of each sample by the bags without it, with the columns of files. NaN for samples that are in
        all bags; samples of weight 0 have no row.
    frequency_ : ndarray of shape (n_features,)
        Fraction of the bags in which a supervised component chose the feature.
    n_supervised_ : ndarray of shape (n_bags,)
        Number of supervised components of each bag.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    J. H. Huggins and J. W. Miller (2019). Robust inference and model criticism using bagged posteriors.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import BaggedPosterior, HorseshoeClassifier, ISPCA
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(10, whiten=True), HorseshoeClassifier())
    >>> bagged = BaggedPosterior(model, n_bags=10, n_jobs=1, random_state=0).fit(data.data, data.target)
    >>> bagged.predict_interval(data.data[:2]).shape
    (2, 2, 2)
    >>> bagged.coefficients().dtype.names[:5]
    ('feature', 'target_class', 'per_sd', 'mean', 'sd')
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "estimator": [Pipeline],
        "n_bags": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
        "resume": "no_validation",  # type: ignore[dict-item]
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_bags: int = 50,
        n_jobs: int | None = -1,
        resume: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_bags = n_bags
        self.n_jobs = n_jobs
        self.resume = resume
        self.random_state = random_state

    @fit_context(skip_nested=False)
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, offset: Any = None, groups: Any = None) -> Self:
        """Fit the pipeline to bootstrap samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,), or events and times
            The target, as the model takes it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        offset : array-like of shape (n_samples,), optional
            Offsets of the linear predictor, for counts and survival times.
        groups : array-like of shape (n_samples,), optional
            Samples of a group, such as those of a patient, are drawn and held out together.

        Returns
        -------
        self : BaggedPosterior
            The fitted estimator.
        """
        parts = check_parts(self.estimator)
        before, X = fit_before(parts, X)
        seed = resumable_seed(self.random_state, self.resume)
        given = {"sample_weight": sample_weight, "offset": offset, "groups": groups}
        given["categories"] = getattr(parts.model, "categories", None)
        data = read_data(parts.reduction, parts.model.target, X, y, **given)
        bags = run_bags(parts.reduction, parts.model, data, self.n_bags, self.n_jobs, self.resume, seed)
        components = PooledComponents.of(data.columns, bags.basis, bags.bags)
        Z = components.project(data.samples.X)
        model = POOLED[data.target.name].of(bags, Z, data)
        self.pipeline_ = make_pipeline(*before, components, model)
        self.out_of_bag_ = out_of_bag_table(model, data)
        self.n_supervised_ = np.array([len(bag.ends) for bag in bags.bags])
        self.frequency_ = bags.frequency(len(data.columns.mean_))
        self._bag_components = bag_components(bags, Z, data)
        first = before[0] if before else components
        self.n_features_in_ = first.n_features_in_
        if hasattr(first, "feature_names_in_"):
            self.feature_names_in_ = first.feature_names_in_
        else:
            # Of an earlier fit.
            self.__dict__.pop("feature_names_in_", None)
        return self

    @property
    def model_(self) -> Any:
        """The model of all bags, which takes linear features."""
        return self.pipeline_[-1]

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, if the target consists of classes."""
        classes: np.ndarray = self.model_.classes_
        return classes

    def coefficients(self) -> ResultTable:
        """Return the coefficients of the original features, as `original_coefficients` does.

        Returns
        -------
        table : recarray
            One row per feature (and class) and for the intercept: the columns of `original_coefficients`, and
            ``frequency``, the fraction of the bags in which a supervised component chose the feature.
        """
        check_is_fitted(self)
        table = original_coefficients(self.pipeline_)
        names = take_apart(self.pipeline_).reduction_input_names()
        frequency = dict(zip(names, self.frequency_, strict=True))
        columns: dict[str, Any] = {name: table[name] for name in table.dtype.names or ()}
        columns["frequency"] = [frequency.get(name, np.nan) for name in table["feature"]]
        return as_table(columns)

    def stability(self, n_components: int = 2) -> Stability:
        """Return how often the first supervised components chose each feature, and how similar they are.

        The numbers are those of `ispca.validation.stability`, from the bags of this fit.

        Parameters
        ----------
        n_components : int, default=2
            Number of supervised components to examine, starting with the first.

        Returns
        -------
        result : Stability
            See its ``table`` and ``components``, and `ispca.plots.plot_stability`.
        """
        check_is_fitted(self)
        parts = take_apart(self.pipeline_)
        names = getattr(parts.reduction, "feature_names_in_", None)
        names = parts.reduction_input_names() if names is None else names
        return summarize(self._bag_components, [str(name) for name in names], n_components)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pipeline_")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        if isinstance(self.estimator, Pipeline):
            # The model takes dense components, whatever the features are.
            tags.input_tags = get_tags(self.estimator[:-1]).input_tags
        return tags

    predict = _delegate("predict")
    predict_proba = _delegate("predict_proba")
    predict_log_proba = _delegate("predict_log_proba")
    predict_interval = _delegate("predict_interval")
    predict_set = _delegate("predict_set")
    predict_draws = _delegate("predict_draws")
    predict_survival_function = _delegate("predict_survival_function")
    survival_curves = _delegate("survival_curves")
    median_survival = _delegate("median_survival")
    mean_interval = _delegate("mean_interval")
    log_predictive_density = _delegate("log_predictive_density")
    score = _delegate("score")


def out_of_bag_table(model: PooledModel, data: BagData) -> ResultTable:
    """Return the predictions of the samples by the bags without them, with the columns of files."""
    found = model.sharpen(model.out_of_bag_)
    if not data.target.has_classes:
        return as_table({"mean": found})
    value = np.where(np.isnan(found[:, 0]), 0, np.nan_to_num(found).argmax(axis=1))
    target = data.target if data.labels is None else replace(data.target, classes=data.labels)
    return as_table(target.predicted_columns(Prediction(value, found)))

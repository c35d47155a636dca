"""Fit the model of an analysis, cross-validate it, and fit what it is compared with."""

from __future__ import annotations

import warnings
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline

from ..bagging import BaggedPosterior
from ..bagging.pooled_models import POOLED
from ..containers.array_api import on_host
from ..data_checks import Finding
from ..data_checks.confounding import covariates_checked
from ..fitting.fit_and_predict import clone_with_seed, fit_timed
from ..foundation.messages import (
    DataWarning,
    Listener,
    NoFeatureWarning,
    PathEndWarning,
    RankWarning,
    SettingError,
    count,
)
from ..foundation.progress import expecting, waiting
from ..foundation.result_tables import ResultTable
from ..kernels.kernel_functions import DEFAULT, SCREENED
from ..models import MODELS
from ..models.coefficients import coefficients_by_column
from ..readers import Table
from ..reduction.threads import workers
from ..stacking import STACKS
from ..stacking.candidates import default_candidates, in_fold, kernel_method
from ..targets.samples import Samples
from ..transformers.ispca_transformer import ISPCA
from ..validation import (
    Comparison,
    compare_with_baselines,
    paper_methods,
    recommended_methods,
    verdict,
)
from ..validation.baseline_comparison import (
    COMBINED,
    COMPONENTS,
    KERNELS,
    candidates_of,
    covariate_gain,
    predictions_of,
    with_covariates,
)
from ..validation.left_out_verdict import left_out_verdict
from .large_data import bring_back, with_blocks
from .settings import METHODS, N_BAGS, Settings
from .table_checks import sample_options

N_COMPONENTS, N_COMPONENTS_MANY_CLASSES = 50, 20
# With more samples, or products of samples in all features, a first answer takes more than about a second; kernels
# of screened features take much longer than the others.
MOST_SAMPLES, MOST_PRODUCTS, MOST_SCREENED = 700, 1e10, 300


def methods_for(table: Table, settings: Settings, seed: int | None) -> dict[str, Any]:
    """Return the methods for the target of a table, with the recommended settings or those of the paper."""
    target = table.target_kind
    model = MODELS[target.name](n_draws=max(settings.draws, 4), n_warmup=settings.draws, random_state=seed)
    many = target.unordered and len(table.class_counts) > 2
    default = N_COMPONENTS_MANY_CLASSES if many else N_COMPONENTS
    options: dict[str, Any] = {
        "n_components": settings.components or default,
        "model": model,
        "random_state": seed,
    }
    if not settings.paper:
        return adjust_methods(table, recommended_methods(kind=target.name, **options))
    if not target.plain:
        raise SettingError(f"The paper has no methods for ⟦kind={target.name}⟧.", "⟦Leave out paper⟧.")
    return adjust_methods(table, paper_methods(regression=target.numeric, **options))


def adjust_methods(table: Table, methods: dict[str, Any]) -> dict[str, Any]:
    """Adjust reductions for the covariates, and give these to the models without a penalty."""
    columns = list(range(-table.n_covariate_columns, 0))
    if columns:
        for name, method in methods.items():
            if isinstance(method, Pipeline):
                method[0].set_params(adjust=columns, keep_adjusted=True)
                method[-1].set_params(unpenalized=columns)
            elif name == KERNELS:
                with_covariates(method, columns)
    return methods


def choose_method(table: Table, settings: Settings) -> Pipeline:
    """Return the pipeline that the settings ask for."""
    methods = methods_for(table, settings, settings.seed)
    if settings.method not in methods:
        known = ", ".join(name for name in METHODS if name in methods)
        problem = f"⟦method={settings.method}⟧ does not apply to this kind of target."
        raise SettingError(f"{problem} Choose from {known}.")
    pipeline, permutations = methods[settings.method], settings.permutations
    # Only ISPCA has single decisions that "auto" can make safe.
    if permutations is not None and (isinstance(pipeline[0], ISPCA) or permutations != "auto"):
        pipeline[0].set_params(n_permutations=permutations)
    return with_blocks(pipeline, table, settings)


def fit_model(table: Table, pipeline: Pipeline, X: Any) -> tuple[Pipeline, np.ndarray]:
    """Return the pipeline, fitted to the X of the table where it is, and the scores of the samples."""
    reduction, options = pipeline[0], sample_options(table)
    with warnings.catch_warnings():
        # Their advice is for single estimators; `describe_fit` gives that for an analysis.
        for category in (RankWarning, ConvergenceWarning):
            warnings.filterwarnings("ignore", category=category)
        # `examine_columns` has done it.
        with waiting("Finding components"), covariates_checked():
            scores = on_host(reduction.fit_transform(X, table.target, **options))
            bring_back(reduction)
        options.pop("groups", None)
        with waiting("Sampling the posterior"):
            pipeline[1].fit(scores, table.target, **options)
    reduction.feature_names_in_ = table.features
    return pipeline, scores


def number_of_bags(table: Table, settings: Settings) -> int:
    """Return how many bags to fit; 0 by default where bags are impossible, or not those of the paper."""
    known = table.kind in POOLED
    if settings.bags is None:
        return N_BAGS if known and not table.in_blocks and not settings.paper else 0
    if settings.bags and not known:
        raise SettingError("⟦bags⟧ does not apply to this kind of target.", "⟦Pass bags=0⟧.")
    if settings.bags and table.in_blocks:
        raise SettingError("⟦bags⟧ needs data in memory, but they are read in blocks.", "⟦Pass bags=0⟧.")
    return settings.bags


def fit_bags(
    table: Table, pipeline: Pipeline, n_bags: int, seed: int | None, listener: Listener
) -> BaggedPosterior | None:
    """Return the bagged posterior of the method, from which intervals come; None without bags."""
    if not n_bags:
        return None
    reduction, model = clone(pipeline[0]), clone(pipeline[1])
    if isinstance(reduction, ISPCA):
        reduction.set_params(test="residual")
    bagged = BaggedPosterior(make_pipeline(reduction, model), n_bags=n_bags, random_state=seed)
    try:
        with covariates_checked():
            bagged.fit(table.X, table.target, **sample_options(table))
    except ValueError as error:
        problem = f"The bags could not be fitted, so intervals take the components for given. {error}"
        listener.note(problem, ConvergenceWarning)
        return None
    bagged.pipeline_[0].feature_names_in_ = table.features
    return bagged


def posterior_coefficients(table: Table, model: Pipeline, bagged: BaggedPosterior | None) -> ResultTable:
    """Return the coefficients by column, from the bags if there are some.

    Those of covariates then have no intervals, because the coverage of these has not been measured.
    """
    if bagged is None:
        return coefficients_by_column(model)
    found = coefficients_by_column(bagged)
    # The intercept of each class comes first, and covariates last.
    covariates = np.arange(len(found)) % (len(table.features) + 1) > table.n_features
    for name in ("sd", "q5", "q95", "p_sign"):
        found[name][covariates] = np.nan
    return found


def first_answer(table: Table) -> str | None:
    """Return the verdict on kernels; None where it takes more than about a second."""
    n_samples = len(table.ids)
    large = n_samples > MOST_SAMPLES or n_samples**2 * len(table.features) > MOST_PRODUCTS
    if table.in_blocks or large or table.kind not in STACKS:
        return None
    method = clone_with_seed(in_fold(kernel_method(str(table.kind))), 0)
    kernels = method[0] if isinstance(method, Pipeline) else method
    kernels.set_params(kernels=[name for name in DEFAULT if name not in SCREENED or n_samples <= MOST_SCREENED])
    with_covariates(method, list(range(table.n_features, len(table.features))))
    samples = Samples(table.X, table.target, table.groups, table.weights, table.offset)
    # What is wrong with the samples is said by the fit.
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        return f"First answer, by kernels: {left_out_verdict(method, samples, table.target_kind)}"
    return None


def cross_validate(
    table: Table, X: Any, model: Any, settings: Settings, seconds: float | None
) -> tuple[Comparison | None, dict[str, Any] | None]:
    """Return the comparison with the baselines and the verdict; None without folds.

    ``X`` is that of the table, where reductions are fitted. ``seconds`` is the time of the fit to all samples,
    None if it is not fitted yet.
    """
    if not settings.cv:
        return None, None
    options = sample_options(table)
    n_jobs = -1
    if table.in_blocks or X is not table.X:
        # Each process would use as much memory as all may, and none can use an array on a device.
        n_jobs = 1
    folds: dict[str, Any] = {
        "kind": table.kind,
        "cv": settings.cv,
        "n_jobs": n_jobs,
        "random_state": settings.seed,
    }
    with ExitStack() as context:
        if n_jobs == 1:
            # A single process runs its fits on all threads.
            context.enter_context(workers())
        if seconds is not None:
            # The chains are shorter than those of the fit to all samples, but the lasso is fitted, too.
            context.enter_context(expecting(seconds * -(-settings.cv // effective_n_jobs(n_jobs))))
        columns = range(table.n_features, len(table.features))
        validation = compare_with_baselines(
            model,
            X,
            table.target,
            **options,
            **folds,
            covariates=columns,
            combine=not table.in_blocks and table.kind in STACKS,
        )
    judgment, names = verdict(validation), list(table.covariates)
    for found, method in ((judgment, None), (judgment["components"], COMPONENTS)):
        gain = None if found is None else covariate_gain(validation, names, method)
        if gain is not None:
            found["covariate_gain"] = gain
    return validation, judgment


def find_unfitted(validation: Comparison | None) -> list[Finding]:
    """Return a finding if the model could not be fitted in any fold, which says nothing about predictions."""
    if validation is None or validation.n_failed(COMPONENTS) < len(validation.splits):
        return []
    sizes = sorted({len(split.train) for split in validation.splits})
    samples = " or ".join([*map(str, sizes[:-1]), count(sizes[-1], "sample")])
    tried = f"No fold could be fitted, because the training parts have only {samples}"
    return [Finding("small_class", f"{tried}. So nothing is known about predictions of new samples: add samples.")]


def fit_combined(table: Table, model: Pipeline, validation: Comparison | None, settings: Settings) -> Any:
    """Return the mixture of the fitted model, kernels, the lasso and the base rate, fitted to all samples.

    Its weights come from the predictions of the cross-validation; None if there is nothing to mix.
    """
    if validation is None or COMBINED not in validation.methods:
        return None
    names, kind, options = candidates_of(validation), str(table.kind), sample_options(table)
    n_classes = len(table.class_counts) if table.target_kind.unordered else 2
    candidates = dict(default_candidates(kind, n_classes))
    covariates = list(range(table.n_features, len(table.features)))
    fitted: dict[str, Any] = {}
    with warnings.catch_warnings(), waiting("Combining methods"):
        # Whatever happens to a candidate lowers its weight.
        for category in (RankWarning, ConvergenceWarning, DataWarning, NoFeatureWarning, PathEndWarning):
            warnings.filterwarnings("ignore", category=category)
        for name in names:
            if name == COMPONENTS:
                fitted[name] = model
                continue
            item = with_covariates(candidates[name], covariates) if name == KERNELS else candidates[name]
            fitted[name] = clone_with_seed(item, settings.seed)
            fit_timed(fitted[name], Samples(table.X, table.target, table.groups, **_without_groups(options)))
        samples = Samples(table.X, table.target, None, **_without_groups(options))
        combined = STACKS[kind](fitted, random_state=settings.seed)
        combined.combine(fitted, samples, validation.splits, predictions_of(validation, names))
    combined.feature_names_in_ = table.features
    return combined


def _without_groups(options: dict[str, Any]) -> dict[str, Any]:
    return {name: values for name, values in options.items() if name != "groups"}


def without_adjustment(table: Table, X: Any, reduction: Any) -> Any:
    """Return the supervised components of ISPCA without the covariates, or None if there is nothing to compare."""
    if not table.covariates or not isinstance(reduction, ISPCA) or not reduction.steps_:
        return None
    plain = {"adjust": None, "keep_adjusted": False, "exclude": reduction.adjust}
    other = clone(reduction).set_params(**plain, n_components=None, cross_fit=None, shrink_scores=False)
    with warnings.catch_warnings(), waiting("Searching without adjustment"):
        warnings.filterwarnings("ignore", category=NoFeatureWarning)
        other.fit(X, table.target, **sample_options(table))
        bring_back(other)
        return other


def describe_fit(model: Pipeline, n_components: int | None, listener: Listener) -> None:
    """Tell what to know about a fit; the default number of components need not be reached."""
    found, diagnostics = model[0].n_components_, model[1].diagnostics_
    if n_components is not None and found < n_components:
        asked = listener.words(f"⟦components={n_components}⟧")
        listener.note(f"{asked} exceeds the rank of the data: the model has {found}.", RankWarning)
    if not diagnostics.converged:
        advice = listener.words("raise ⟦draws⟧, lower ⟦components⟧, or try another ⟦seed⟧.")
        problem = f"{diagnostics.summary} Do not rely on this posterior"
        listener.note(f"{problem}: {advice}", ConvergenceWarning)

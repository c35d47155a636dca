"""Analyze a table: check it, fit the model, cross-validate it, and evaluate it on other samples."""

from __future__ import annotations

import time
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..data_checks import Finding
from ..data_checks.small_class import find_borderline, limit_folds
from ..foundation.block_settings import limited_threads
from ..foundation.messages import Listener, SettingError, listing
from ..foundation.progress import announce, is_shown, silence, waiting
from ..foundation.result_tables import as_table
from ..readers import Table, TableError
from .analysis import THE_MODEL, Analysis
from .data_file import read_data
from .data_in_memory import are_names, make_table, new_table
from .feature_frequency import feature_frequency, find_weak_signal
from .feature_significance import feature_significance
from .fitting import (
    choose_method,
    cross_validate,
    describe_fit,
    find_unfitted,
    first_answer,
    fit_bags,
    fit_combined,
    fit_model,
    number_of_bags,
    posterior_coefficients,
    without_adjustment,
)
from .large_data import check_device, check_large, on_device
from .model_loading import describe_data
from .new_samples import read_new, reduce_in_blocks
from .predictions import evaluate, match_and_recognize, pooled_model, target_columns
from .result_files import coefficient_table, model_details
from .settings import OPTIONS, Settings, check_for_files, check_names
from .table_checks import check_table, examine_columns, tell
from .training_record import RECORD, fold_predictions, training_record


def analyze(
    X: Any,
    y: Any = None,
    *,
    covariates: Any = None,
    groups: Any = None,
    weights: Any = None,
    offset: Any = None,
    test: Any = None,
    random_state: int = 0,
    **settings: Any,
) -> Analysis:
    """Analyze data: find components related to the target, fit a Bayesian model, and cross-validate it.

    This is what ``ispca fit`` does. Warnings about the data are `ispca.DataWarning`. On a terminal, a first
    answer, that of kernels, is shown while the rest is still running.

    Parameters
    ----------
    X : array, sparse matrix, data frame, AnnData object, or path
        Samples in rows, features in columns, or a data file. Columns of text in a data frame are left out.
    y : array-like or str, optional
        The target: classes, numbers, or events and times; or the name of its column in the data frame, in ``obs``
        or in the file.
    covariates : str, list of str, array or data frame, optional
        What to adjust for: names of columns, or values.
    groups, weights, offset : str or array-like, optional
        Samples to keep together, how much each counts, and for counts the logarithm of the exposure.
    test : path, data frame, or tuple of X, y, covariates and offset, optional
        Samples on which to evaluate the model; covariates and offset only if there are some.
    random_state : int, default=0
        Random seed.
    **settings
        Other fields of `ispca.Settings`, such as ``cv``, ``components``, ``method``, ``missing`` or, for files,
        ``samples``, ``target`` and ``transpose``.

    Returns
    -------
    analysis : Analysis
        The model and what was found.

    Examples
    --------
    >>> import ispca
    >>> data = ispca.datasets.make_expression(n_samples=60, n_features=200, signal=2.0, random_state=0)
    >>> analysis = ispca.analyze(data.data, data.target, components=3, draws=100, cv=2)
    >>> analysis.verdict["sentence"][:52], len(analysis.held_out)
    ('98% of held-out samples are classified correctly (95', 60)
    >>> analysis.features["feature"].tolist()[:1], len(analysis.predict(data.data[:5]))
    (['x174'], 5)
    """
    listener = Listener()
    listener.on_terminal = is_shown()
    check_names(settings, "analyze", [name for name in OPTIONS if name not in ("data", "seed")])
    if y is not None and settings.get("target") is not None:
        raise SettingError("y takes the place of ⟦target⟧. Leave out one of them.")
    pair = None
    if test is not None and not isinstance(test, str | PathLike):
        pair = tuple(test) if isinstance(test, tuple | list) else (test,)
        if not 1 <= len(pair) <= 4:
            raise SettingError(f"⟦test⟧ must be X, y, covariates and offset, got {len(pair)} items.")
    given = Settings(test=test if pair is None else None, seed=random_state, **settings)
    check_device(given)
    with silence(), limited_threads(given.threads):
        columns = {"groups": groups, "weights": weights, "offset": offset, "covariates": covariates}
        if isinstance(X, str | PathLike):
            target = given.target if y is None else y
            given = replace(given, data=Path(X), target=target, **columns)
            table = read_data(given)
        else:
            check_for_files(given)
            given, table = make_table(X, y, given, **columns)
        named = {"y": y, **columns, "covariates": None if are_names(covariates) else covariates, "test": pair}
        values = tuple(name for name, item in named.items() if item is not None and not isinstance(item, str))
        return replace(analyze_table(table, given, listener, pair), values=values)


def analyze_table(table: Table, settings: Settings, listener: Listener, pair: Any = None) -> Analysis:
    """Return the analysis of a table; a ``pair`` of X and y in memory is a test set."""
    table, confounding = examine_columns(table, settings, listener)
    listener.notes(check_large(table, settings))
    n_bags = number_of_bags(table, settings)
    folds, few = limit_folds(table.target, str(table.kind), settings.cv, table.groups)
    findings = check_table(table, listener, few, settings.transform)
    settings = replace(settings, cv=folds)
    pipeline, details = choose_method(table, settings), model_details(table, settings)
    test = read_test(settings, table, details, listener, pair)
    first = first_answer(table) if settings.cv else None
    if first is not None:
        announce(first, listener.on_terminal)
    began = time.perf_counter()
    X = on_device(table.X, settings.device)
    model, scores = fit_model(table, pipeline, X)
    describe_fit(model, settings.components, listener)
    borderline = find_borderline(model[0].steps_, getattr(model[0], "alpha", None))
    tell(borderline, listener)
    validation, judgment = cross_validate(table, X, model, settings, time.perf_counter() - began)
    unfitted = find_unfitted(validation)
    if unfitted:
        validation, judgment, settings = None, None, replace(settings, cv=0)
        tell(unfitted, listener)
    combined = fit_combined(table, model, validation, settings)
    predictor = model if combined is None else combined
    bagged = fit_bags(table, pipeline, n_bags, settings.seed, listener)
    tested, copies = evaluate_test(test, (predictor, bagged), details, table, listener)
    significance = feature_significance(table, settings.seed)
    posterior = posterior_coefficients(table, model, bagged)
    names = model[0].get_feature_names_out()
    return Analysis(
        settings,
        model,
        as_table({"id": table.ids, **dict(zip(names, scores.T, strict=True))}),
        coefficient_table(model, table, posterior, significance, feature_frequency(bagged, table)),
        None if validation is None else fold_predictions(validation, table),
        judgment,
        (*findings, *borderline, *unfitted, *copies, *tell(find_weak_signal(bagged), listener)),
        tested,
        tuple(table.notes),
        details,
        table=table,
        validation=validation,
        combined=combined,
        bagged=bagged,
        unadjusted=without_adjustment(table, X, model[0]),
        confounding=confounding,
        posterior_table=posterior,
        first_answer=first,
    )


def read_test(
    settings: Settings, training: Table, details: dict[str, Any], listener: Listener, pair: Any
) -> tuple[Table, Settings] | None:
    """Read the test samples, if there are some; they need a target, which is checked before the fit."""
    if settings.test is None and pair is None:
        return None
    of_test = replace(settings, data=settings.test, test=None)
    columns, description = target_columns(details), describe_data(details, THE_MODEL)
    names = tuple(map(str, training.features))
    if pair is None:
        table = read_new(of_test, names, description, columns)
    else:
        table = new_table(pair[0], names, description, columns, *pair[1:])
    absent = [name for name in columns if name not in table.sheet]
    if absent:
        problem = f"{of_test.data_name} (⟦test⟧) does not contain the target"
        raise TableError(f"{problem}: it has no column {listing(absent)}.")
    listener.notes(f"{of_test.data_name}: {listener.words(note)}" for note in [*table.notes, *table.substitutes])
    return table, of_test


def evaluate_test(
    test: tuple[Table, Settings] | None,
    predictors: tuple[Any, Any],
    details: dict[str, Any],
    training: Table,
    listener: Listener,
) -> tuple[dict[str, Any] | None, list[Finding]]:
    """Return the evaluation of a model and its bags on test samples, and a finding on training samples."""
    if test is None:
        return None, []
    (table, settings), (model, bagged) = test, predictors
    where, findings = settings.data_name, []
    record = details | {RECORD: training_record(training)}
    samples, known = match_and_recognize(model, record, THE_MODEL, table, settings, listener)
    if known is not None:
        copies, namesakes = known.texts(table.ids[samples.kept], where)
        if copies:
            findings = [Finding("duplicates", copies, tuple(np.flatnonzero(known.seen).tolist()))]
            tell(findings, listener)
        listener.notes([namesakes] if namesakes else [])
    with waiting("Predicting"):
        pooled = pooled_model(bagged, samples.X)
        model, X = reduce_in_blocks(model, samples.X)
        seen = None if known is None else known.seen
        found, notes = evaluate(model, X, table, samples.kept, details, where, seen, pooled)
    listener.notes(notes)
    return found, findings

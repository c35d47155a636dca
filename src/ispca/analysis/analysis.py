"""A finished analysis: what was found, predictions of new samples, and its report and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..data_checks import Finding
from ..fitted_parts import take_apart
from ..foundation.messages import NO_COMBINED, PREDICTORS, Listener, SettingError, count
from ..foundation.output_folder import output_folder
from ..foundation.progress import silence
from ..foundation.result_tables import ResultTable, as_table
from ..readers import Table
from ..selection import ProjectionSelector
from ..validation import Comparison
from ..validation.baseline_comparison import COMBINED, COMPONENTS
from .data_in_memory import new_table
from .feature_labels import shown_names
from .file_names import FILES, REPORTS
from .method_comparison import compare_on_table
from .model_loading import describe_data
from .new_samples import read_new
from .notebook_page import notebook_page
from .panel_selection import feature_places, select_on_table
from .predictions import predict_table, target_columns
from .result_files import (
    feature_table,
    write_analysis_report,
    write_files,
)
from .settings import OF_FILES, Settings, check_for_files, check_names
from .training_record import RECORD, training_record, with_held_out

# What messages call the model.
THE_MODEL = "The model"


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What `ispca.analyze` has found.

    Attributes
    ----------
    settings : Settings
        The settings of the analysis, with the number of folds that was possible.
    model : Pipeline
        The interpretable components and the model on them, fitted to all samples.
    scores : ResultTable
        The components of the samples.
    coefficients : ResultTable
        The coefficients of the original features: intercepts first, then by effect per standard deviation. With
        them, the ``p`` and ``q`` of each feature alone, the ``frequency`` with which the bags chose it, and the
        ``error_rate`` of the features at least as frequent, which are NaN for intercepts and covariates.
    held_out : ResultTable or None
        What was predicted for each sample while it was held out; None without cross-validation.
    verdict : dict or None
        Held-out performance in one ``sentence``, and in numbers; None without cross-validation.
    findings : tuple of Finding
        What may make results misleading, each with a ``kind`` and a ``sentence``.
    test : dict or None
        The evaluation on other samples, if there are some.
    notes : tuple of str
        One sentence for each assumption and each omission.
    table : Table or None
        The data; None if the analysis was loaded.
    validation : Comparison or None
        Cross-validation of the model and of its baselines.
    combined : estimator or None
        The mixture of the model, kernels, the lasso and the base rate, which `predict` and `evaluate` use; None
        without cross-validation.
    bagged : BaggedPosterior or None
        The posterior of components and model averaged over bootstrap samples, from which the intervals come; None
        without bags, where intervals take the components for given.
    unadjusted : ISPCA or None
        The components without adjustment for the covariates.
    confounding : sequence of str
        Warnings about covariates that nearly determine the target.
    details : dict
        What a model file says about the data of the fit.
    posterior_table : ResultTable or None
        The coefficients of the model by column.
    model_details : dict
        Of a loaded analysis: what each model file says.
    first_answer : str or None
        How well kernels predict samples that are left out, which is known before any other fit; None without
        cross-validation and for large data.
    values : tuple of str
        Which arguments of `analyze` were data in memory, not names of columns or files.
    """

    settings: Settings
    model: Any
    scores: ResultTable
    coefficients: ResultTable
    held_out: ResultTable | None
    verdict: Mapping[str, Any] | None
    findings: Sequence[Finding]
    test: Mapping[str, Any] | None
    notes: Sequence[str]
    details: dict[str, Any]
    table: Table | None = None
    validation: Comparison | None = None
    combined: Any = None
    bagged: Any = None
    unadjusted: Any = None
    confounding: Sequence[str] = ()
    posterior_table: Any = None
    model_details: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    first_answer: str | None = None
    values: tuple[str, ...] = ()

    @property
    def data(self) -> Table:
        """The data, if the analysis has them."""
        if self.table is None:
            raise ValueError(
                "This analysis was loaded from files, which do not contain its data. Call ispca.analyze again."
            )
        return self.table

    @property
    def score_values(self) -> np.ndarray:
        """The components of the samples as an array."""
        names = (self.scores.dtype.names or ())[1:]
        return np.column_stack([self.scores[name] for name in names])

    @property
    def n_intercepts(self) -> int:
        """How many of the first coefficients are intercepts."""
        return len(self.coefficients) // (self.model[0].n_features_in_ + 1)

    @property
    def n_bags(self) -> int:
        """How many bags the intervals come from; 0 without bags."""
        return 0 if self.bagged is None else len(take_apart(self.bagged).model.left_out_)

    @cached_property
    def features(self) -> ResultTable:
        """The coefficients of the features, their labels, and which of them lead."""
        names = tuple(map(str, self.model[0].feature_names_in_))
        covariates = np.array(names)[describe_data(self.details, THE_MODEL).covariates(names)].tolist()
        shown = {} if self.table is None else shown_names(self.table)
        return feature_table(self.coefficients, self.n_intercepts, set(covariates), shown)

    def predict(
        self,
        X: Any,
        *,
        model: str | None = None,
        covariates: Any = None,
        offset: Any = None,
        missing: str = "error",
        **options: Any,
    ) -> ResultTable:
        """Predict new samples.

        Parameters
        ----------
        X : array, sparse matrix, data frame, AnnData object or path
            New samples. Columns with names may be in any order; arrays have the features of the analysis in their
            order. A path is that of a data file.
        model : {"combined", "components"}, optional
            Whether the combined prediction or the components alone predict; by default the combined prediction, if
            there is one.
        covariates, offset : array-like, optional
            Those of the samples, if the analysis has some and they are not columns of X.
        missing : {"error", "mean", "rows"}, default="error"
            Treatment of missing values: an error, the means of the training data, or leaving out the samples.
        **options
            Settings for files, such as ``samples`` and ``transpose``.

        Returns
        -------
        predictions : ResultTable
            The columns that ``ispca predict`` writes. Training samples have their held-out predictions.
        """
        return as_table(self._predict(X, None, model, covariates, offset, missing, options)[0])

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        model: str | None = None,
        covariates: Any = None,
        offset: Any = None,
        missing: str = "error",
        **options: Any,
    ) -> dict[str, Any]:
        """Evaluate predictions of samples whose target is known.

        Parameters
        ----------
        X, model, covariates, offset, missing, **options
            As in `predict`.
        y : array-like or str, optional
            The target, or the name of its column in X; by default that of the analysis.

        Returns
        -------
        evaluation : dict
            Measures with their 95% ``intervals``, and for classes the ``confusion`` matrix and the
            ``misclassified`` samples. With bags, also the fraction of prediction sets that contain the class,
            ``set_coverage``, and their mean number of classes, ``set_size``. Training samples are left out.
        """
        _, found, heard = self._predict(X, y, model, covariates, offset, missing, options)
        if found is None:
            reasons = heard or ["The target is unknown, or all are training samples."]
            raise ValueError(" ".join(["No sample can be evaluated.", *reasons]))
        return found

    def _predict(
        self,
        X: Any,
        y: Any,
        model: str | None,
        covariates: Any,
        offset: Any,
        missing: str,
        options: Mapping[str, Any],
    ) -> tuple[dict[str, Any], dict[str, Any] | None, list[str]]:
        check_names(options, "predict", [*OF_FILES, "memory"])
        method, predictor = self._predictor(model)
        if missing == "columns":
            raise SettingError("⟦missing=columns⟧ is for fits. ⟦Pass missing=mean|rows⟧.")
        description = describe_data(self.details, THE_MODEL)
        names = tuple(map(str, self.model[0].feature_names_in_))
        targets = target_columns(self.details)
        with silence():
            if isinstance(X, str | PathLike):
                if any(given is not None for given in (y, covariates, offset)):
                    raise ValueError("y, covariates and offset of a file must be columns of it, or of samples.")
                settings = Settings(data=Path(X), missing=missing, **options)
                table = read_new(settings, names, description, targets)
            else:
                settings = Settings(missing=missing, **options)
                check_for_files(settings)
                table = new_table(X, names, description, targets, y, covariates, offset)
            details, listener = self.details_of(method), Listener()
            found = predict_table(predictor, details, THE_MODEL, table, settings, listener, self.bagged)
            return *found, listener.heard

    def _predictor(self, name: str | None) -> tuple[str, Any]:
        """Return the method that predicts, by its name in the cross-validation, and its estimator."""
        if name not in (None, *PREDICTORS):
            raise SettingError(f"⟦model⟧ must be one of {', '.join(PREDICTORS)}, got {name!r}.")
        if name == "combined" and self.combined is None:
            raise SettingError(NO_COMBINED)
        chosen = name == "components" or self.combined is None
        return (COMPONENTS, self.model) if chosen else (COMBINED, self.combined)

    def details_of(self, method: str) -> dict[str, Any]:
        """Return what the model file of a method says about the data, with hashes of the training samples."""
        if self.table is None:
            return self.model_details[method]
        return self.details | {RECORD: with_held_out(self._hashes, self.validation, method, self.table)}

    _hashes = cached_property(lambda self: training_record(self.data))

    def select(self, **options: Any) -> ProjectionSelector:
        """Find the few features that predict as well as the combined prediction.

        Parameters
        ----------
        **options
            ``size``, ``max_size``, ``folds`` and ``draws``, as in ``ispca select``, and ``always`` and ``never``:
            names of features.

        Returns
        -------
        selector : ProjectionSelector
            The fitted selector; ``message_`` says which size suffices, and ``path_`` has all sizes.
        """
        table = self.data
        options |= {role: feature_places(options[role], table) for role in ("always", "never") if role in options}
        with silence():
            return select_on_table(self._predictor(None)[1], table, self.settings, **options)

    def compare(self, methods: Sequence[str] | None = None, n_splits: int = 50, n_jobs: int = -1) -> Comparison:
        """Compare methods in random splits of the samples.

        Parameters
        ----------
        methods : sequence of str, optional
            Names of methods, such as "ISPCA" and "lasso"; by default all that apply to the target.
        n_splits : int, default=50
            Number of splits.
        n_jobs : int, default=-1
            Number of processes; -1 for all cores.

        Returns
        -------
        comparison : Comparison
            The measures of all methods.
        """
        with silence():
            chosen = [methods] if isinstance(methods, str) else methods
            return compare_on_table(self.data, self.settings, Listener(), chosen, n_splits, n_jobs)

    def report(self, path: Any = "report.html", format: str | None = None, *, force: bool = False) -> Path:
        """Write the report.

        Parameters
        ----------
        path : path, default="report.html"
            A new file.
        format : {"html", "markdown", "json"}, optional
            Format of the report, by default that of the extension of the path.
        force : bool, default=False
            Whether to replace an existing file.

        Returns
        -------
        path : Path
        """
        path = Path(path)
        if path.exists() and not force:
            raise SettingError(f"{path} already exists. Choose another path, or replace it with ⟦force=True⟧.")
        return write_analysis_report(self, path, format, Listener())

    def save(self, folder: Any, *, force: bool = False, format: str = "html") -> Path:
        """Write the files of ``ispca fit`` to a folder.

        Parameters
        ----------
        folder : path
            A new or empty folder.
        force : bool, default=False
            Whether to replace earlier results in the folder.
        format : {"html", "markdown", "json"}, default="html"
            Format of the report.

        Returns
        -------
        folder : Path
        """
        self.data  # noqa: B018  refuses an analysis without data
        if format not in REPORTS:
            raise SettingError(f"⟦format⟧ must be one of {', '.join(REPORTS)}, got {format!r}.")
        with silence(), output_folder(Path(folder), force, FILES) as temporary:
            write_files(temporary, self, format, Listener())
        return Path(folder)

    def __repr__(self) -> str:
        reduction, details = self.model[0], self.details
        found = count(reduction.n_supervised_, "supervised component")
        features = int(reduction.n_features_in_) - sum(
            describe_data(details, THE_MODEL).covariates(tuple(map(str, reduction.feature_names_in_)))
        )
        size = f"{count(details['n_samples'], 'sample')}, {count(features, 'feature')}, {found}"
        verdict = "Not cross-validated." if self.verdict is None else self.verdict["sentence"]
        return f"<Analysis of {details['target']!r}: {size}. {verdict}>"

    def _repr_html_(self) -> str:
        return notebook_page(self)

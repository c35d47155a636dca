"""What a selector tells about the panels it found: submodels, coefficients, exchanges and the selected columns."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.messages import suggestion
from ..foundation.result_tables import ResultTable, as_table
from ..inputs.checks import known_names
from ..models.coefficients import coefficients_by_column
from ..plots.comparison_and_panel import plot_panel
from .search import Exchange, SearchPath, alternatives_table, columns, exchanges
from .selection_data import Data
from .submodels_and_panels import FeaturePanel, find_submodel
from .suggestion import Differences, paired_differences, weighted_mean
from .validated_path import HeldOutPaths, Search, Searcher, submodel_prediction, training_density


class PanelResults(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Base class of the selector: everything that follows from a search."""

    panels_: list[Indices]
    n_features_: int
    validated_: bool
    path_: ResultTable
    reference_: Any
    _data: Data
    _values: Any
    _searcher: Searcher
    _found: Search
    _held_out: HeldOutPaths | None

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
        chosen, names, X = self.panels_[self._check_size(size)], known_names(self), self._data.samples.X
        panel = FeaturePanel(names[chosen] if hasattr(X, "columns") and names is not None else chosen).fit(X)
        model = find_submodel(self._data.target)()
        model.fit(columns(self._values, chosen), self._found.draws, classes=self._data.labels)
        if names is not None:
            # Names that X does not have are those of the reference.
            panel.feature_names_in_ = names
            # Tables without columns have no names that later ones could be compared with.
            if len(chosen):
                model.feature_names_in_ = names[chosen]
        return Pipeline([("panel", panel), ("model", model)])

    def panel(self, size: int | None = None) -> ResultTable:
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
        chosen, names = self.panels_[self._check_size(size)], self._names()
        unknown = np.full(len(chosen), np.nan)
        fractions = unknown if self._held_out is None else self._held_out.fractions(chosen)
        return panel_table(self.submodel(len(chosen)), [names[feature] for feature in chosen], fractions)

    def alternatives(self, feature: Any, size: int | None = None) -> ResultTable:
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
        size = self._check_size(size)
        panel, names = self.panels_[size], self._names()
        known = [names[place] for place in panel]
        chosen = names[int(feature)] if isinstance(feature, Integral) else str(feature)
        if chosen not in known:
            advice = suggestion(chosen, known) if known else "It has no features."
            raise ValueError(f"{feature!r} is not in the submodel of size {size}. {advice}")
        found = self._exchanges(size, [known.index(chosen)])
        return alternatives_table(found[0], self._error(size), names)

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

    def _exchanges(self, size: int, places: Sequence[int]) -> list[Exchange]:
        """Return the exchanges of some features in the submodel of a size."""
        never = self._searcher.settings.never
        return exchanges(self._values, self._found.clusters, self.panels_[size], places, never)

    def _error(self, size: int) -> float:
        """Return the standard error of the difference from the reference; of training samples if not validated."""
        if self.validated_:
            return float(self.path_.difference_error[size])
        samples, target, _ = self._data
        part = columns(self._values, self.panels_[size])
        density = submodel_prediction((part, part), self._found.draws, samples, target, target.classes).log_density
        expected = training_density(self.reference_, samples, target)
        return float(paired_differences(np.asarray(density)[None], expected, samples.sample_weight).error[0])

    def _check_size(self, size: int | None) -> int:
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


def path_table(
    path: SearchPath,
    names: Sequence[str],
    costs: Floats | None,
    validation: tuple[HeldOutPaths, Differences, Floats | None] | None,
) -> ResultTable:
    """Return one row per size; ``validation`` has the held-out densities, differences and sample weights."""
    sets = path.sets
    before = (sets[0], *sets[:-1])
    table: dict[str, Any] = {
        "size": np.arange(len(sets)),
        "feature": _only_in(sets, before, names),
        "dropped": _only_in(before, sets, names),
        "divergence": path.divergence,
    }
    if validation is not None:
        held_out, differences, weight = validation
        table["density"] = weighted_mean(held_out.log_density[: len(sets)], weight)
        table["difference"], table["difference_error"] = differences
        table |= {name: values[: len(sets)] for name, values in held_out.measures.items()}
        table["fraction"] = np.array([np.nan, *(held_out.fractions(chosen).mean() for chosen in sets[1:])])
    if costs is not None:
        table["cost"] = np.array([costs[chosen].sum() for chosen in sets])
    return as_table(table)


def _only_in(sets: Sequence[Indices], others: Sequence[Indices], names: Sequence[str]) -> np.ndarray:
    """Return the names of the features that are in each set but not in the other one, joined by commas."""
    texts = [
        ", ".join(names[feature] for feature in chosen if feature not in other)
        for chosen, other in zip(sets, others, strict=True)
    ]
    return np.array(texts, dtype=np.str_)


def panel_table(submodel: Pipeline, names: Sequence[str], fractions: Floats) -> ResultTable:
    """Return one row per feature of a submodel, and class if there are several, with its coefficient."""
    coefficients = coefficients_by_column(submodel[-1])
    size = len(fractions)
    # Every class starts with its intercept.
    rows = coefficients[np.arange(len(coefficients)) % (size + 1) > 0]
    n_classes = len(rows) // size if size else 0
    # The last step of a submodel for arrays does not know names.
    table: dict[str, Any] = {"feature": np.tile(np.array(names, dtype=np.str_), n_classes)}
    table |= {name: rows[name] for name in ("target_class", "mean", "sd", "q5", "q95", "p_sign")}
    table["fraction"] = np.tile(fractions, n_classes)
    return as_table(table)

"""X as a reduction sees it: covariates found, their categories as indicators, missing values filled."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..containers import ColumnSource, wrap_container
from ..data_checks.confounding import check_confounding
from ..families import Family
from ..foundation.arrays import DROP_OR_FILL, IMPUTE, Floats, Indices, Mask
from ..foundation.messages import listing
from ..foundation.parameters import column_mask
from ..targets.samples import Samples
from . import covariates as encoding
from . import missing_values
from .checks import check_values, read_new_data, read_training_data


class InputColumns:
    """The part of a reduction that reads X.

    The columns of the encoded X are those of X, except that each covariate with categories is replaced by the
    indicators of all its categories but the first.
    """

    adjust: Any
    exclude: Any
    handle_unknown: str
    missing: str
    categories_: dict[str, list[str]]
    adjusted_: Mask
    fill_values_: Floats | None
    n_features_in_: int

    @property
    def source_columns_(self) -> Indices:
        """For each column of the encoded X, the column of X that it comes from."""
        return encoding.encoded_columns(
            self.n_features_in_, getattr(self, "feature_names_in_", None), self.categories_
        )

    def get_encoded_feature_names(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that ``components_``, ``mean_`` and ``scale_`` refer to.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X; by default those seen in ``fit``, or their numbers.

        Returns
        -------
        names : ndarray of str
            The names of the columns of X, with ``batch=B`` for the indicator of category B of column batch.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", range(self.n_features_in_))
        names = known if input_features is None else input_features
        renamed = dict(zip(known, names, strict=True))
        categories = {str(renamed[name]): kinds for name, kinds in self.categories_.items()}
        return np.array(encoding.encoded_names(names, categories), dtype=object)

    def encode(self, X: Any) -> Any:
        """Return samples as numbers: with indicators instead of categories, and missing values filled.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The same features, in the same order, as in ``fit``.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_encoded_features)
            One column per entry of ``get_encoded_feature_names``; X itself if nothing has to change.
        """
        check_is_fitted(self)
        X = read_new_data(self, encoding.encode_frame(wrap_container(X), self.categories_, self.handle_unknown))
        X = encoding.expand_indicators(X, getattr(self, "feature_names_in_", None), self.categories_)
        return self._fill(X, varied=False)

    def _read_training_data(self, X: Any, y: Any, needs_target: bool) -> tuple[Any, Any]:
        """Return the encoded X, with missing values, and y; the covariates and their categories are stored."""
        X = wrap_container(X)
        categories = encoding.frame_categories(X, self.adjust)
        X, y = read_training_data(self, encoding.encode_frame(X, categories), y, needs_target)
        names = getattr(self, "feature_names_in_", None)
        self.categories_ = categories
        self.adjusted_ = encoding.adjusted_mask(self.adjust, X.shape[1], names)[self.source_columns_]
        return encoding.expand_indicators(X, names, categories), y

    def _fill_training_data(self, X: Any, samples: Samples) -> Any:
        """Return the encoded X with the missing values of the training samples counted, and replaced by means."""
        self.n_missing_, self.fill_values_ = 0, None
        if self.missing == "mean":
            names = self._encoded_names()
            names = range(X.shape[1]) if names is None else names
            if isinstance(X, ColumnSource):
                filled = missing_values.fill_by_means(X, samples.kept, samples.sample_weight, names)
                if self.adjusted_.any():
                    # The null model needs the covariates before the first pass, which checks the other columns.
                    filled.take(self.adjusted_)
                    filled.check(filled.n_missing)
                return filled
            n_missing = missing_values.missing_counts(samples.X)
            missing_values.refuse_empty_columns(n_missing, samples.X.shape[0], names)
            self._store_fill_values(n_missing, missing_values.fill_values(samples.X, samples.sample_weight))
        return self._fill(X, varied=True)

    def _store_fill_values(self, n_missing: Indices, values: Floats) -> None:
        self.n_missing_, self.fill_values_ = int(n_missing.sum()), values

    def _fill(self, X: Any, varied: bool) -> Any:
        """Return the encoded X with missing values replaced, or refuse its values."""
        if self.fill_values_ is not None:
            X = missing_values.fill_missing(X, self.fill_values_)
        advice = DROP_OR_FILL if self.missing == "error" else IMPUTE
        return check_values(X, self._encoded_names(), varied, advice)

    def _fill_by_fold(
        self, X: Any, train: Indices, sample_weight: Floats | None, columns: Mask | slice = slice(None)
    ) -> Any:
        """Return some columns of the encoded X, filled with the means of some training samples."""
        assert self.fill_values_ is not None
        means = missing_values.observed_means(X[train], None if sample_weight is None else sample_weight[train])
        # Without an observed value in these samples, the column is constant there whatever fills it.
        return missing_values.fill_missing(X, np.where(np.isnan(means), self.fill_values_[columns], means))

    def _encoded_names(self) -> Any:
        known = getattr(self, "feature_names_in_", None)
        return encoding.encoded_names(known, self.categories_) if self.categories_ else known

    def _excluded_columns(self) -> Mask:
        """Return which columns of the encoded X are excluded."""
        names = getattr(self, "feature_names_in_", None)
        excluded = column_mask(self.exclude, self.n_features_in_, names, "exclude")[self.source_columns_]
        both = np.unique(self.source_columns_[excluded & self.adjusted_])
        if len(both):
            which = listing(repr(str(j if names is None else names[j])) for j in both)
            raise ValueError(f"exclude and adjust both contain {which}: name a column in one of them only.")
        return excluded

    def _check_confounding(self, X: Any, y: Any, family: Family) -> None:
        """Refuse covariates that determine the target, and warn about those that nearly do."""
        names = getattr(self, "feature_names_in_", None)
        covariates = encoding.covariate_columns(X, self.adjusted_, self.source_columns_, names)
        check_confounding(covariates, y, family.classification)

"""KernelScores: left-out kernel predictions of a target's residuals, as one feature for a model of any family."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import StrOptions

from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.parameters import fit_context
from ..inputs.checks import columns_of, target_array
from ..reduction.response import FAMILY_CHOICES, AdjustedTarget, find_family
from ..targets import is_category
from .base import DOCS, KernelMethod
from .kernel_functions import DEFAULT
from .training_samples import Training


@share_docs(**DOCS)
class KernelScores(TransformerMixin, KernelMethod):
    """Predict the residuals of a target by kernels: one feature, from which a model of any family learns.

    The target's residuals under the model without features, such as the martingale residuals of survival times,
    are regressed on the kernels as in KernelRegressor. ``fit_transform`` returns left-out predictions, so that a
    model on top learns how far new predictions can be trusted: put HorseshoeSurvival, HorseshoeCounts or
    HorseshoeOrdinal behind it in a pipeline.

    Parameters
    ----------
    family : {"auto", "gaussian", "binomial", ...}, default="auto"
        Distribution of the target, as in ISPCA.
    $parameters
    keep_adjusted : bool, default=False
        Whether the covariates, centered, follow the scores in the output. The scores predict what the covariates
        do not explain, so a model needs both.

    Attributes
    ----------
    training_scores_ : ndarray of shape (n_samples, n_outputs)
        What ``fit_transform`` returned.
    $attributes

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import HorseshoeSurvival, KernelScores
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 300))
    >>> y = np.ones(60, dtype=bool), rng.exponential(np.exp(-X[:, 0] / 2))
    >>> model = make_pipeline(KernelScores(), HorseshoeSurvival(prior="ridge", random_state=0)).fit(X, y)
    >>> bool(model[-1].coef_[0] > 0)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **KernelMethod._parameter_constraints,
        "family": [StrOptions(set(FAMILY_CHOICES))],
        "keep_adjusted": ["boolean"],
    }

    def __init__(
        self,
        *,
        family: str = "auto",
        kernels: Any = DEFAULT,
        cv: Any = None,
        concentration: float = 2.0,
        scale: bool = True,
        adjust: Any = None,
        handle_unknown: str = "error",
        missing: str = "error",
        exclude: Any = None,
        memory_budget: float = 2**28,
        keep_adjusted: bool = False,
    ) -> None:
        super().__init__(
            kernels=kernels,
            cv=cv,
            concentration=concentration,
            scale=scale,
            adjust=adjust,
            handle_unknown=handle_unknown,
            missing=missing,
            exclude=exclude,
            memory_budget=memory_budget,
        )
        self.family = family
        self.keep_adjusted = keep_adjusted

    def fit(self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit all kernels and penalties, and weight them by their left-out predictions.

        Parameters
        ----------
        $samples
        y : array-like of shape (n_samples,), or events and times
            Target.
        $options
        offset : array-like of shape (n_samples,), optional
            Known part of the linear predictor.

        $fitted
        """
        self._fit_scores(X, y, groups, sample_weight, offset)
        return self

    def fit_transform(
        self, X: Any, y: Any, groups: Any = None, *, sample_weight: Any = None, offset: Any = None
    ) -> Floats:
        """Fit, and return the left-out scores of the training samples.

        Parameters
        ----------
        X, y, groups, sample_weight, offset
            As in ``fit``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_outputs)
            Scores; those of samples of weight 0 are not part of the fit.
        """
        self._fit_scores(X, y, groups, sample_weight, offset)
        scores: Floats = self.training_scores_
        return self._with_covariates(scores, self._check_new(X)) if self.keep_adjusted else scores

    @fit_context(skip_nested=True)
    def _fit_scores(self, X: Any, y: Any, groups: Any, sample_weight: Any, offset: Any) -> None:
        labels, y = is_category(y), target_array(y, self.family)
        training = self._prepare(X, y, sample_weight, offset, groups)
        target = self._residuals(training, labels)
        weights = training.weights
        deviation = np.sqrt(np.average(target**2, axis=0, weights=weights))
        target = target / deviation
        fits = self._fit_kernels(training, target)
        values, in_folds = (np.stack(part) for part in zip(*(fit[2:] for fit in fits), strict=True))
        densities, compared = (_densities(part, target, weights) for part in (values, in_folds))
        members = self._mix(training, fits, densities, compared)
        part = next(iter(training.decompositions.values()))
        null, left_out_null = part.fit_unpenalized(target, training.folds)
        # What all samples have in common is not part of the score: of a left-out sample, it contains its outcome.
        self.unpenalized_coef_ = self.unpenalized_coef_ - null
        scores = np.tensordot(members, values - left_out_null, 2)
        # Where nothing can be predicted, left-out values go against their targets, which a model must not learn.
        useful = (weights @ (scores * target) > 0).astype(np.float64)
        scores, self.dual_coef_ = scores * useful, self.dual_coef_ * useful
        self.unpenalized_coef_ = self.unpenalized_coef_ * useful
        self.training_scores_ = training.add_dropped(scores, self._scores)
        self._store_coefficients(training, np.ones(len(self.member_weights_)))

    def _residuals(self, training: Training, labels: bool) -> Floats:
        """Return the slopes of the log likelihood in the linear predictor, without features."""
        samples = training.samples
        family = find_family(samples.y, self.family, labels)
        covariates = columns_of(samples.X, self.adjusted_)
        known = AdjustedTarget(family, samples.y, covariates, samples.offset, samples.sample_weight)
        null = known.null_model()
        if family.unbounded_variance:
            return null.residuals / np.sqrt(null.weights)[:, None]
        return null.residuals

    def transform(self, X: Any) -> Floats:
        """Return the scores of new samples.

        $same_samples

        Returns
        -------
        Z : ndarray of shape (n_samples, n_outputs)
            Scores.
        """
        Z = self._check_new(X)
        return self._with_covariates(self._scores(Z), Z) if self.keep_adjusted else self._scores(Z)

    def _scores(self, Z: Any) -> Floats:
        return np.tensordot(self.member_weights_, self._member_values(Z), 1)

    def _with_covariates(self, scores: Floats, Z: Any) -> Floats:
        return np.column_stack([scores, self._unpenalized_columns(Z)[:, 1:] * self.covariate_weight_])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return ``kernel_score_1``, ..., with ``keep_adjusted`` followed by the names of the covariates.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X; by default those seen in ``fit``, or their numbers.

        Returns
        -------
        names : ndarray of str
            One name per column of ``transform``.
        """
        count = self.dual_coef_.shape[2]
        names = [f"kernel_score_{k + 1}" for k in range(count)]
        if self.keep_adjusted:
            encoded = self.get_encoded_feature_names(input_features)
            names += [str(name) for name in encoded[self.adjusted_]]
        return np.array(names, dtype=object)


def _densities(values: Floats, target: Floats, weights: Floats) -> Floats:
    """Return the log density of each sample, summed over the outputs (kernel x penalty x sample)."""
    spread = np.sqrt(np.average((target - values) ** 2, axis=2, weights=weights))[:, :, None]
    return norm.logpdf(target, values, np.maximum(spread, np.finfo(np.float64).eps)).sum(axis=3)

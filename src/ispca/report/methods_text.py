"""Report section with a methods paragraph that is ready to paste into a paper."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from .._messages import count, listing
from .data_overview import n_features
from .formatting import clean, section
from .held_out import class_predictions, described_method
from .input_checks import Inputs

TITLE = "Methods paragraph"
REGRESSIONS = {
    "regression": "linear regression",
    "survival": "proportional hazards regression",
    "count": "regression of counts",
    "ordinal": "ordinal regression",
}
TRANSFORMS = {
    "log1p": "transformed by log(1 + x)",
    "log2": "transformed by log2(1 + x)",
    "cpm-log": "scaled to counts per million and transformed by log2(1 + x)",
    "binary": "reduced to present or absent",
}


def methods_section(inputs: Inputs) -> dict[str, Any]:
    """Return what was done, in the words of a methods section, with versions, settings and citations."""
    sentences = [*_data(inputs), *_reduction(inputs), *_model(inputs), *_validation(inputs), _software(inputs)]
    text = ["Paste it into a manuscript and adapt it. It describes this fit and its settings."]
    return section(TITLE, text, paragraph=" ".join(sentences))


def _data(inputs: Inputs) -> list[str]:
    target = clean(inputs.context.target_name)
    sentence = (
        f"The association of {count(n_features(inputs), 'feature')} with {target} was analyzed in "
        f"{count(len(inputs.samples), 'sample')}"
    )
    if inputs.y is not None and inputs.classes is not None:
        sizes = [int(np.count_nonzero(inputs.y == label)) for label in inputs.classes[:10]]
        sentence += f" ({', '.join(f'{n} {label}' for n, label in zip(sizes, inputs.labels, strict=False))})"
    elif inputs.kind == "survival" and inputs.y is not None:
        sentence += f" with {count(int(inputs.y['event'].sum()), 'event')}"
    lines = [f"{sentence}."]
    if inputs.context.transform in TRANSFORMS:
        lines.append(f"The values of the features were {TRANSFORMS[inputs.context.transform]}.")
    if inputs.reduction.n_missing_:
        lines.append(f"{inputs.reduction.n_missing_:,} missing values were replaced by column means.")
    return lines


def _reduction(inputs: Inputs) -> list[str]:
    reduction = inputs.reduction
    scaled = "standardized" if getattr(reduction, "scale", True) else "centered"
    name = (
        "supervised principal components"
        if hasattr(reduction, "selected_")
        else "iterative supervised principal components (Piironen and Vehtari, 2018)"
    )
    lines = [f"The features were {scaled} and reduced to {name}."]
    if inputs.adjusted.any():
        names = [inputs.features[j] for j in np.flatnonzero(inputs.adjusted)]
        lines.append(f"Features and target were adjusted for {listing(names)}.")
    if reduction.steps_ and getattr(reduction, "alpha", None) is not None and not hasattr(reduction, "selected_"):
        most = max(int(step.n_permutations) for step in reduction.steps_)
        lines.append(
            "A supervised component was added while a permutation test of the largest univariate score "
            f"({most:,} permutations) gave p < {reduction.alpha:g}."
        )
    supervised, total = int(reduction.n_supervised_), int(reduction.n_components_)
    rest = count(total - supervised, "unsupervised component")
    lines.append(f"This gave {count(supervised, 'supervised component')} and {rest}.")
    return lines


def _model(inputs: Inputs) -> list[str]:
    model = inputs.model
    if model is None:
        return []
    if not inputs.has_posterior:
        return [f"The target was predicted from the components with {type(model).__name__}."]
    several = inputs.classes is not None and len(inputs.classes) > 2
    kind = REGRESSIONS.get(inputs.kind, "multinomial logistic regression" if several else "logistic regression")
    prior = "a regularized horseshoe prior (Piironen and Vehtari, 2017)"
    prior = prior if model.prior == "horseshoe" else f"a {clean(model.prior)} prior"
    found = model.diagnostics_
    return [
        f"The target was predicted from the components by Bayesian {kind} with {prior} on the coefficients, using "
        f"{count(int(model.n_chains), 'chain')} with {found.n_draws:,} posterior draws in total after warm-up "
        f"(largest R-hat {found.r_hat.max():.3f}, smallest effective sample size {found.bulk_ess.min():,.0f}, "
        f"{count(int(found.n_divergent), 'divergent transition')})."
    ]


def _validation(inputs: Inputs) -> list[str]:
    comparison = inputs.comparison
    if comparison is None:
        return []
    others = [clean(name) for name in comparison.methods if name != described_method(comparison)]
    lines = [
        f"Predictive performance was estimated in {clean(comparison.cv, 300)}. The complete procedure, including "
        "the choice of features and components, was repeated in every training set; intervals are corrected "
        "for the overlap of the training sets (Nadeau and Bengio, 2003)."
    ]
    if others:
        names = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        lines.append(f"It was compared with {names} in the same splits.")
    if class_predictions(inputs) is not None:
        lines.append(
            "Bands of ROC and precision-recall curves are pointwise 95% bootstrap intervals over samples, and "
            "intervals of rates are Wilson intervals."
        )
    return lines


def _software(inputs: Inputs) -> str:
    packages = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn")]
    seeds = {str(step.random_state) for step in inputs.steps if getattr(step, "random_state", None) is not None}
    seed = f", random seed {clean(seeds.pop(), 60)}" if len(seeds) == 1 else ""
    return (
        f"The analysis used ispca {version('ispca')} with Python {platform.python_version()} "
        f"({', '.join(packages)}){seed}."
    )

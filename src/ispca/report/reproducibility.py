"""Report sections for a paper: a methods paragraph, references, versions and the code of the analysis."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from itertools import takewhile
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from ..foundation.messages import count, listing
from ..validation.baseline_comparison import (
    BASE_RATE,
    COMBINED,
    COMPONENTS,
    COVARIATES,
    LASSO,
    MODEL,
    candidates_of,
)
from ..validation.comparison import Comparison
from .formatting import clean, printable, section
from .held_out_predictions import describe_method
from .interval_words import BAGS, CONFORMAL
from .report_inputs import Inputs

PAPER = (
    "J. Piironen and A. Vehtari (2018). Iterative supervised principal components. Proceedings of the 21st "
    "International Conference on Artificial Intelligence and Statistics (AISTATS), PMLR 84:106-114."
)
ADDRESS = "https://proceedings.mlr.press/v84/piironen18a.html"
PRIOR = (
    "J. Piironen and A. Vehtari (2017). Sparsity information and regularization in the horseshoe and other "
    "shrinkage priors. Electronic Journal of Statistics 11(2):5018-5051."
)
STACKING = (
    "Y. Yao, A. Vehtari, D. Simpson and A. Gelman (2018). Using stacking to average Bayesian predictive "
    "distributions. Bayesian Analysis 13(3):917-1007."
)
# Longer parameter values, such as a list of excluded features, are omitted from the code.
LONGEST_VALUE = 1000
# A call with numbers, None, True and False as its only arguments.
PLAIN_CALL = re.compile(r"\w+\((\w+=(None|True|False|[-+.e\d]+)(, )?)*\)")
PACKAGES = ("ispca", "numpy", "scipy", "scikit-learn")
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
    return section("Methods paragraph", text, paragraph=" ".join(sentences))


def _data(inputs: Inputs) -> list[str]:
    target = clean(inputs.context.target_name)
    sentence = (
        f"The association of {count(inputs.n_features, 'feature')} with {target} was analyzed in "
        f"{count(len(inputs.samples), 'sample')}"
    )
    if inputs.classes is not None:
        parts = [f"{n} {label}" for n, label in zip(inputs.class_sizes, inputs.labels, strict=True)][:10]
        sentence += f" ({', '.join(parts)})"
    elif inputs.target.timed and inputs.y is not None:
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
    name = "supervised principal components"
    if not hasattr(reduction, "selected_"):
        name = f"iterative {name} (Piironen and Vehtari, 2018)"
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
    several = inputs.target.unordered and len(inputs.labels) > 2
    kind = f"multinomial {inputs.target.regression}" if several else inputs.target.regression
    prior = "a regularized horseshoe prior (Piironen and Vehtari, 2017)"
    prior = prior if model.prior == "horseshoe" else f"a {clean(model.prior)} prior"
    found = model.diagnostics_
    return [
        f"The target was predicted from the components by Bayesian {kind} with {prior} on the coefficients, using "
        f"{count(int(model.n_chains), 'chain')} with {found.n_draws:,} posterior draws in total after warm-up "
        f"(largest R-hat {found.largest_r_hat}, smallest effective sample size {found.bulk_ess.min():,.0f}, "
        f"{count(int(found.n_divergent), 'divergent transition')}).",
        *_bags(inputs),
    ]


def _bags(inputs: Inputs) -> list[str]:
    """Return how intervals were made from bags."""
    n_bags = inputs.context.n_bags
    if not n_bags:
        return []
    lines = [
        "Effects of features, their intervals and the probabilities of their signs were computed from a bagged "
        f"posterior (Huggins and Miller, 2019): in {n_bags} bootstrap samples of the data, the complete procedure "
        "was repeated, with scores for the model that do not depend on the target of the same sample, and the "
        "posterior draws of all bootstrap samples were pooled."
    ]
    if not inputs.target.timed:
        what = "Prediction sets" if inputs.target.has_classes else "Predictive intervals"
        lines.append(
            f"{what} of new samples were calibrated on predictions of each sample by the bootstrap samples "
            "without it (Kim, Xu and Barber, 2020)."
        )
    return lines


def _validation(inputs: Inputs) -> list[str]:
    comparison = inputs.comparison
    if comparison is None:
        return []
    ours = describe_method(comparison)
    others = [clean(name) for name in comparison.methods if name != ours]
    lines = []
    if ours == COMBINED:
        lines.append(
            f"Predictions are weighted means of those of {listing(candidates_of(comparison))} (stacking; Yao "
            "and others, 2018), with weights from the log predictive densities of held-out samples."
        )
    lines += [
        f"Predictive performance was estimated in {clean(comparison.cv, 300)}. The complete procedure, including "
        "the choice of features and components, was repeated in every training set; intervals are corrected "
        "for the overlap of the training sets (Nadeau and Bengio, 2003)."
    ]
    if others:
        names = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        lines.append(f"It was compared with {names} in the same splits.")
    if inputs.held_out_classes is not None:
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


def reproducibility_section(inputs: Inputs) -> dict[str, Any]:
    """Return the references, the versions and the code."""
    text = ["Please cite the method and state the version of the software."]
    if any(getattr(step, "random_state", 0) is None for step in inputs.steps):
        text.append("No random seed was set, so the numbers will differ slightly when the analysis is repeated.")
    combined = inputs.comparison is not None and COMBINED in inputs.comparison.methods
    codes = [{"label": "Python", "code": _code(inputs)}]
    if inputs.context.command:
        codes.insert(0, {"label": "Command line", "code": printable(inputs.context.command)})
    return section(
        "Citation and reproducibility",
        text,
        references=[
            PAPER,
            *([PRIOR] if inputs.has_posterior else []),
            *([BAGS] if inputs.context.n_bags else []),
            *([CONFORMAL] if inputs.context.n_bags and not inputs.target.timed else []),
            *([STACKING] if combined else []),
        ],
        address=ADDRESS,
        code=codes,
        versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    )


def _code(inputs: Inputs) -> str:
    lines = [f"# ispca {version('ispca')}, Python {platform.python_version()}"]
    if inputs.context.python is not None:
        return "\n".join([*lines, inputs.context.python])
    given = list(inputs.context.fit_parameters)
    call, imports = ("", []) if inputs.comparison is None else _comparison_code(inputs.comparison, given)
    if inputs.reduction is None:
        return "\n".join([*lines, *imports, "", f"result = {call}", "print(result)"])
    classes = [(_module(step), type(step).__name__) for step in inputs.steps]
    ours = sorted({name for module, name in classes if module == "ispca"})
    lines += [f"from ispca import {', '.join(ours)}", "from ispca.report import write_report", *imports]
    fit, report = [_fit_code(inputs, given)], 'write_report(model, X, y, "report.html")'
    if call:
        fit.append(f"validation = {call}")
        report = report.replace(")", ", validation=validation)")
    calls = [estimator_code(step) for step in inputs.steps]
    if len(calls) == 1:
        return "\n".join([*lines, "", f"model = {calls[0]}", *fit, report])
    others = {f"from {module} import {name}" for module, name in classes if module != "ispca"}
    lines += sorted({*others, "from sklearn.pipeline import make_pipeline"})
    lines += ["", "model = make_pipeline(", *(f"    {call}," for call in calls), ")"]
    return "\n".join([*lines, *fit, report])


def _fit_code(inputs: Inputs, given: list[str]) -> str:
    """Return the call of fit; the steps of a pipeline take parameters under their names."""
    words, steps = [], inputs.steps
    for step in steps:
        prefix = f"{type(step).__name__.lower()}__" if len(steps) > 1 else ""
        words += [f"{prefix}{name}={name}" for name in given if has_fit_parameter(step, name)]
    return f"model.fit({', '.join(['X', 'y', *words])})"


def _comparison_code(comparison: Comparison, given: list[str]) -> tuple[str, list[str]]:
    """Return the call that made a comparison and the imports it needs."""
    names = [name for name in given if name != "groups"]
    names = ["groups", *names] if comparison.splits[0].train_groups is not None else names
    cv, imports = _splitter_code(comparison.splitter)
    # The kinds that y and the methods do not show.
    kind = f"kind={comparison.kind!r}, " if comparison.target.named else ""
    options = f"{kind}cv={cv}{''.join(f', {name}={name}' for name in names)}, random_state={comparison.seed}"
    combined = ", combine=True" if COMPONENTS in comparison.methods else ""
    with_baselines = combined or comparison.methods in ([MODEL, LASSO, BASE_RATE], [MODEL, BASE_RATE])
    if with_baselines and comparison.baseline == BASE_RATE and COVARIATES not in comparison.methods:
        function, call = "compare_with_baselines", f"compare_with_baselines(model, X, y, {options}{combined})"
    else:
        methods = ", ".join(f"{name!r}: ..." for name in comparison.methods)
        function, call = "compare", f"compare({{{methods}}}, X, y, {options}, baseline={comparison.baseline!r})"
    return call, [f"from ispca.validation import {function}", *imports]


def _splitter_code(splitter: Any) -> tuple[str, list[str]]:
    """Return a splitter as code and its import; "..." for what code cannot say in a line, such as indices."""
    if isinstance(splitter, Integral):
        return str(splitter), []
    kind, text = type(splitter), repr(splitter)
    if kind.__module__.startswith("sklearn.model_selection") and PLAIN_CALL.fullmatch(text):
        return text, [f"from sklearn.model_selection import {kind.__name__}"]
    return "...", []


def _module(step: Any) -> str:
    """Return the module from which the class of a step is imported."""
    public = list(takewhile(lambda name: not name.startswith("_"), type(step).__module__.split(".")))
    return public[0] if public[0] == "ispca" else ".".join(public)


def estimator_code(estimator: BaseEstimator) -> str:
    """Return the constructor call of an estimator, without parameters at their defaults.

    >>> from ispca import ISPCA
    >>> estimator_code(ISPCA(5, random_state=0))
    'ISPCA(n_components=5, random_state=0)'
    """
    kind = type(estimator)
    default = kind().get_params(deep=False)
    given = estimator.get_params(deep=False)
    texts = [f"{name}={_literal(value)}" for name, value in given.items() if not _same(value, default[name])]
    return f"{kind.__name__}({', '.join(texts)})"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and np.array_equal(value, default))


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    plain = value is None or isinstance(value, bool | int | float | str | list | tuple)
    text = repr(value) if plain else "..."
    return text if len(text) <= LONGEST_VALUE else "..."

"""Report section with references, versions and the code that reproduces the analysis."""

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

from ..validation.baseline_comparison import BASE_RATE, LASSO, MODEL
from ..validation.comparison import Comparison
from .formatting import printable, section
from .input_checks import Inputs

PAPER = (
    "J. Piironen and A. Vehtari (2018). Iterative supervised principal components. Proceedings of the 21st "
    "International Conference on Artificial Intelligence and Statistics (AISTATS), PMLR 84:106-114."
)
ADDRESS = "https://proceedings.mlr.press/v84/piironen18a.html"
PRIOR = (
    "J. Piironen and A. Vehtari (2017). Sparsity information and regularization in the horseshoe and other "
    "shrinkage priors. Electronic Journal of Statistics 11(2):5018-5051."
)
# Longer parameter values, such as a list of excluded features, are omitted from the code.
LONGEST_VALUE = 1000
# A call with numbers, None, True and False as its only arguments.
PLAIN_CALL = re.compile(r"\w+\((\w+=(None|True|False|[-+.e\d]+)(, )?)*\)")
PACKAGES = ("ispca", "numpy", "scipy", "scikit-learn")


def reproducibility_section(inputs: Inputs) -> dict[str, Any]:
    """Return the references, the versions and the code."""
    text = ["Please cite the method and state the version of the software."]
    if any(getattr(step, "random_state", 0) is None for step in inputs.steps):
        text.append("No random seed was set, so the numbers will differ slightly when the analysis is repeated.")
    codes = [{"label": "Python", "code": _code(inputs)}]
    if inputs.context.command:
        codes.insert(0, {"label": "Command line", "code": printable(inputs.context.command)})
    return section(
        "Citation and reproducibility",
        text,
        references=[PAPER, PRIOR] if inputs.has_posterior else [PAPER],
        address=ADDRESS,
        code=codes,
        versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    )


def _code(inputs: Inputs) -> str:
    lines = [f"# ispca {version('ispca')}, Python {platform.python_version()}"]
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
    steps = [step for step in inputs.steps if step is not None]
    words = []
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
    kind = f"kind={comparison.kind!r}, " if comparison.kind in ("count", "ordinal") else ""
    options = f"{kind}cv={cv}{''.join(f', {name}={name}' for name in names)}, random_state={comparison.seed}"
    with_baselines = comparison.methods in ([MODEL, LASSO, BASE_RATE], [MODEL, BASE_RATE])
    if with_baselines and comparison.baseline == BASE_RATE:
        function, call = "compare_with_baselines", f"compare_with_baselines(model, X, y, {options})"
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

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.report.reproducibility import estimator_code
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

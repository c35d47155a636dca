"""Rules for the attributes of a loaded object: numbers, lengths, arrays and class labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from .limits import ContentError

# The lengths that the attributes checked so far give to the axes of the others.
Sizes = dict[str, int]
# The largest difference between a sum of probabilities and 1 that rounding explains.
ROUNDING = 1e-6
LARGEST_INTEGER = 2**62


@dataclass(frozen=True)
class Rule:
    """What an attribute must be, in words and as a function of its value and the sizes.

    An array has one axis per entry of ``axes``: a length, or the name of the attribute that gives the length.
    """

    words: str
    holds: Callable[[Any, Sizes], bool]
    axes: tuple[str | int, ...] | None = None
    optional: bool = False


def check_attributes(owner: Any, rules: dict[str, Rule], sizes: Sizes) -> None:
    """Refuse an object with a missing or invalid attribute, and add the lengths of its attributes to ``sizes``."""
    for name, rule in rules.items():
        if name not in vars(owner):
            raise ContentError(f"its {name} is missing")
        value = vars(owner)[name]
        if value is None and rule.optional:
            continue
        words, sound = rule.words, True
        if rule.axes is not None:
            shape = tuple(sizes[axis] if isinstance(axis, str) else axis for axis in rule.axes)
            words = f"{words} of shape {shape}"
            sound = isinstance(value, np.ndarray) and value.shape == shape
        if not sound or not rule.holds(value, sizes):
            raise ContentError(f"its {name} is not {words}")
        if isinstance(value, Integral):
            sizes[name] = int(value)
        elif isinstance(value, list | tuple | dict) or getattr(value, "ndim", 0) > 0:
            sizes[name] = len(value)


def optional(rule: Rule) -> Rule:
    """Allow None too."""
    return replace(rule, optional=True)


def count(least: int) -> Rule:
    """Return the rule for an integer."""

    def holds(value: Any, sizes: Sizes) -> bool:
        sound = isinstance(value, Integral) and not isinstance(value, bool)
        return sound and least <= int(value) < LARGEST_INTEGER

    return Rule(f"an integer of at least {least}", holds)


def _is_number(value: Any, sizes: Sizes) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _is_interval(value: Any, sizes: Sizes) -> bool:
    sound = isinstance(value, tuple) and len(value) == 2 and all(_is_number(end, sizes) for end in value)
    return sound and value[0] <= value[1]


NUMBER = Rule("a finite number", _is_number)
INTERVAL = Rule("two numbers in ascending order", _is_interval)
NOT_NEGATIVE = Rule("a number of at least 0", lambda value, sizes: _is_number(value, sizes) and value >= 0)
POSITIVE = Rule("a positive number", lambda value, sizes: _is_number(value, sizes) and value > 0)
FLAG = Rule("true or false", lambda value, sizes: isinstance(value, bool | np.bool_))
NUMBER_OR_NAN = Rule("a number", lambda value, sizes: isinstance(value, int | float))
TEXT = Rule("text", lambda value, sizes: isinstance(value, str))
LABEL = Rule("a class label", lambda value, sizes: isinstance(value, str | int | float | np.generic))


def _of_arrays(words: str, test: Callable[[np.ndarray], Any]) -> Callable[..., Rule]:
    """Return a function that makes the rule for arrays with given axes."""
    return lambda *axes: Rule(words, lambda values, sizes: bool(test(values)), axes)


def _is_finite(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool(np.isfinite(values).all())


def _is_distribution(values: np.ndarray) -> bool:
    return _is_finite(values) and not (values < 0).any() and abs(float(values.sum()) - 1) <= ROUNDING


# Each takes the axes of the array.
numbers = _of_arrays("an array of numbers", lambda values: values.dtype.kind == "f")
finite = _of_arrays("an array of finite numbers", _is_finite)
finite_or_nan = _of_arrays("an array without infinity", lambda v: v.dtype.kind == "f" and not np.isinf(v).any())
not_negative = _of_arrays("an array of numbers of at least 0", lambda v: _is_finite(v) and (v >= 0).all())
positive = _of_arrays("an array of positive numbers", lambda v: _is_finite(v) and (v > 0).all())
distribution = _of_arrays("a distribution", _is_distribution)
flags = _of_arrays("an array of truth values", lambda values: values.dtype.kind == "b")
texts = _of_arrays("an array of text", lambda values: values.dtype.kind in "OU")
tables = _of_arrays("a table", lambda values: isinstance(values, np.recarray))


def _is_vector(values: Any, kinds: str) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in kinds


def indices(of: str, *axes: str) -> Rule:
    """Return the rule for a list of indices below a size."""

    def holds(values: Any, sizes: Sizes) -> bool:
        return _is_vector(values, "iu") and (not len(values) or 0 <= values.min() <= values.max() < sizes[of])

    return Rule("a list of indices in range", holds, axes or None)


def distinct_indices(of: str) -> Rule:
    """Return the rule for a list of indices below a size, none of them twice."""
    any_indices = indices(of)

    def holds(values: Any, sizes: Sizes) -> bool:
        return any_indices.holds(values, sizes) and len(np.unique(values)) == len(values)

    return Rule("a list of distinct indices in range", holds)


def _are_classes(values: Any, sizes: Sizes) -> bool:
    return _is_vector(values, "biufOU") and len(values) > 1 and bool((values[:-1] < values[1:]).all())


def _are_categories(value: Any, sizes: Sizes) -> bool:
    if not isinstance(value, dict) or not all(isinstance(kinds, list) for kinds in value.values()):
        return False
    texts = all(isinstance(text, str) for name, kinds in value.items() for text in (name, *kinds))
    return texts and all(kinds and len(set(kinds)) == len(kinds) for kinds in value.values())


CATEGORIES = Rule("lists of distinct categories by column", _are_categories)
NUMBERS = Rule("a list of numbers", lambda values, sizes: _is_vector(values, "f"))
CLASSES = Rule("a list of at least two distinct, sorted labels", _are_classes)


def among(*values: Any) -> Rule:
    """Return the rule for one of a few values."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return any(type(value) is type(allowed) and value == allowed for allowed in values)

    return Rule(" or ".join(map(repr, values)), holds)


def instance(kind: type) -> Rule:
    """Return the rule for an object of a type."""
    return Rule(f"a {kind.__name__}", lambda value, sizes: isinstance(value, kind))


def several(container: type[list[Any] | tuple[Any, ...]], kind: type, least: int = 0) -> Rule:
    """Return the rule for a list or tuple of objects of a type."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, container) and len(value) >= least and all(isinstance(i, kind) for i in value)

    return Rule(f"a {container.__name__} of {kind.__name__}", holds)


def _are_ordered_classes(values: Any, sizes: Sizes) -> bool:
    return _is_vector(values, "biufOU") and len(values) > 1 and len(set(values.tolist())) == len(values)


def _is_ascending(values: np.ndarray) -> bool:
    return _is_finite(values) and bool((np.diff(values, axis=-1) > 0).all())


ascending = _of_arrays("an array of ascending numbers", _is_ascending)
TIMES = Rule(
    "a list of ascending numbers",
    lambda values, sizes: _is_vector(values, "f") and len(values) > 0 and _is_ascending(values),
)
ORDERED_CLASSES = Rule("a list of at least two distinct labels", _are_ordered_classes)

# Linear models. There is one row of coefficients per class, or a single one for two classes.
WIDTH = "n_features_in_"
OUTPUTS = "outputs"
CLASSIFIER = {"coef_": finite(OUTPUTS, WIDTH), "intercept_": finite(OUTPUTS)}
REGRESSOR = {"coef_": finite(WIDTH), "intercept_": NUMBER}

"""Names of features as people read them: their labels, such as gene symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping

from ..readers import Table


def shown_names(table: Table) -> dict[str, str]:
    """Return the label of each feature that has one, followed by its name if several have the same.

    Covariates and features without a label are not in it: they are shown by their names.
    """
    labels = feature_labels(table)
    names = set(table.features.tolist())
    often = Counter(labels.values())
    return {
        name: f"{text} ({name})" if often[text] > 1 or text in names else text for name, text in labels.items()
    }


def labelled_names(table: Table) -> list[str]:
    """Return the names of all columns of X, after their labels, for messages on which a user acts by name."""
    labels = feature_labels(table)
    return [f"{labels[name]} ({name})" if name in labels else name for name in table.features.tolist()]


def feature_labels(table: Table) -> dict[str, str]:
    """Return the labels of the features, without those that are empty or the name itself."""
    if table.label not in table.annotation:
        return {}
    texts = (str(text).strip() for text in table.annotation[table.label])
    pairs = zip(table.features[: table.n_features].tolist(), texts, strict=True)
    return {name: text for name, text in pairs if text not in ("", name)}


def describe_features(table: Table) -> dict[str, tuple[str, ...]]:
    """Return the annotation of each feature by its name; that of "" is for everything else."""
    nothing = ("",) * len(table.annotation)
    if not table.annotation:
        return {"": nothing}
    texts = zip(*(values.tolist() for values in table.annotation.values()), strict=True)
    return {"": nothing} | dict(zip(table.features[: table.n_features].tolist(), texts, strict=True))


def separate_names(text: str, known: Container[str]) -> list[str]:
    """Return the names in a text of names joined by commas, which is how a path lists features added at once."""
    return [text] if text in known else text.split(", ")


def show_all(names: list[str], shown: Mapping[str, str]) -> list[str]:
    """Return names as they are shown."""
    return [shown.get(name, name) for name in names]

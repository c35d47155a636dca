"""Which data sets are run: the paper's, and stand-ins beside those that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ispca.datasets import list_datasets
from ispca.datasets.loading import locate
from ispca.datasets.registry import find

TEXT = ("dexter", "basehock", "pcmac")
# Mass spectra with added probes: neither expression nor text.
OTHER = ("arcene",)


def paper_sets() -> tuple[str, ...]:
    """Return the names of the paper's sets, in its order."""
    return tuple(record.name for record in list_datasets() if record.paper_name is not None)


def stand_ins(name: str) -> tuple[str, ...]:
    """Return the sets that are run beside one that is missing."""
    return tuple(record.name for record in list_datasets() if record.stand_in_for == name)


def kind(name: str) -> str:
    """Return the paper's type of a set: expression, text or other."""
    return "text" if name in TEXT else "other" if name in OTHER else "expression"


@dataclass(frozen=True)
class Selection:
    """The sets of a run.

    Attributes
    ----------
    run : tuple of str
        Those to be run: asked for and present.
    absent : tuple of str
        Those asked for whose file is not there.
    """

    run: tuple[str, ...]
    absent: tuple[str, ...] = ()

    def of(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that are run."""
        return [name for name in names if name in self.run]

    def two_class(self) -> list[str]:
        """Return the sets of two classes that are run."""
        return [name for name in self.run if find(name).target == "binary"]

    def reason(self, names: Sequence[str]) -> str:
        """Say why these names are not run.

        Examples
        --------
        >>> Selection(("colon",), ("lung",)).reason(["lung"])
        'data missing: lung'
        """
        missing = [name for name in names if name in self.absent]
        left_out = [name for name in names if name not in self.absent and name not in self.run]
        parts = {"data missing": missing, "left out by --sets": left_out}
        return "; ".join(f"{why}: {', '.join(which)}" for why, which in parts.items() if which)


def select(asked: Sequence[str] | None = None) -> Selection:
    """Return the selection: what is asked for, or the paper's sets and stand-ins for those that are not there.

    Parameters
    ----------
    asked : sequence of str, optional
        Names of data sets.

    Returns
    -------
    selection : Selection
        In the order of the registry.
    """
    if asked is None:
        names = set(paper_sets())
        for name in paper_sets():
            if locate(find(name)) is None:
                names.update(stand_ins(name))
    else:
        names = {find(name).name for name in asked}
        wrong = sorted(name for name in names if not find(name).is_classification)
        if wrong:
            raise ValueError(f"{wrong[0]} has no classes to tell apart, so the paper's methods do not apply.")
    ordered = [record for record in list_datasets() if record.name in names]
    there = {record.name: locate(record) is not None for record in ordered}
    return Selection(
        tuple(name for name, present in there.items() if present),
        tuple(name for name, present in there.items() if not present),
    )

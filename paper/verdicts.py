"""What became of a claim of the paper: agrees, differs, or not testable, with the numbers and the rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

AGREES = "agrees"
DIFFERS = "differs"
NOT_TESTABLE = "not testable"


@dataclass(frozen=True)
class Verdict:
    """One claim and what the numbers say of it.

    Attributes
    ----------
    claim : str
        What the paper says.
    status : {"agrees", "differs", "not testable"}
        The outcome.
    detail : str
        The numbers: by how much it differs, or which data is missing.
    rule : str
        How the numbers decide.
    """

    claim: str
    status: str
    detail: str
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.claim}: {self.status} ({self.detail})"


def decide(claim: str, holds: bool, detail: str, rule: str) -> Verdict:
    """Return the verdict on a claim that could be tested.

    Examples
    --------
    >>> print(decide("A is above B", False, "below by 0.2", "mean of A - B > 0"))
    A is above B: differs (below by 0.2)
    """
    return Verdict(claim, AGREES if holds else DIFFERS, detail, rule)


def not_testable(claim: str, reason: str, beside: Iterable[str] = (), rule: str = "") -> Verdict:
    """Return the verdict on a claim whose data is not there, with what its stand-ins say under their own names.

    Examples
    --------
    >>> print(not_testable("naive overfits lung", "data missing: lung", ["gordon -0.02"]))
    naive overfits lung: not testable (data missing: lung; beside it gordon -0.02)
    """
    also = "; ".join(beside)
    return Verdict(claim, NOT_TESTABLE, f"{reason}; beside it {also}" if also else reason, rule)

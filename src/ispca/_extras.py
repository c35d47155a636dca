"""The error for an optional package that is not installed."""

from __future__ import annotations


def missing_package(purpose: str, package: str) -> str:
    """Return a sentence that names the missing package and the command that installs it.

    Parameters
    ----------
    purpose : str
        What needs it, as a gerund: "Plotting", "Reading x.h5ad".
    package : str
        Its name on the package index.

    Examples
    --------
    >>> missing_package("Reading x.h5ad", "h5py")
    'Reading x.h5ad requires h5py, which is not installed. Install it with: pip install h5py'
    """
    return f"{purpose} requires {package}, which is not installed. Install it with: pip install {package}"

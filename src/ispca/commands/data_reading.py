"""Read the data that a command line describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..analysis.column_roles import candidates
from ..analysis.data_file import read_data, read_described
from ..analysis.large_data import check_device
from ..analysis.settings import Settings
from ..foundation.messages import InputError, listing, shorten
from ..readers import Table, TableError
from ..readers.table import MissingTargetError

# Roles of columns that are not offered as a target; covariates are if there is nothing else.
NOT_A_TARGET = ("id", "group", "covariate", "time", "event")
MOST_TARGETS = 8
# Features of few values, such as counts, score less, unless their names suggest a target.
LEAST_SCORE = 2


def read_supervised(settings: Settings) -> Table:
    """Return DATA with its target; without a name of the target, say which columns it could be."""
    check_device(settings)
    try:
        return read_data(settings)
    except MissingTargetError as error:
        raise TableError(f"{error.problem} {possible_targets(settings)}", error.advice) from None


def possible_targets(settings: Settings) -> str:
    """Return a sentence that names the columns of DATA and its sample sheet that may be the target."""
    assert settings.data is not None
    try:
        how = {name: getattr(settings, name) for name in ("samples", "id", "on", "sheet", "transpose")}
        columns = candidates(read_described(settings.data, **how))
    except InputError:
        return ""
    found = [
        column for column in columns if column["score"] >= LEAST_SCORE and column["suggested"] not in NOT_A_TARGET
    ] or [column for column in columns if column["suggested"] == "covariate"]
    if not found:
        return ""
    more = f" and {len(found) - MOST_TARGETS:,} more" if len(found) > MOST_TARGETS else ""
    return f"It could be {'; '.join(map(_description, found[:MOST_TARGETS]))}{more}."


def _description(column: Mapping[str, Any]) -> str:
    """Return the name of a column and what it contains: its most frequent values, or their range."""
    values = listing(column["values"]) if column["values"] else "{:g} to {:g}".format(*column["range"])
    return f"{shorten(column['name'])} ({values})"

"""``ispca datasets``: list the data sets, or describe one."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..datasets.loading import cache_folder, data_folder, describe, locate
from ..datasets.registry import Dataset, find, list_datasets
from ..foundation.messages import SettingError
from ..foundation.terminal import show
from .arguments import JSON, Arguments

ARGUMENTS = Arguments(
    None,
    """example:
  ispca datasets          lists all data sets
  ispca datasets colon    describes one""",
    {
        "": (
            ("name", dict(nargs="?", help="data set to describe (default: list all)")),
            JSON,
        )
    },
)


def run(args: argparse.Namespace) -> int:
    """List all data sets, or describe one."""
    if args.name is None:
        entries = [_entry(record) for record in list_datasets()]
        show(json.dumps(entries, indent=2) if args.json else _table(entries))
        return 0
    try:
        record = find(args.name)
    except ValueError as error:
        raise SettingError(str(error)) from error
    entry = _entry(record)
    text = f"{describe(record)}\nPresent: {entry['path'] or 'not present'}"
    show(json.dumps(entry, indent=2) if args.json else text)
    return 0


def _entry(record: Dataset) -> dict[str, Any]:
    path = locate(record)
    place = "ISPCA_DATA" if path is not None and path.parent == data_folder() else "cache"
    return {
        "name": record.name,
        "paper": record.paper_name,
        "stand_in_for": record.stand_in_for,
        "n": record.n,
        "D": record.D,
        "target": record.target,
        "present": None if path is None else place,
        "path": None if path is None else str(path),
        "source": record.origin,
        "urls": [source.url for source in record.sources],
        "title": record.title,
    }


def _table(entries: list[dict[str, Any]]) -> str:
    rows = [["name", "name in the paper", "n", "D", "target", "present", "source"]]
    for entry in entries:
        paper = entry["paper"] or (f"(substitute for {entry['stand_in_for']})" if entry["stand_in_for"] else "-")
        size, present = [str(entry["n"]), str(entry["D"])], entry["present"] or "not present"
        rows.append([entry["name"], paper, *size, entry["target"], present, entry["source"]])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = (2, 3)
    lines = [
        "  ".join(cell.rjust(w) if j in numbers else cell.ljust(w) for j, (cell, w) in enumerate(pairs)).rstrip()
        for pairs in (zip(row, widths, strict=True) for row in rows)
    ]
    here = sum(entry["present"] is not None for entry in entries)
    folders = f"ISPCA_DATA: {data_folder() or 'not set'}; cache: {cache_folder() or 'not set'}"
    return "\n".join([*lines, "", f"{here} of {len(entries)} present. {folders}"])

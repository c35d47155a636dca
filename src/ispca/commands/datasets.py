"""``ispca datasets``: list the data sets, describe one, or download it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from .._terminal import show, tell
from ..datasets.loading import describe
from ..datasets.records import Dataset
from ..datasets.registry import find, list_datasets
from ..datasets.store import cache_folder, data_folder, locate, obtain
from . import UsageError
from ._options import add_options

EXAMPLE = """example:
  ispca datasets                     lists all data sets
  ispca datasets colon --download    downloads and describes one"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("name", nargs="?", help="data set to describe (default: list all)")
    parser.add_argument("--download", action="store_true", help="download it into the cache if it is not present")
    add_options(parser, "--json")


def run(args: argparse.Namespace) -> int:
    """List all data sets, or describe one."""
    if args.name is None:
        if args.download:
            raise UsageError("--download needs the name of a data set.")
        entries = [_entry(record) for record in list_datasets()]
        show(json.dumps(entries, indent=2) if args.json else _table(entries))
        return 0
    try:
        record = find(args.name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if args.download:
        if locate(record) is None and record.sources:
            tell(f"Downloading {record.sources[0].url}")
        obtain(record)
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
    folders = f"ISPCA_DATA: {data_folder() or 'not set'}; cache: {cache_folder() or 'needs pooch'}"
    return "\n".join([*lines, "", f"{here} of {len(entries)} present. {folders}"])

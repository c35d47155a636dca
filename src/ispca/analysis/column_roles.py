"""Columns of a table that may be the target, a covariate or a group, and whether its rows may be features."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..data_checks.repeated_samples import LONG_SOURCES, SHORT_SOURCES
from ..readers import Table
from ..readers.numbers_and_dates import plain_numbers
from ..readers.target_column import event_values, labels_of, numbers_of
from ..targets import CLASSES, FEW_VALUES, QUANTITY, guess_target

MOST_COLUMNS, MOST_VALUES = 200, 8
# More numeric columns of few values than this are the nature of the data, such as genotypes.
MOST_FEW = 50
# Values of features that are looked at, which bounds the time.
MOST_CELLS = 5_000_000
# Columns at the end of a table, where the target often is.
N_LAST = 5
# More distinct values than this are looked at as numbers first, which is faster.
MANY_VALUES = 1000
# A column with this score is suggested as the target.
LIKELY = 3


def _words(beginnings: str, whole: str) -> re.Pattern[str]:
    """Return a pattern of the beginnings of words, and of whole words."""
    return re.compile(rf"(?<![a-z])(?:{beginnings}|(?:{whole})s?(?![a-z]))", re.IGNORECASE)


TARGET = _words(
    r"target|outcome|diagnos|status|condition|respon|phenotyp|disease|tumou?r|cancer|tissue|relaps|recur|cell.?type|"
    r"subtype|treatment|surviv|died|death|histolog|y\Z",
    r"class|label|case|event|stage|grade",
)
COVARIATE = _words(
    r"batch|gender|ethnic|smok|scanner|sequenc",
    r"plate|date|cent(?:er|re)|site|run|sex|age|array|lane|rin|bmi|race|id|name",
)
GROUP = _words(f"{LONG_SOURCES}|replicate", SHORT_SOURCES)
ID = _words(r"barcode|accession", r"id|name")
ENDPOINT = r"os|pfs|dfs|rfs|efs|dss|dmfs"
TIME = _words(r"follow.?up|duration|surviv", rf"time|month|day|week|year|fu|futime|{ENDPOINT}")
EVENT = _words(
    r"status|died|death|dead|deceased|censor|relaps|recur|progress|vital", rf"event|fustat|observed|{ENDPOINT}"
)
KNOWN = re.compile("|".join(each.pattern for each in (TARGET, COVARIATE, GROUP, TIME, EVENT)), re.IGNORECASE)


# Identifiers of genes, transcripts, probes, variants and regions.
FEATURE = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|[NX][MRP]_\d+(\.\d+)?|\w+_at|ILMN_\d+|cg\d{8}|rs\d+|A_\d+_P\d+|"
    r"(hsa|mmu)-(mir|let)-[\w-]+|chr\w+[:_]\d+.*"
)
FEATURE_COLUMN = re.compile(
    r"id_ref|(gene|probe|probeset|feature|symbol|ensembl|transcript|protein|peptide|metabolite|snp|cpg|otu|taxon)s?"
    r"([ _.-]?(id|ids|name|symbol|set|set_id))?",
    re.IGNORECASE,
)
N_NAMES = 50
# More rows than this, and more of them per column, are unusual for samples.
MANY_ROWS, ROWS_PER_COLUMN = 500, 5


def candidates(table: Table) -> list[dict[str, Any]]:
    """Return columns that may describe the samples: those of the sheet or of text, and some of the features."""
    # The columns of the sheet come first, so that features do not crowd them out.
    described = [_describe(*column) for column in islice(_columns(table), MOST_COLUMNS)]
    suggest_roles(described)
    return sorted(described, key=lambda column: -column["score"])


def _columns(table: Table) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and values of each column, and whether it is a feature."""
    for name, values in table.sheet.items():
        yield name, values, False
    if not isinstance(table.X, np.ndarray):
        return
    n_samples, n_features = table.X.shape
    few = _few_values(table.X)
    named = list(islice(_known_names(table.features), MOST_FEW))
    last = range(max(0, n_features - N_LAST), n_features)
    # Where a sheet describes the samples, other columns are features.
    most = 0 if table.read_as.matched_on else min(n_features, MOST_CELLS // max(n_samples, 1))
    chosen = dict.fromkeys([*named, *few, *(last if most else ()), *range(min(most, MOST_COLUMNS))])
    for j in sorted(islice(chosen, max(0, MOST_COLUMNS - len(table.sheet)))):
        yield str(table.features[j]), table.X[:, j], True


def _known_names(names: Iterable[Any]) -> Iterator[int]:
    """Yield the places of names that samples are described by."""
    known: dict[str, bool] = {}
    for j, name in enumerate(names):
        # Names of features often differ in their numbers only, which saves most searches.
        stem = str(name).rstrip("0123456789")
        if stem not in known:
            known[stem] = KNOWN.search(stem) is not None
        if known[stem]:
            yield j


def _few_values(X: np.ndarray) -> list[int]:
    """Return the columns of few distinct integers, unless many are."""
    first = X[:: max(1, len(X) // 50)]
    integers = np.flatnonzero(((first == np.round(first)) | np.isnan(first)).all(axis=0))
    few: list[int] = []
    for j in map(int, integers):
        if len(np.unique(first[:, j])) <= FEW_VALUES + 1:
            distinct = np.unique(X[:, j])
            if 2 <= np.count_nonzero(np.isfinite(distinct)) <= FEW_VALUES:
                few.append(j)
        if len(few) > MOST_FEW or j > MOST_CELLS // len(X) + MOST_COLUMNS:
            return [] if len(few) > MOST_FEW else few
    return few


class Content(NamedTuple):
    """What a column contains: how often each label occurs, or the distinct numbers of a quantity."""

    often: Counter[str]
    numbers: np.ndarray | None
    n_values: int
    n_present: int
    n_missing: int

    @property
    def has_classes(self) -> bool:
        """Whether the labels are few enough to be classes."""
        return self.numbers is None and self.n_values <= max(FEW_VALUES, self.n_present // 2)

    @property
    def is_text(self) -> bool:
        """Whether it is neither classes nor a quantity."""
        return self.numbers is None and not self.has_classes


def _describe(name: str, values: Any, is_feature: bool) -> dict[str, Any]:
    content = _content(values)
    numbers = content.numbers
    return {
        "name": name,
        "kind": "text" if content.is_text else (CLASSES if content.has_classes else QUANTITY).option,
        "values": dict(content.often.most_common(MOST_VALUES)) if content.has_classes else {},
        "range": None if numbers is None else [float(numbers.min()), float(numbers.max())],
        "n_values": content.n_values,
        "missing": content.n_missing,
        "score": _score(name, content, is_feature),
        "suggested": _usual_role(name, content),
    }


def _content(values: Any) -> Content:
    if not (isinstance(values, np.ndarray) and values.dtype.kind == "f"):
        texts = Counter(map(str, values))
        if len(texts) <= MANY_VALUES or plain_numbers(list(texts)) is None:
            return _count_labels(list(texts), list(texts.values()))
        values = np.array(list(map(str, values)), dtype=np.float64)
    finite = values[np.isfinite(values)]
    distinct, counts = np.unique(finite, return_counts=True)
    n_missing = len(values) - len(finite)
    if len(distinct) and guess_target(distinct)[0].numeric:
        return Content(Counter(), distinct, len(distinct), len(finite), n_missing)
    return _count_labels([*distinct.tolist(), ""], [*counts.tolist(), n_missing])


def _count_labels(items: list[Any], counts: list[int]) -> Content:
    """Return the content of a column, given its distinct items and how often each occurs."""
    often: Counter[str] = Counter()
    for text, number in zip(labels_of(items).tolist(), counts, strict=True):
        often[text] += number
    n_missing = often.pop("", 0)
    n_present, numbers = often.total(), numbers_of(list(often))
    if numbers is not None:
        numbers = numbers[np.isfinite(numbers)]
        numbers = numbers if len(numbers) and guess_target(numbers)[0].numeric else None
    return Content(often, numbers, len(often), n_present, n_missing)


def _score(name: str, content: Content, is_feature: bool) -> int:
    """Return how likely a column is the target."""
    score = LIKELY * bool(TARGET.search(name)) - 2 * bool(COVARIATE.search(name) or GROUP.search(name))
    if content.n_values < 2:
        return score - 10
    if content.has_classes:
        score += 2 + (content.n_values == 2) - 2 * (min(content.often.values()) < 2) - is_feature
    if content.is_text:
        score -= 5
    return score - 2 * (content.n_missing > content.n_present)


def suggest_roles(columns: list[dict[str, Any]]) -> None:
    """Suggest the target, or time and event, among the columns that have no other role; most have none."""
    free = [column for column in columns if column["suggested"] is None]
    times = [each for each in free if each["range"] and each["range"][0] >= 0 and TIME.search(each["name"])]
    events = [column for column in free if _is_event(column)]
    pairs = [(time, event) for time in times for event in events]
    if pairs:
        # Of several endpoints, the columns of one have a word in common, such as OS.time and OS.
        time, event = max(pairs, key=lambda pair: len(_parts(pair[0]) & _parts(pair[1])))
        time["suggested"], event["suggested"] = "time", "event"
    likely = [column for column in free if column["score"] >= LIKELY and column["suggested"] is None]
    if likely:
        max(likely, key=lambda column: column["score"])["suggested"] = "target"


def _usual_role(name: str, content: Content) -> str | None:
    """Return the role of a column that its name and its values suggest, regardless of other columns."""
    if content.n_values < 2 or TARGET.search(name):
        return None
    if content.n_values == content.n_present and (content.is_text or ID.search(name) or GROUP.search(name)):
        return "id"
    if GROUP.search(name):
        return "group" if content.n_values > 2 else None
    return "covariate" if COVARIATE.search(name) and not content.is_text else None


def _is_event(column: dict[str, Any]) -> bool:
    found = event_values(map(str, column["values"]))
    return found is not None and all(map(len, found)) and bool(EVENT.search(column["name"]))


def _parts(column: dict[str, Any]) -> set[str]:
    return set(re.findall("[a-z]+", column["name"].lower()))


def features_seem_in_rows(table: Table, columns: list[dict[str, Any]]) -> bool:
    """Return whether the names of the rows are those of features, or there are many and nothing to predict."""
    if not isinstance(table.X, np.ndarray):
        return False
    named_by = [table.read_as.ids_from, *table.sheet]
    if any(name is not None and FEATURE_COLUMN.fullmatch(name) for name in named_by):
        return True
    names = [str(name) for name in table.ids[:N_NAMES]]
    if 2 * sum(FEATURE.fullmatch(name) is not None for name in names) > len(names):
        return True
    n_samples, n_features = table.X.shape
    many = n_samples > MANY_ROWS and n_samples > ROWS_PER_COLUMN * n_features
    return many and not any(column["score"] > 2 for column in columns)

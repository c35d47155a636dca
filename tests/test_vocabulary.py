"""Everything people read is plain American English: banned patterns in docs, docstrings, messages and comments."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BANNED = {
    "American spelling": r"(standardi|normali|summari|recogni|regulari|generali|minimi|maximi)s(e|ing|ation)"
    r"|\bcentre|colour|licence|neighbour|behaviour|\bgrey\b|misspelt|\bmodelled",
    "integer": r"\bwhole numbers?\b",
    "97%": r"[\d}] %(?![\w(])|\bper cent\b",
    "is not a": r"(?<!there )\bis no (?!longer|more|less|larger|smaller|better|worse|faster|slower)",
    "appears": r"\bstands? (in|more than once|under)\b",
    "number of": r"\bso many\b",
    "plural": r"[a-z]{2}\(s\)",
    "should": r"\bought\b",
    "correctly": r"\brightly\b|\bpredicted right\b",
    "separates": r"\bt(old|ells?) (\w+ ){0,3}apart\b|\btell (\w+ ){0,3}apart\b",
    "overconfident": r"\bsure of (itself|themselves)\b",
    "related to": r"\b(has|have) to do with\b",
    "associated beyond chance": r"\bchance would have it\b",
    "P(sign)": r"\bsign sure\b|% sure\b",
    "posterior draws": r"\bkept draws\b",
    "as is": r"\bsuch as it is\b",
}
# Areas that still contain a pattern. Only remove entries: the test fails if one is no longer needed.
ALLOWED: dict[str, set[str]] = {
    "docs/validation.md": {"American spelling", "97%"},
    "src/ispca/models": {"number of"},
    "src/ispca/reduction": {"is not a", "number of"},
    "src/ispca/validation": {
        "American spelling",
        "integer",
        "97%",
        "is not a",
        "number of",
        "plural",
        "correctly",
        "separates",
    },
}


def files():
    """Yield the area and the path of every file with text for users or contributors."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        yield path.relative_to(ROOT).as_posix(), path
    for path in sorted((ROOT / "docs" / "guide").glob("*.md")):
        yield "docs/guide", path
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield "examples", path
    for path in sorted((ROOT / "src" / "ispca").rglob("*")):
        if path.suffix in (".py", ".js"):
            parts = path.relative_to(ROOT).parts
            yield "/".join(parts[:3]), path


def python_text(text):
    """Yield the line number and the source of every string and comment."""
    lines = text.splitlines(keepends=True)
    depth, start = 0, (1, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        # From Python 3.12 on, f-strings consist of several tokens.
        if kind == "FSTRING_START":
            start = token.start if depth == 0 else start
            depth += 1
        elif kind == "FSTRING_END":
            depth -= 1
            if depth == 0:
                first, last = start[0], token.end[0]
                yield first, "".join(lines[first - 1 : last - 1]) + lines[last - 1][: token.end[1]]
        elif kind in ("STRING", "COMMENT") and depth == 0:
            yield token.start[0], token.string


def prose(path):
    """Yield the line number and the text of strings and comments, or of Markdown without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for first, string in python_text(text):
            for number, line in enumerate(string.splitlines(), first):
                if not line.lstrip().startswith((">>> ", "... ")):
                    yield number, re.sub(r"(`+).*?\1", "", line)
        return
    if path.suffix == ".md":
        text = re.sub(r"(?ms)^(```+).*?^\1$", lambda block: "\n" * block[0].count("\n"), text)
        text = re.sub(r"`[^`\n]*`", "", text)
    yield from enumerate(text.splitlines(), 1)


def findings():
    found: dict[tuple[str, str], list[str]] = {}
    for area, path in files():
        for number, line in prose(path):
            for name, pattern in BANNED.items():
                if re.search(pattern, line, re.IGNORECASE):
                    where = f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
                    found.setdefault((area, name), []).append(where)
    return found


@pytest.fixture(scope="module")
def found():
    return findings()


def test_no_banned_pattern_is_used(found):
    new = [
        f"[{name}] {line}"
        for (area, name), lines in found.items()
        if name not in ALLOWED.get(area, set())
        for line in lines
    ]
    assert not new, "Rewrite these lines:\n" + "\n".join(new)


def test_no_allowance_outlives_its_need(found):
    unused = [(area, name) for area, names in ALLOWED.items() for name in names if (area, name) not in found]
    assert not unused, f"Remove these entries from ALLOWED: {unused}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The mean is standardised.", "American spelling"),
        ("a share of 97 % of them", "97%"),
        ("{name!r} is no readable file", "is not a"),
        ("1 divergent transition(s)", "plural"),
        ("tells the classes apart", "separates"),
        ("The first so many components", "number of"),
    ],
)
def test_the_patterns_find_what_they_ban(text, name):
    assert re.search(BANNED[name], text, re.IGNORECASE)


@pytest.mark.parametrize("text", ["There is no signal.", "It is no longer needed.", "97% of samples", "f(s)"])
def test_the_patterns_spare_plain_english(text):
    assert not [name for name, pattern in BANNED.items() if re.search(pattern, text, re.IGNORECASE)]

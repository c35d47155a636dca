"""Checks that the version, the changelog and the tag of a release agree: python .ci/check_release.py [TAG]."""

import re
import sys
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?(\.dev\d+)?")


def sections(changelog):
    """Return the title, the date (or None) and the text of each version in a changelog, newest first."""
    parts = re.split(r"^## \[(.+?)\](?: - (.+))?$", changelog, flags=re.MULTILINE)
    texts = [text.strip() for text in parts[3::3]]
    return list(zip(parts[1::3], parts[2::3], texts, strict=True))


def is_date(text):
    """Return whether a text is a date such as 2026-11-30."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def release_problems(version, found):
    """Return what is wrong with the changelog of a version that is to be released."""
    unreleased = [text for title, _, text in found if title == "Unreleased"]
    released = [section for section in found if section[0] != "Unreleased"]
    if not released or released[0][0] != version:
        return [f"The first version in CHANGELOG.md must be {version}: add '## [{version}] - YYYY-MM-DD'."]
    problems = []
    _, day, text = released[0]
    if day is None or not is_date(day):
        problems.append(f"The title of {version} in CHANGELOG.md must end with ' - ' and its date as YYYY-MM-DD.")
    if not text:
        problems.append(f"The section of {version} in CHANGELOG.md is empty: list its changes.")
    if any(unreleased):
        problems.append(f"CHANGELOG.md lists unreleased changes: move them to the section of {version}.")
    return problems


def find_problems(version, changelog, tag=None):
    r"""Return one sentence for each disagreement; without a tag, a development version is fine.

    Examples
    --------
    >>> find_problems("1.0.0", "## [1.0.0] - 2026-11-30\n\n- Changed.\n", tag="v1.0.1")
    ['The tag is v1.0.1, but pyproject.toml has 1.0.0: the tag must be v1.0.0.']
    """
    if not VERSION.fullmatch(version):
        return [f"The version in pyproject.toml must look like 1.2.3, 1.2.3rc1 or 1.2.3.dev0, got {version!r}."]
    problems = []
    if tag is not None and tag != f"v{version}":
        problems.append(f"The tag is {tag}, but pyproject.toml has {version}: the tag must be v{version}.")
    found = sections(changelog)
    if ".dev" not in version:
        return problems + release_problems(version, found)
    if tag is not None:
        problems.append(f"{version} is a development version: remove '.dev' in pyproject.toml before tagging.")
    if not found or found[0][0] != "Unreleased":
        problems.append("CHANGELOG.md must start with '## [Unreleased]' while a version is in development.")
    if any(title == version.partition(".dev")[0] for title, _, _ in found):
        problems.append(f"CHANGELOG.md already has a section for the version that {version} leads to.")
    return problems


def main(arguments):
    """Print the problems and return the exit code."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    problems = find_problems(version, changelog, *arguments[:1])
    print("\n".join(problems or [f"Version {version} and the changelog agree."]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

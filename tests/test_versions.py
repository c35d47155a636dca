"""The oldest versions that pyproject.toml allows are those of constraints-oldest.txt, which CI tests."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def required(extra):
    """Yield the requirements of an extra, and of the extras that it consists of."""
    for line in PROJECT["optional-dependencies"][extra]:
        requirement = Requirement(line)
        if requirement.name == "ispca":
            for part in requirement.extras:
                yield from required(part)
        else:
            yield requirement


def pinned():
    """Return the version of each package in constraints-oldest.txt."""
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


REQUIRED = {item.name: item for item in [*map(Requirement, PROJECT["dependencies"]), *required("test-all")]}


@pytest.mark.parametrize("name", sorted(REQUIRED, key=str.lower))
def test_the_oldest_version_is_tested(name):
    [bound] = REQUIRED[name].specifier
    assert bound.operator == ">="
    assert Version(pinned()[name]) == Version(bound.version)


def test_nothing_else_is_pinned_to_an_old_version():
    assert set(pinned()) == set(REQUIRED)


def test_supported_pythons():
    """Classifiers, the wheels of a release and the turns of CI name the same versions."""
    classifiers = [re.search(r":: (3\.\d+)$", line) for line in PROJECT["classifiers"]]
    versions = [found[1] for found in classifiers if found]
    assert versions[0] == PROJECT["requires-python"].removeprefix(">=")
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tools["cibuildwheel"]["build"] == [f"cp{version.replace('.', '')}-*" for version in versions]
    turns = ROOT / ".ci" / "run"
    if turns.exists():  # not in the source distribution
        assert f"for other in {' '.join(versions)}; do" in turns.read_text(encoding="utf-8")

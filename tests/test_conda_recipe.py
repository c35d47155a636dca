"""The recipe for conda-forge agrees with pyproject.toml."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
RECIPE = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
# Those who install with conda cannot choose extras.
EXTRAS = ("cli", "app", "plots")
NAMES = {"matplotlib": "matplotlib-base"}


def as_conda(lines):
    """Return requirements of pip in the form of conda, without extras of the package itself."""
    found = [item for item in map(Requirement, lines) if item.name != "ispca"]
    return {f"{NAMES.get(item.name, item.name.lower())} {item.specifier}" for item in found}


def test_version_and_description():
    assert RECIPE["context"]["version"] == PROJECT["version"].partition(".dev")[0]
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["about"]["license"] == PROJECT["license"]


def test_licenses_exist_and_none_is_missing():
    licenses = {path.relative_to(ROOT).as_posix() for path in (ROOT / "licenses").glob("*.txt")}
    assert set(RECIPE["about"]["license_file"]) == {"LICENSE", *licenses}


def test_requirements_to_run():
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *extras["report"], *(line for name in EXTRAS for line in extras[name])]
    assert set(RECIPE["requirements"]["run"]) == {"python", *as_conda(lines)}


def test_requirements_to_build():
    tools = as_conda(PYPROJECT["build-system"]["requires"])
    assert set(RECIPE["requirements"]["host"]) == {"python", "pip", *tools}

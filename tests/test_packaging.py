"""What the package declares and what comes with it."""

import ast
import importlib
import re
import sys
from importlib.metadata import files, packages_distributions, requires
from pathlib import Path

import ispca

SOURCE = Path(ispca.__file__).parent
LOADERS = {"load_extra", "load_package"}
# Imported only if X is an array of theirs, so that they are there.
OF_USERS = {"jax", "torch"}
LICENSES = {"LICENSE", "nanobind.txt", "robin-map.txt"}


def imported_modules():
    """Return the top-level modules of other packages that any file imports, also by its loaders of extras."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in LOADERS:
                found |= {arg.value.partition(".")[0] for arg in node.args[1:] if isinstance(arg, ast.Constant)}
    return found - set(sys.stdlib_module_names) - OF_USERS - {"ispca"}


def test_every_import_is_declared():
    declared = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in requires("ispca")}
    distributions = packages_distributions()
    undeclared = {
        module
        for module in imported_modules()
        if not declared.intersection(
            name.lower().replace("_", "-") for name in distributions.get(module, [module])
        )
    }
    assert not undeclared


def test_what_is_installed_works_together():
    # Tests that need a library are skipped if it cannot be imported, for whatever reason.
    distributions = packages_distributions()
    for module in sorted(imported_modules() & distributions.keys()):
        importlib.import_module(module)


def test_licenses_are_installed():
    installed = {str(path) for path in files("ispca")}
    for name in LICENSES:
        assert any(path.endswith(f"/{name}") and ".dist-info/" in path for path in installed), name

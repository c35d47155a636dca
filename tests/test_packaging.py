"""What the installed distribution declares and carries."""

import ast
import re
import sys
from importlib.metadata import files, packages_distributions, requires
from pathlib import Path

import ispca

SOURCE = Path(ispca.__file__).parent


def imported_modules():
    """Return the top-level modules that any file of the package imports, except its own."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"ispca"}


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


def test_type_information_and_licenses_are_installed():
    installed = {str(path) for path in files("ispca")}
    assert "ispca/py.typed" in installed
    for name in ("LICENSE", "nanobind.txt", "robin-map.txt"):
        assert any(path.endswith(f"/{name}") and ".dist-info/" in path for path in installed), name

"""Imports inside the package point only from higher layers to lower ones; files and functions stay short."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "ispca"
# Lowest layer first: packages and modules import only from the lines before their own.
LAYERS = (
    {"foundation"},
    {"families"},
    {"containers"},
    {"targets"},
    {"readers"},
    {"datasets"},
    {"reduction"},
    {"data_checks"},
    {"inputs"},
    {"transformers"},
    {"fitted_parts"},
    {"models", "penalized", "kernels"},
    {"fitting"},
    {"stacking"},
    {"plots"},
    {"bagging"},
    {"validation"},
    {"selection"},
    {"report"},
    {"persistence"},
    {"analysis"},
    {"app"},
    {"anndata", "commands", "demo"},
    {"cli"},
    {"app_worker"},
    {"__init__", "__main__"},
)
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}
CODE = {".py", ".js", ".css", ".html", ".cpp", ".hpp"}


def imports(source, package):
    """Yield each module of ispca that a module imports, as names below ispca, and whether a function does so."""
    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    hidden = {id(node) for outer in ast.walk(tree) if isinstance(outer, functions) for node in ast.walk(outer)}
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.Import):
            found = [name.name.split(".") for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            base = ["ispca", *package][: len(package) + 2 - node.level] + parts if node.level else parts
            found = [[*base, name.name] for name in node.names]
        for name in found:
            if name[0] == "ispca":
                yield tuple(name[1:]), id(node) in hidden


def defined(name):
    """Drop what a module defines, so that a module's own name is left; the package itself is ``__init__``."""
    while name and not (SOURCE.joinpath(*name).is_dir() or SOURCE.joinpath(*name).with_suffix(".py").is_file()):
        name = name[:-1]
    return name or ("__init__",)


def edges():
    """Yield importing module, imported module, and whether the import is inside a function."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).with_suffix("").parts
        for name, hidden in imports(path.read_text(), module[:-1]):
            yield module, defined(name), hidden


def broken_rules():
    """Return what breaks the rules: imports from the same or a higher layer, and imports inside functions."""
    return {
        (module[0], ".".join(target))
        for module, target, hidden in edges()
        if hidden or (module[0] != target[0] and LEVEL[module[0]] <= LEVEL[target[0]])
    }


def test_every_package_has_a_layer():
    here = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert here == LEVEL.keys(), "LAYERS must list every package and module of ispca, and nothing else"


def test_no_import_points_upward_or_hides_in_a_function():
    assert broken_rules() == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from ..plots import canvas", [(("plots", "canvas"), False)]),
        ("from .splits import Split", [(("validation", "splits", "Split"), False)]),
        ("from .. import __version__", [(("__version__",), False)]),
        ("import ispca.plots.canvas, numpy", [(("plots", "canvas"), False)]),
        ("from ispca.plots import canvas", [(("plots", "canvas"), False)]),
        ("def f():\n    if x:\n        from . import splits", [(("validation", "splits"), True)]),
        ("if TYPE_CHECKING:\n    from ..plots import canvas", [(("plots", "canvas"), False)]),
    ],
)
def test_imports_of_a_module(source, expected):
    assert list(imports(source, ("validation",))) == expected


def test_no_file_is_longer_than_400_lines():
    root = SOURCE.parents[1]
    folders = ("src", "cpp", "tests", "paper", "benchmarks", "fuzz", "examples")
    code = [path for folder in folders for path in (root / folder).rglob("*") if path.suffix in CODE]
    assert code
    long = {str(path.relative_to(root)) for path in code if len(path.read_text().splitlines()) > 400}
    assert long == set()


def test_no_function_is_longer_than_50_lines():
    long = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                documented = ast.get_docstring(node, clean=False) is not None
                docstring = first.end_lineno - first.lineno + 1 if documented else 0
                if node.end_lineno - node.lineno + 1 - docstring > 50:
                    long.add(node.name)
    assert long == set(), "longer than 50 lines, without the docstring"


def test_only_the_command_of_the_page_imports_the_page():
    importing = {module[-1] for module, name, _ in edges() if module[0] == "commands" and name[0] == "app"}
    assert importing == {"app"}

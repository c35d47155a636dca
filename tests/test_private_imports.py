"""Private names of scikit-learn: only those without a public counterpart, listed here with the reason."""

import ast
from pathlib import Path

import ispca

VALIDATION = "constraints of parameters, as scikit-learn's own estimators declare them, have no public counterpart"
ALLOWED = {
    "sklearn.base._fit_context": "the decorator that checks the declared constraints before fit",
    "sklearn.utils._param_validation.HasMethods": VALIDATION,
    "sklearn.utils._param_validation.Interval": VALIDATION,
    "sklearn.utils._param_validation.StrOptions": VALIDATION,
    "sklearn.utils._param_validation.InvalidParameterError": "raised if a constraint is violated",
}


def private_imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (n for n in names if n.startswith("sklearn.") and any(part[0] == "_" for part in n.split(".")))


def test_only_the_listed_private_names_are_imported():
    package = Path(ispca.__file__).parent
    assert {name for path in package.rglob("*.py") for name in private_imports(path)} == set(ALLOWED)


def test_private_names_are_found(tmp_path):
    lines = [
        "import sklearn.utils._tags",
        "from sklearn.utils import validation, _mask",
        "from sklearn._loss import f",
    ]
    (tmp_path / "module.py").write_text("\n".join(lines))
    found = ["sklearn.utils._tags", "sklearn.utils._mask", "sklearn._loss.f"]
    assert list(private_imports(tmp_path / "module.py")) == found

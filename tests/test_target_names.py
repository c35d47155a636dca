"""No package but `targets` compares the name of a kind of target: they ask its object."""

import ast
import re
from pathlib import Path

import pytest

from ispca import targets
from ispca.targets import TARGETS

SOURCE = Path(__file__).parents[1] / "src" / "ispca"
# The words of the command line and its checks, which are needed before anything large is imported.
EARLY = ("foundation/messages.py", "analysis/settings.py")
OBJECTS = {name for name in vars(targets) if isinstance(getattr(targets, name), targets.Target)}
OBJECTS |= {"KIND_OF_TIMES", "KIND_OF_COUNTS"}
# The names of the kinds, and their words for users.
NAMES = {word for target in TARGETS.values() for word in (target.name, target.option)}


def names_in(node):
    """Return the kinds in an expression, such as a tuple: their names, or the constants that hold them."""
    constants = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and part.value in NAMES}
    return constants | {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in OBJECTS}


def offending_lines(source):
    """Yield the lines that compare a name, match it, or have a table with at least two names as keys."""
    for node in ast.walk(ast.parse(source)):
        sides = []
        if isinstance(node, ast.Compare):
            plain = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set)
            sides = [side for side in (node.left, *node.comparators) if isinstance(side, plain)]
        elif isinstance(node, ast.match_case):
            sides = [node.pattern]
        elif isinstance(node, ast.Dict):
            keys = [key for key in node.keys if key is not None and names_in(key)]
            sides = keys if len(keys) > 1 else []
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple | ast.List | ast.Set):
            # A list of kinds that the code could ask for, such as those with classes.
            sides = [node.value] if len(names_in(node.value)) > 1 else []
        if any(names_in(side) for side in sides):
            yield getattr(node, "lineno", None) or node.pattern.lineno


def test_no_other_package_compares_names_of_kinds():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("targets/") and name not in EARLY:
            found += [f"{name}:{line}" for line in sorted(set(offending_lines(path.read_text())))]
    assert not found, "ask the object of the kind instead of comparing its name: " + ", ".join(found)


def test_no_script_of_the_page_compares_names_of_kinds():
    named = rf"""[=!]== ["'`]({"|".join(sorted(NAMES))})["'`]"""
    scripts = {path.name: path.read_text() for path in (SOURCE / "app" / "static").glob("*.js")}
    assert scripts
    assert not {name: found[0] for name, text in scripts.items() if (found := re.search(named, text))}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if kind == 'survival': pass", True),
        ("timed = 'survival' != table.kind", True),
        ("if kind in ('count', 'ordinal'): pass", True),
        ("match kind:\n    case 'count': pass", True),
        ("WORDS = {'classification': 'class', 'regression': 'quantity'}", True),
        ("KINDS = ('classification', 'ordinal')", True),
        ("if table.kind == SURVIVAL.name: pass", True),
        ("if column['kind'] == 'quantity': pass", True),
        ("if kind == KIND_OF_TIMES: pass", True),
        ("if target is CLASSES: pass", True),
        ("raise ValueError('Leave out count')", False),
        ("columns = {'time': time, 'survival': curve}", False),
        ("fields = ('survival', 'low', 'high')", False),
        ("find_target('survival').timed", False),
    ],
)
def test_what_counts_as_a_comparison(source, found):
    assert bool(list(offending_lines(source))) == found

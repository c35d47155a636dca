"""Advice is checked by following it: the line that it names works, and does not give the same advice again."""

import ast
import re
from pathlib import Path

import pytest

import ispca
from advice_cases import CASES, OF_MODELS
from ispca.commands.console import in_options

SOURCE, TESTS = Path(ispca.__file__).parent, Path(__file__).parents[1]


def check(case, study, user):
    case.prepare(study)
    answer = user(case.line, case.code)
    assert re.search(case.advice, answer.err), answer.err
    for line in case.follow:
        assert not re.search(case.advice, user(line).err)


@pytest.mark.parametrize("name", CASES)
def test_following_the_advice_works(study, user, name):
    check(CASES[name], study, user)


@pytest.mark.parametrize("name", OF_MODELS)
def test_following_the_advice_on_new_samples_works(study, user, name):
    study.write_table("training.csv")
    user("ispca fit training.csv --target tissue --out results")
    check(OF_MODELS[name], study, user)


# Advice about large files, folders of 10x Genomics, killed runs and the server, by the tests that provoke it.
PROVOKED_ELSEWHERE = {
    "Both files need the same sample names. If they": "readers/test_sheets.py",
    "If features are in rows, pass --transpose.": "readers/test_text.py",
    "Pass --samples SHEET, a table with one row per barcode.": "readers/test_tenx.py",
    "Raise it with --memory.": "commands/test_large_new_samples.py",
    "... needs all data in memory": "commands/test_large_comparisons.py",
    "Pass --model components to predict": "commands/test_fit_verdict.py",
    "--host ... lets other machines connect.": "app/test_command.py",
    "Your home folder is unknown": "app/test_command.py",
    "If the file is correct, raise the limit with --memory": "readers/test_limits.py",
    "Run “ispca fit” with --cv 5": "report/test_panel.py",
    "Pass --missing rows.": "commands/test_predict.py",
    "Leave out --transform ...": "commands/test_scales.py",
    "... Choose a folder with --folder.": "app/test_command.py",
}


def advice_in_source():
    """Return the texts of the readers, commands and checks that tell a user to pass or leave out an option."""
    pattern = re.compile(r"(?:Pass|pass|Leave out|Add|with|or) --[a-z]")
    for folder in ("readers", "commands", "data_checks"):
        for path in sorted((SOURCE / folder).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            parts = {
                id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
            }
            for node in ast.walk(tree):
                whole = isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts
                text = in_options(_text(node)) if whole else ""
                if pattern.search(text) and ">>>" not in text:
                    yield path.name, text


def _text(node):
    """Return a literal, with ... for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "..."


def test_all_advice_is_followed():
    assert all((TESTS / place).is_file() for place in PROVOKED_ELSEWHERE.values())
    known = [case.advice for case in (*CASES.values(), *OF_MODELS.values())]
    assert [
        f"{file}: {text}"
        for file, text in advice_in_source()
        if not text.startswith(tuple(PROVOKED_ELSEWHERE)) and not any(re.search(advice, text) for advice in known)
    ] == []

"""The help of the commands, and that docs/cli.md explains all of their options."""

import argparse
import re
from pathlib import Path

import pytest

from ispca.cli import COMMANDS, main, make_parser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "cli.md"
# Options of other programs, and of the modules that run experiments and benchmarks.
OF_OTHERS = {
    *("--install", "--tag", "--rm", "--user", "--volume", "--publish", "--interactive", "--tty"),
    *("--page", "--write", "--count", "--file", "--known-hash", "--data", "--sets", "--engines"),
}
HEADINGS = {
    "fit": ["input", "columns", "model", "validation", "output", "other", "example"],
    "compare": ["input", "columns", "model", "validation", "output", "other", "example"],
    "select": ["input", "panel", "output", "other", "example"],
    "predict": ["input", "output", "other", "example"],
}


@pytest.fixture
def help_of(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def lines(*command):
        assert main([*command, "--help"]) == 0
        return capsys.readouterr().out.splitlines()

    return lines


def options_of(command):
    parser = make_parser(command)
    (commands,) = (item for item in parser._actions if isinstance(item, argparse._SubParsersAction))
    return commands.choices[command]._actions


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_fits_a_screen_and_shows_an_example(command, help_of):
    lines = help_of(*command)
    # The commands that read a target have many options for the columns of DATA.
    assert len(lines) <= (64 if command in (["fit"], ["compare"]) else 44)
    assert max(map(len, lines)) <= 86
    assert any(line.startswith("example:") for line in lines)


@pytest.mark.parametrize("command", HEADINGS)
def test_options_are_grouped_and_take_one_line(command, help_of):
    lines = help_of(command)
    assert [line[:-1] for line in lines if re.fullmatch("[a-z]+:", line)] == HEADINGS[command]
    options = lines[: lines.index("example:")]
    assert not [line for line in options if line.startswith("    ")], "a line that continues another one"


def test_every_option_is_documented():
    text = DOCS.read_text(encoding="utf-8")
    options = {
        (command, name)
        for command in COMMANDS
        for action in options_of(command)
        for name in action.option_strings
        if name.startswith("--")
    }
    assert len(options) > 80
    absent = sorted(f"{command} {name}" for command, name in options if not re.search(rf"{name}(?![\w-])", text))
    assert not absent


def test_every_option_in_the_documentation_exists():
    known = {name for command in COMMANDS for action in options_of(command) for name in action.option_strings}
    known |= {"--version"} | OF_OTHERS
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        (name, page.name)
        for page in pages
        for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 100
    assert not [(name, page) for name, page in named if name not in known]

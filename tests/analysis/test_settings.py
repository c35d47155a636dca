"""Settings: one table for Python, the command line and the page."""

import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from ispca import Settings
from ispca.analysis.settings import DEFAULTS, OPTIONS
from ispca.cli import make_parser
from ispca.commands.console import in_options
from ispca.foundation.messages import SettingError


def test_every_field_has_an_option_in_the_same_order():
    assert [item.name for item in fields(Settings)] == list(OPTIONS)
    assert {"flag": bool, "names": tuple}.items() <= {
        OPTIONS[name].form: type(value) for name, value in DEFAULTS.items()
    }.items()


def test_the_help_and_the_choices_name_the_defaults():
    """Defaults of None are found during the analysis, and flags are off."""
    stated = {
        name: value
        for name, value in DEFAULTS.items()
        if OPTIONS[name].form != "flag" and value is not None and value != ()
    }
    assert len(stated) == 6
    for name, value in stated.items():
        option = OPTIONS[name]
        words = re.search(r"\(default:? ([\w-]+)|([\w-]+) \(default\)", option.help)
        assert words, f"the help of {name} does not name its default"
        assert (words[1] or words[2]) == str(value), name
        assert not option.choices or value in option.choices, name


def test_importing_the_settings_imports_nothing_large():
    code = "import sys, ispca.analysis.settings; print({'numpy', 'sklearn', 'argparse'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


@pytest.mark.parametrize(
    ("given", "python", "shell"),
    [
        ({"event": "died"}, "event needs time: a survival", "--event needs --time: a survival"),
        ({"event_value": "1"}, "event_value needs time and event.", "--event-value needs --time and --event."),
        (
            {"time": "t", "event": "e", "kind": "regression"},
            "do not go with kind='regression'. Leave out kind.",
            "do not go with --kind quantity. Leave out --kind.",
        ),
        ({"offset": "o"}, "Add kind='count'.", "Add --kind count."),
        ({"cv": 1}, "cv=1 leaves nothing to fit.", "--cv 1 leaves nothing to fit."),
        ({"draws": 0}, "draws must be an integer of at least 1", "--draws must be an integer of at least 1"),
        ({"method": "PC"}, "method must be one of ISPCA", "--method must be one of ISPCA"),
        ({"covariates": [1]}, "covariates must be names", "--covariates must be names"),
        ({"groups": 3}, "groups must be text, got int", "--groups must be text"),
        ({"seed": -1}, "random_state must be an integer", "--seed must be an integer"),
    ],
)
def test_contradictions_are_worded_by_each_front_end(given, python, shell):
    with pytest.raises(SettingError) as caught:
        Settings(**given)
    assert python in str(caught.value)
    assert shell in in_options(caught.value.problem)
    assert caught.value.setting in OPTIONS


def test_the_command_and_the_code_repeat_what_is_not_the_default():
    settings = Settings(
        data="my data.csv", target="tissue", covariates=["age", "sex"], merge=True, memory=2 * 10**9
    )
    assert settings.command() == (
        "ispca fit 'my data.csv' --memory 2000M --target tissue --covariates age sex --merge --method ISPCA "
        "--draws 1000 --seed 0 --cv 5 --out results"
    )
    lines = settings.python().splitlines()
    assert lines[:4] == ["import ispca", "", "analysis = ispca.analyze(", "    'my data.csv',"]
    assert lines[4:7] == ["    memory=2000000000,", "    target='tissue',", "    covariates=('age', 'sex'),"]
    in_memory = Settings(target="tissue", groups="patient", components=3, draws=100, threads=2)
    for values, begin in (
        ((), "X, target='tissue', groups='patient', "),
        (("y", "test"), "X, y, groups='patient', "),
        (("y", "groups"), "X, y, groups=groups, "),
    ):
        call = in_memory.python(values).replace("\n    ", " ").replace("( ", "(")
        assert f"ispca.analyze({begin}method='ISPCA', components=3, draws=100, random_state=0, cv=5" in call
        assert ("test=test" in call) == ("test" in values)


def test_the_command_keeps_words_that_begin_with_a_dash():
    settings = Settings(data="-d.csv", target="-t", covariates=["-age", "sex"], exclude_samples=["--out"])
    read = make_parser("fit").parse_args(shlex.split(settings.command())[1:])
    assert (read.target, read.covariates, read.exclude_samples) == ("-t", ["-age", "sex"], ["--out"])
    assert read.data == Path("-d.csv")

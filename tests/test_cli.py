"""The ``ispca`` command: what it prints, its exit codes, and errors of one line."""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

from ispca.__main__ import main as command
from ispca.cli import main
from ispca.commands import command_module
from ispca.datasets import list_datasets
from ispca.datasets.arrays import Arrays, checksum
from ispca.datasets.registry import Dataset, all_datasets
from paper.download import write_npz


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A folder with one data set of our own in ISPCA_DATA, and an empty cache."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    arrays = Arrays(np.ones((3, 2)), np.array([0, 1, 1]), np.array(["a", "b"]))
    write_npz(data / "tiny.npz", arrays)
    words = {"title": "small", "origin": "made here", "study": "none", "scale": "ones"}
    record = Dataset(name="tiny", n=3, D=2, target="binary", counts=(1, 2), checksum=checksum(arrays), **words)
    monkeypatch.setitem(all_datasets(), "tiny", record)
    monkeypatch.setenv("ISPCA_DATA", str(data))
    monkeypatch.setenv("ISPCA_CACHE", str(cache))
    return data, cache


def one_line(text):
    assert text.startswith("ispca: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text


def test_the_list(folders, capsys):
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "name"
    rows = {line.split()[0]: line for line in lines[1 : 1 + len(list_datasets())]}
    assert set(rows) == {record.name for record in list_datasets()}
    assert "ISPCA_DATA" in rows["tiny"]
    for name, paper in {"glioma": "Glioma", "lung": "Lung", "lung-5c": "Lung-5c"}.items():
        assert "not present" in rows[name]
        assert f" {paper} " in rows[name]
    assert "(substitute for glioma)" in rows["chowdary"]
    assert "GitHub jpiironen/dimreduce" in rows["colon"]
    assert lines[-1].startswith("1 of 27 present.")


def test_json(folders, capsys):
    assert main(["datasets", "--json"]) == 0
    entries = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert len(entries) == len(list_datasets())
    assert entries["tiny"]["present"] == "ISPCA_DATA"
    assert entries["tiny"]["path"].endswith("tiny.npz")
    assert entries["lung"]["present"] is None
    assert (entries["lung"]["n"], entries["lung"]["D"]) == (187, 19993)
    assert main(["datasets", "tiny", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == entries["tiny"]


def test_a_description(folders, capsys):
    assert main(["datasets", "gordon"]) == 0
    text = capsys.readouterr().out
    assert "log2(max(x, 20))" in text
    assert "in addition to lung" in text
    assert "Present: not present" in text


def test_a_misspelt_name(folders, capsys):
    assert main(["datasets", "colo"]) == 2
    assert "Did you mean colon" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["datasets", "--nonsense"], ["datasets", "a", "b"]])
def test_usage(arguments, capsys):
    assert main(arguments) == 2
    assert "usage: ispca" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["datasets", "--help"], ["--version"]])
def test_help_and_version(arguments, capsys):
    assert main(arguments) == 0
    assert "ispca" in capsys.readouterr().out


def test_debug_shows_the_traceback(folders):
    with pytest.raises(ValueError, match="no data set"):
        main(["datasets", "colo", "--debug"])


def test_a_wrong_folder(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ISPCA_DATA", str(tmp_path / "nowhere"))
    assert main(["datasets"]) == 1
    assert "nowhere is not a folder" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(("error", "code"), [(KeyError("x"), 1), (KeyboardInterrupt(), 130), (RuntimeError(), 1)])
def test_other_errors_are_one_line_too(monkeypatch, capsys, error, code):
    def fail(args):
        raise error

    monkeypatch.setattr(command_module("datasets"), "run", fail)
    assert main(["datasets"]) == code
    one_line(capsys.readouterr().err)


def test_the_reader_may_leave_early(folders):
    command = f"{sys.executable} -m ispca datasets --json | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=True)
    assert (result.stdout, result.stderr) == ("[\n", "")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("fit nowhere.csv --target y", 3),
        ("fit {here} --samples nowhere.csv --target y", 3),
        ("fit https://example.org/data.csv --target y", 3),
        ("fit - --target y", 3),
        ("fit {here} --cv 1", 2),
        ("fit {here} --target y --time t", 2),
        ("fit {here} --draws many", 2),
        ("compare {here} --jobs 0", 2),
        ("predict nowhere.ispca {here}", 3),
        ("select {here} {here} --always a --never a", 2),
        ("select --nonsense", 2),
        ("predict --help", 0),
        ("predict {here} {here}", 3),
        ("select {folder} {here}", 3),
        ("fit {here} --target y --out {folder}", 2),
        ("compare {here} --target y --out {folder}", 2),
    ],
)
def test_errors_do_not_wait_for_large_imports(line, code):
    """Importing these takes a second or more, which nobody needs to wait for to learn of a misspelled name."""
    program = """if True:
        import sys
        from ispca.cli import main
        code = main(sys.argv[1:])
        sys.exit(code if not {"numpy", "scipy", "sklearn", "joblib"} & {*sys.modules} else 99)
    """
    start = [sys.executable, "-c", program, *line.format(here=__file__, folder=Path(__file__).parent).split()]
    result = subprocess.run(start, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "line",
    ["fit {file} --target nothing", "fit {file}", "compare {file} --target nothing", "fit {folder} --target y"],
)
def test_tables_are_refused_before_large_imports(line, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("id,class,x\n" + "".join(f"s{k},{'ab'[k % 2]},{k / 7}\n" for k in range(20)))
    program = """if True:
        import sys
        # The readers and the targets need these, which import scipy.linalg in SciPy 1.12 and in 1.18.
        import scipy.sparse, scipy.special
        needed = {*sys.modules}
        from ispca.cli import main
        code = main(sys.argv[1:])
        large = {"sklearn", "pandas", "joblib", "scipy.stats", "scipy.optimize", "scipy.linalg"}
        sys.exit(code if not large & ({*sys.modules} - needed) else 99)
    """
    start = [sys.executable, "-c", program, *line.format(file=file, folder=tmp_path).split()]
    result = subprocess.run(start, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert result.returncode == 3, result.stderr


def test_installed_as_a_command():
    (script,) = entry_points(group="console_scripts", name="ispca")
    assert script.load() is command

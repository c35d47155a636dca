"""What is printed: no name from data steers the terminal, and no encoding makes a fit fail."""

import io
import os
import signal
import subprocess
import sys
import warnings
from contextlib import suppress

import pytest

from ispca import commands
from ispca.cli import main
from ispca.commands import command_module
from ispca.foundation import progress as _progress
from ispca.foundation.terminal import printable, show, tell

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202egnp\u2066"
FORBIDDEN = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u202a\u202b\u202c\u202d\u202e"} - {"\n", "\t"}
SHORT = ["--bags=0", "--components", "3", "--draws", "60", "--cv", "0"]


def test_printable():
    assert printable("a\tb\nc é 基因") == "a\tb\nc é 基因"
    assert not FORBIDDEN & {*printable(ESCAPES)}
    assert printable("\udcff") == "\ufffd"


@pytest.fixture
def hostile(tmp_path, table_of):
    rows, write = table_of
    table = rows()
    table[0][1:2] = [f"sex{ESCAPES}"]
    table[0][4:12] = [f"gene{ESCAPES}{j}" for j in range(8)]
    for record in table[1:]:
        record[2] = {"ill": f"ill{ESCAPES}", "well": "gesund ✓"}[record[2]]
    return write(tmp_path / "data.csv", table)


def test_names_from_data(hostile, tmp_path, capsys):
    command = ["fit", str(hostile), "--target", "diagnosis", "--drop", "score", "--out", str(tmp_path / "out")]
    assert main([*command, *SHORT]) == 0
    captured = capsys.readouterr()
    assert "gene\ufffd" in captured.out
    assert "sex\ufffd" in captured.err
    assert not FORBIDDEN & {*captured.out, *captured.err}
    assert main([*command[:2], "--target", f"gene{ESCAPES}9", "--out", str(tmp_path / "b")]) == 3
    captured = capsys.readouterr()
    assert not FORBIDDEN & {*captured.err}
    assert captured.err.count("\n") == 1


def test_errors_warnings_and_progress(monkeypatch, capsys):
    def run(args):
        warnings.warn(f"careful {ESCAPES}\nmore", UserWarning, stacklevel=1)
        raise ValueError(f"wrong {ESCAPES}\nand more")

    monkeypatch.setattr(command_module("datasets"), "run", run)
    assert main(["datasets"]) == 1
    text = capsys.readouterr().err
    assert text.count("\n") == 2
    assert not FORBIDDEN & {*text}

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.0)
    with _progress.waiting(f"Reading {ESCAPES}"):
        pass
    assert "Reading \ufffd" in sys.stderr.getvalue()
    assert not (FORBIDDEN - {"\r"}) & {*sys.stderr.getvalue()}


def test_no_line_is_longer_than_a_message(tmp_path, capsys):
    """Neither a name that somebody types nor one in a file fills the screen; a path stays as it is."""
    rows = [f"{'s' * 6000}{i // 2},{i}.5,{'ab'[i % 2]}" for i in range(20)]
    (tmp_path / "data.csv").write_text("\n".join(["sample,gene,state", *rows]) + "\n")
    command = ["fit", str(tmp_path / "data.csv"), "--target", "state", "--out", str(tmp_path / "out")]
    assert main([*command, "--cv", "0", "--bags=0", "--draws", "4"]) == 0
    assert main(["compare", *command[1:-2], "--methods", "x" * 6000]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert sum("..." in line for line in lines) >= 2
    assert max(map(len, lines)) <= 1000
    path = "/".join(["folder"] * 50)
    tell(f"Wrote {path}.")
    assert path in capsys.readouterr().err


@pytest.mark.parametrize(
    "encoding", ["ascii", *(pytest.param(name, marks=pytest.mark.slow) for name in ("latin-1", "utf-8"))]
)
def test_any_encoding(hostile, tmp_path, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    out = tmp_path / "aus ✓"
    command = ["fit", str(hostile), "--target", "diagnosis", "--drop", "score", "--out", str(out), *SHORT]
    start = [sys.executable, "-m", "ispca", *command]
    result = subprocess.run(start, capture_output=True, timeout=120, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    assert b"40 samples" in result.stdout
    assert ("✓" in result.stdout.decode(encoding)) == (encoding == "utf-8")
    assert (out / "model.ispca").exists()


def test_an_interrupt_that_an_import_swallows(monkeypatch):
    def swallow(*_):
        with suppress(BaseException):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(commands, "import_module", swallow)
    with pytest.raises(KeyboardInterrupt):
        command_module("fit")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_reader_that_has_gone(monkeypatch):
    class Gone(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(BrokenPipeError):
        show("x")
    monkeypatch.setattr(sys, "stderr", Gone())
    tell("x")


def test_data_for_another_program_is_not_changed(capsys):
    show("a\x1bb", raw=True)
    show("a\x1bb")
    assert capsys.readouterr().out == "a\x1bb\na\ufffdb\n"

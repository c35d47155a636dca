"""A small data file, and models fitted to it once."""

import numpy as np
import pytest

from ispca.cli import main
from user_files import Study, type_in

SHORT = ["--components", "4", "--draws", "60", "--cv", "0", "--quiet"]


def rows(n=40, seed=1):
    """Samples in rows: names, sex, diagnosis, score, and thirty genes of which eight follow a factor."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=n)
    X = rng.normal(size=(n, 30)) + 5
    X[:, :8] += 2 * factor[:, None]
    table = [["sample", "sex", "diagnosis", "score", *(f"gene{j}" for j in range(30))]]
    for i in range(n):
        diagnosis = "ill" if factor[i] + 0.3 * rng.normal() > 0 else "well"
        table.append([f"p{i}", "mf"[i % 2], diagnosis, f"{factor[i]:.4f}", *(f"{value:.5f}" for value in X[i])])
    return table


def write(path, table, delimiter=","):
    path.write_text("\n".join(delimiter.join(row) for row in table) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def table_of():
    """The functions that make and write the table."""
    return rows, write


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data.csv", rows())


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """The folder of a classification."""
    folder = tmp_path_factory.mktemp("fitted")
    path = write(folder / "data.csv", rows())
    options = ["--target", "diagnosis", "--drop", "score", "--out", str(folder / "out")]
    assert main(["fit", str(path), *options, *SHORT]) == 0
    return folder / "out"


@pytest.fixture(scope="session")
def fitted_regression(tmp_path_factory):
    """The folder of a regression."""
    folder = tmp_path_factory.mktemp("fitted")
    path = write(folder / "data.csv", rows())
    options = ["--target", "score", "--drop", "diagnosis", "--out", str(folder / "out")]
    assert main(["fit", str(path), *options, *SHORT]) == 0
    return folder / "out"


@pytest.fixture
def one_line(capsys):
    """Return the one line of an error."""

    def check():
        captured = capsys.readouterr()
        lines = [line for line in captured.err.splitlines() if not line.startswith("ispca: Sample names come")]
        assert captured.out == ""
        assert len(lines) == 1, lines
        assert lines[0].startswith("ispca: ")
        assert "Traceback" not in lines[0]
        return lines[0]

    return check


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A folder to work in, and the data of a study that a test writes to files."""
    monkeypatch.chdir(tmp_path)
    return Study()


@pytest.fixture
def user(capsys):
    """A person who types a line, expects an exit code, and reads what is printed."""
    return lambda line, code=0, added=None: type_in(line, capsys, code, added)

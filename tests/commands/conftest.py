"""A small data file, and the models that were fitted to it."""

import pytest

from shared_fits import rows
from user_files import Study, type_in


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
def fitted(shared_fit):
    """The folder of a classification."""
    return shared_fit("classes").results


@pytest.fixture(scope="session")
def fitted_regression(shared_fit):
    """The folder of a regression."""
    return shared_fit("quantity").results


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

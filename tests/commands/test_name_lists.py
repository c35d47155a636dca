"""Lists of names on the command line, however they are separated, and the columns that could be the target."""

import pytest

from ispca.cli import main, make_parser
from ispca.commands import data_reading, running
from ispca.commands.arguments import LISTS, files_first
from ispca.readers import TableError


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    """A matrix and a sheet, in which a name contains a comma."""
    rows = range(12)
    genes = [f"s{i},{i % 5},{i % 7}.5,{(i * 5) % 11}.25" for i in rows]
    (tmp_path / "matrix.csv").write_text("\n".join(["id,g1,g2,h1", *genes]) + "\n")
    ages, doses = [30 + i * 7 % 13 for i in rows], [i * 3 % 7 + 0.5 for i in rows]
    texts = [f"s{i},{'mf'[i % 2]},{ages[i]},{doses[i]},{'ill' if i % 3 else 'well'},n{i}" for i in rows]
    (tmp_path / "sheet.csv").write_text("\n".join(['id,sex,age,"dose, mg",diagnosis,note', *texts]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(*words):
    """Return what ispca fit reads."""
    args, found = make_parser("fit").parse_args(files_first(["fit", "--quiet", *words], LISTS)), []

    def fit(args, settings, console):
        found.append(data_reading.read_supervised(settings))

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(running.START, "fit", fit)
        running.run(args)
    return found[0]


BESIDE = ["--samples", "sheet.csv", "--target", "diagnosis"]


@pytest.mark.parametrize(
    ("words", "covariates"),
    [
        (["matrix.csv", "--covariates", "age", "sex"], ["age", "sex"]),
        (["matrix.csv", "--covariates", "age,sex"], ["age", "sex"]),
        (["matrix.csv", "--covariates", "age,", "sex"], ["age", "sex"]),
        (["matrix.csv", "--covariates", "age,", "--covariates", "sex"], ["age", "sex"]),
        (["--covariates", "age,sex", "matrix.csv"], ["age", "sex"]),
        (["matrix.csv", "--covariates", "dose, mg"], ["dose, mg"]),
        (["matrix.csv", "--covariates", "dose, mg", "age,sex"], ["dose, mg", "age", "sex"]),
        (["matrix.csv", "--covariates", 'age,"dose, mg"'], ["age", "dose, mg"]),
    ],
)
def test_covariates(sheet, words, covariates):
    assert list(read(*words, *BESIDE).covariates) == covariates


@pytest.mark.parametrize("words", [["g1", "h1"], ["g1,h1"], ["g1,h*"], ["g[1,7]", "h1"]])
def test_features(sheet, words):
    assert read("matrix.csv", *BESIDE, "--features", *words).features.tolist() == ["g1", "h1"]
    assert read("matrix.csv", *BESIDE, "--drop", *words).features.tolist() == ["g2"]


def test_a_misspelled_name_is_the_one_that_is_named(sheet):
    with pytest.raises(TableError, match=r"a column 'agee' \(covariates\)\. Did you mean age\?"):
        read("matrix.csv", *BESIDE, "--covariates", "sex,agee")


def test_without_a_target_the_columns_that_could_be_one_are_named(sheet, capsys):
    assert main(["fit", "matrix.csv", "--samples", "sheet.csv", "--out", "out"]) == 3
    line = capsys.readouterr().err
    assert "The target column of matrix.csv is not specified. It could be diagnosis (ill, well)" in line
    assert line.endswith("Pass --target COLUMN.\n")
    assert not {"note", "g1", "age"} & {*line.replace("(", " ").split()}, "ids, features and covariates"
    assert main(["compare", "matrix.csv", "--out", "out"]) == 3
    assert "Pass --target COLUMN." in capsys.readouterr().err
    # What usually is a covariate may be the only column there is.
    (sheet / "sex.csv").write_text("id,sex\n" + "".join(f"s{i},{'mf'[i % 2]}\n" for i in range(12)))
    assert main(["fit", "matrix.csv", "--samples", "sex.csv", "--out", "out"]) == 3
    assert "It could be sex (m, f). Pass --target COLUMN." in capsys.readouterr().err

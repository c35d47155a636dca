"""The commands of the README, on files with the names that it uses."""

import re
from html import escape
from pathlib import Path

import numpy as np
import pytest

from user_files import SHORT, SHORTER, N, text, write

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = [block.strip().splitlines() for block in re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)]


@pytest.fixture
def files(study):
    """The files of the README: two of one study, and single tables with a diagnosis or survival times."""
    study.write_matrix("matrix.csv")
    study.write_sheet("sheet.csv")
    study.genes[0] = "TP53"
    rows = study.rows()
    rows[0][1] = "diagnosis"
    write("your.csv", rows)
    write("new.csv", [[row[0], *row[2:]] for row in rows])
    rng, columns = study.rng, ["months", "died", "age", "sex", "batch"]
    months, died = np.round(rng.exponential(20, size=N), 1), rng.integers(0, 2, size=N)
    described = zip(
        months, died, range(40, 40 + N), ["f", "m"] * (N // 2), ["a", "a", "b"] * (N // 3), strict=True
    )
    survival = [
        [name, *sample, *row[2:]] for name, sample, row in zip(study.ids, described, rows[1:], strict=True)
    ]
    write("survival.csv", [["id", *columns, *rows[0][2:]], *survival])
    return study


def test_three_lines_to_the_answer(files, user):
    """As written, without any option that a test adds: two files, one command, and a report to open."""
    install, fit, see = next(block for block in BLOCKS if any("--samples" in line for line in block))
    assert install.startswith("pip install '.[")
    answer = user(fit, added=())
    assert re.match(r"Verdict: \d+% .*classified correctly", answer.lines[0])
    assert answer.lines[1].startswith("Model: 1 supervised component")
    assert answer.warnings == []
    page = text(see.split()[1])
    assert page.index(escape(answer.lines[0].removeprefix("Verdict: "))) < page.index('id="score_plot"')


def test_the_other_commands(files, user):
    """One after the other, as a reader would; options that save time are added."""
    lines = [line for block in BLOCKS for line in block if line.startswith("ispca ") and "--samples" not in line]
    kinds = [line.split()[1] for line in lines]
    assert kinds == ["fit", "predict", "compare", "select", "fit"]
    fit, predict, compare, select, survival = lines
    assert user(fit, added=SHORTER).lines[1].startswith("Model: 1 supervised component")
    # The new samples of this story are those of the fit.
    assert user(predict).lines[0] == "id,prediction,p(normal),p(tumour),training_sample"
    fewer = ("--methods", "PCA", "lasso", "--splits", "2", "--draws", "20", "--components", "4", "--jobs", "1")
    assert "lasso" in user(compare, added=fewer).out
    answer = user(select, added=("--max-size", "3", "--folds", "0", "--draws", "40"))
    assert "TP53" in answer.out
    Path("survival.csv").replace("your.csv")
    answer = user(survival, added=SHORT)
    assert answer.lines[0].startswith("Verdict: Too few events to judge: ")
    assert "hazard ratio" in answer.out

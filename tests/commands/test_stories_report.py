"""A new user opens the report: the summary box first, then the picture, predictions and features, then details."""

import html
import io
import re
import shlex
from contextlib import chdir, redirect_stdout

import numpy as np
import pytest

from ispca.cli import main
from ispca.foundation.data_files import known_as
from user_files import SHORT, Answer, D, N, Study, table, text

SECTIONS = [
    *("overview", "score_plot", "prediction", "held_out", "external_test", "calibration", "leading_features"),
    *("question", "data", "components", "features", "coefficients", "convergence", "methods", "reproducibility"),
]
LINE = (
    "ispca fit matrix.csv --samples sheet.csv --target tissue --label 'Gene Symbol' --transform log2 "
    "--method ISPCA-cross-fitted --test new.csv --cv 4 --out results"
)


def hard_study(seed):
    """Return a study of raw intensities in which some samples are misclassified, and two genes are the same."""
    study = Study(seed)
    study.X[study.tissue == "tumour", :6] -= 0.6
    study.X[:, 1] = study.X[:, 0] + 0.1 * study.rng.normal(size=N)
    study.X = np.exp2(study.X)
    return study


class Page:
    """A page as its reader sees it: the words of each section, without scripts and tags."""

    def __init__(self, source):
        self.source = source
        self.shown = source[: source.index('<script type="application/json"')]
        found = re.findall(r'<section id="(\w+)"(.*?)</section>', self.shown, flags=re.DOTALL)
        self.sections = {key: words_of(content) for key, content in found}


def words_of(source):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", source)).split())


def write_files():
    """Write two files and a test file to this folder."""
    hard = hard_study(0)
    hard.write_matrix("matrix.csv")
    hard.write_sheet("sheet.csv")
    hard_study(1).write_table("new.csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the report of two files, with a test file, and what the command printed."""
    folder, printed = tmp_path_factory.mktemp("made"), io.StringIO()
    with chdir(folder), redirect_stdout(printed):
        write_files()
        assert main([*shlex.split(LINE)[1:], *SHORT]) == 0
    return folder / "results", Answer(printed.getvalue(), "")


def test_the_parts_of_a_report(made):
    folder, answer = made
    page = Page(text(folder / "report.html"))
    assert list(page.sections) == SECTIONS
    title = f"Predicting tissue from {D} features in {N} samples"
    assert f"<title>{title}</title>" in page.shown
    numbers = re.findall(r"<figcaption>Figure (\d+)\.", page.shown)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    check_summary(page.sections["overview"], answer)
    check_predictions(page.sections, page.source)
    check_features(page.sections["leading_features"])
    check_methods(page.sections["methods"])
    check_file(page.source)


def check_summary(box, answer):
    """The question, the sizes, the verdict with its interval, the leading features, and caveats."""
    verdict = answer.lines[0].removeprefix("Verdict: ")
    # The verdict is no better than chance, so the list of features says so.
    leading = re.search(r"leading features, which may be due to chance, SYM(\d+), ", answer.lines[1])[1]
    expected = ["related to “tissue”", verdict, f"Samples {N}", f"Features {D}", "Leading features"]
    places = [box.index(words) for words in [*expected, f"SYM{leading} (g{leading}): higher in", "Caveats"]]
    assert places == sorted(places)
    assert re.search(r"Accuracy 0\.\d+ \(0\.\d+ to [01]", box)


def check_predictions(sections, source):
    held_out = sections["held_out"]
    assert "cross-fitted" in sections["score_plot"]
    for words in (
        "Confusion matrix",
        "Sensitivity",
        "Misclassified samples",
        "ROC curve",
        "Precision-recall curve",
    ):
        assert words in held_out, words
    assert "The bands are pointwise 95% intervals" in held_out
    assert '"explained":' in source
    assert "Circles mark samples that were misclassified while held out." in sections["score_plot"]
    assert "new.csv" in sections["external_test"]
    for low, high in re.findall(r"95% interval (\S+?)% to (\S+?)%", " ".join(sections.values())):
        assert 0 <= float(low) <= float(high) <= 100


def check_features(section):
    for words in (
        "Mean in normal",
        "Mean in tumour",
        "Log2 fold change",
        "Boxes show the quartiles",
        "standardized",
    ):
        assert words in section, words
    assert "A (2 features)" in section
    assert "SYM0 (g0)" in section
    # Names alone, one per line on the page, for enrichment tools.
    assert re.search(r"Higher in tumour \(may be due to chance\) (SYM\d+ )+", section)


def check_methods(paragraph):
    for words in ("Piironen and Vehtari, 2018", "log2(1 + x)", "random seed 0", "scikit-learn"):
        assert words in paragraph, words
    assert re.search(r"ispca \d+\.\d+\S* with Python 3\.", paragraph)


def check_file(source):
    """One file under 5 MB that needs no network, under a policy that allows only its own script and style."""
    assert len(source.encode()) < 5e6
    assert "Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-" in source
    assert not re.search(r"<(script|img|link|iframe)[^>]+(src|href)=\"(?!data:)", source)
    assert "SVG: (name" in source
    assert "PNG: savePng" in source


def test_the_command_in_the_report_gives_the_same_results(made, study, user):
    page = Page(text(made[0] / "report.html"))
    line = re.search(r"ispca fit matrix\.csv .*? --out results", page.sections["reproducibility"])[0]
    write_files()
    user(line.replace("--out results", "--out again"), added=())
    assert text("again/coefficients.csv") == text(made[0] / "coefficients.csv")
    assert "--draws 40" in line


def test_the_command_names_the_files_of_the_user(study):
    """The page stores uploads under safe names."""
    write_files()
    names = {"matrix.csv": "Counts (final).csv", "sheet.csv": "-patients.csv", "new.csv": "New batch.csv"}
    with known_as(names):
        assert main([*shlex.split(LINE)[1:], "--quiet", "--force"]) == 0
    page = Page(text("results/report.html"))
    line = re.search(r"ispca fit .*? --out results", page.sections["reproducibility"])[0]
    assert shlex.split(line)[2] == "Counts (final).csv"
    assert "--samples ./-patients.csv" in line
    assert "--test 'New batch.csv'" in line
    assert "File Counts (final).csv" in page.sections["data"]
    assert not any(stored in line for stored in names)


def test_warnings_in_the_report(study, user):
    """What the terminal says about the data is a caveat of the summary box."""
    study.X[:, 7] = 3.0 * (study.tissue == "tumour") + study.rng.normal(8, 0.01, size=N)
    study.write_table("leak.csv")
    answer = user("ispca fit leak.csv --target tissue")
    warning = answer.warnings[0].removeprefix("warning: ")
    assert warning.startswith("Feature 'g7' nearly determines the target")
    assert warning in Page(text("leak-results/report.html")).sections["overview"].split("Caveats")[1]
    study.X[:, 7] = Study().X[:, 7]
    study.write_table("clean.csv")
    answer = user("ispca fit clean.csv --target tissue")
    assert answer.warnings == []
    assert "nearly determines" not in Page(text("clean-results/report.html")).sections["overview"]


def test_spectra(study, user):
    """Names that are numbers are positions on an axis."""
    study.genes = [f"{1000 + 2.5 * j:g}" for j in range(D)]
    study.write_table("spectra.csv")
    user("ispca fit spectra.csv --target tissue --format json")
    assert '"positions"' in text("spectra-results/report.json")
    assert "1002.5" in table("spectra-results/loadings.csv")[1][1]
    Study().write_table("plain.csv")
    user("ispca fit plain.csv --target tissue --format json")
    assert '"positions"' not in text("plain-results/report.json")


@pytest.mark.parametrize(("kind", "name"), [("markdown", "report.md"), ("json", "report.json")])
def test_other_formats(kind, name, study, user):
    study.write_table("plain.csv")
    answer = user(f"ispca fit plain.csv --target tissue --format {kind}")
    assert answer.lines[-1].endswith(f"plain-results/{name}")
    assert f"Predicting tissue from {D} features in {N} samples" in text(f"plain-results/{name}")

"""``--out`` as users give it: refused before the work where it cannot be used, and other files are safe."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from ispca.cli import main
from ispca.commands import compare, data_reading, fit, predict
from ispca.foundation.messages import SettingError
from ispca.foundation.output_folder import output_file, output_folder

SHORT = ["--bags=0", "--components", "4", "--draws", "60", "--cv", "0", "--quiet"]
TARGET = ["--target", "diagnosis", "--drop", "score"]
FILES = ["coefficients.csv", "loadings.csv", "model.ispca", "report.html", "scores.csv"]


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def command(data, out, *more):
    return ["fit", str(data), *TARGET, "--out", str(out), *SHORT, *more]


@pytest.fixture
def no_work(monkeypatch):
    """Fail where an output is refused only after the data was read."""

    def work(*args, **options):
        raise AssertionError("work before the output was checked")

    monkeypatch.setattr(data_reading, "read_supervised", work)
    monkeypatch.setattr(predict, "load_predictor", work)


def bad_outputs(folder):
    (folder / "file").write_text("mine")
    (folder / "full").mkdir()
    (folder / "full" / "thesis.doc").write_text("mine")
    (folder / "link").symlink_to(folder / "full")
    (folder / "loop").symlink_to(folder / "loop")
    return {
        "file": "is a file, not a folder",
        "file/below": "Cannot write to",
        "full": "contains other files (thesis.doc)",
        "link": "contains other files (thesis.doc)",
        "loop": "Cannot write to",
        "n" * 300: "File name too long",
        "a/" + "n" * 300 + "/b": "File name too long",
        "/": "contains other files",
        "/proc/here": "Cannot write to /proc/here",
    }


def test_outputs_that_cannot_be_used(data, tmp_path, no_work, one_line):
    place = tmp_path / "place"
    place.mkdir()
    cases = bad_outputs(place)
    before = names(place)
    for out, message in cases.items():
        for force in ([], ["--force"]):
            assert main(command(data, place / out, *force)) == 2, out
            assert message in one_line()
            assert main(["compare", str(data), *TARGET, "--out", str(place / out), *force]) == 2, out
            assert message in one_line()
    for out in ("full", "file/below", "n" * 300, "/proc/here", "/dev/null"):
        assert main(["predict", str(data), str(data), "--out", str(place / out), "--force"]) == 2
        assert "--out" in one_line()
    assert names(place) == before
    assert (place / "full" / "thesis.doc").read_text() == "mine"


def test_nothing_is_left_of_a_failure(data, tmp_path):
    assert main(["fit", str(data), "--target", "nothing", "--out", str(tmp_path / "a" / "b" / "c")]) == 3
    assert names(tmp_path) == ["data.csv"]


@pytest.mark.parametrize("length", [190, 240, 255])
def test_long_names(tmp_path, length):
    out = tmp_path / ("n" * length)
    for force in (False, True):
        with output_folder(out, force, FILES) as folder:
            (folder / "scores.csv").write_text("new")
    assert names(tmp_path) == [out.name]


def test_links(data, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "made")
    for out in ("link", "dangling"):
        assert main(command(data, tmp_path / out)) == 0
        assert (tmp_path / out).is_symlink()
        assert names(tmp_path / out) == FILES
    assert names(tmp_path) == ["dangling", "data.csv", "link", "made", "real"]


def test_folders_that_cannot_be_renamed(tmp_path, monkeypatch):
    """A shell in the current folder would no longer see it, and a mount point cannot be renamed."""
    for name in ("here", "volume"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path / "volume")
    for out, inside in ((Path(), "results"), (tmp_path / "volume", tmp_path / "volume" / "results")):
        with pytest.raises(SettingError, match=rf"such as {inside}\."), output_folder(out, True, FILES):
            pass
        with output_folder(out / "results", True, FILES) as folder:
            (folder / "scores.csv").write_text("new")
    assert names(tmp_path) == ["here", "volume"]


@pytest.mark.parametrize("empty", [False, True])
def test_earlier_results_are_put_back_after_a_kill(tmp_path, empty):
    """Between the two renames, they wait beside the folder, which a user may have made again."""
    out, earlier = tmp_path / "out", tmp_path / ".out.replaced"
    earlier.mkdir()
    (earlier / "scores.csv").write_text("old")
    if empty:
        out.mkdir()
    with pytest.raises(SettingError, match="already exists"), output_folder(out, False, FILES):
        pass
    assert (out / "scores.csv").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_folder_of_others_is_not_taken_for_earlier_results(tmp_path):
    earlier = tmp_path / ".out.replaced"
    earlier.mkdir()
    (earlier / "thesis.doc").write_text("mine")
    with pytest.raises(SettingError, match=r"thesis\.doc"), output_folder(tmp_path / "out", True, FILES):
        pass
    assert names(tmp_path) == [".out.replaced"]
    assert names(earlier) == ["thesis.doc"]


@pytest.mark.skipif(os.name != "posix", reason="users")
def test_without_permission(request):
    """Refused before the work, for a parent that cannot be written to and for results that are protected."""
    # Not pytest's folder, which belongs to its user alone.
    place = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(place))
    (place / "free" / "old").mkdir(parents=True)
    (place / "free").chmod(0o777)
    (place / "free" / "old" / "scores.csv").write_text("old")
    for folder in (place / "free" / "old", place):
        folder.chmod(0o555)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(place)
            if os.getuid() == 0:
                os.setuid(65534)
            for out in (Path("new"), Path("free/old")):
                with pytest.raises(SettingError, match="Permission denied"), output_folder(out, True, FILES):
                    pass
            with pytest.raises(SettingError, match="Permission denied"), output_file(Path("new.csv"), False):
                pass
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (place / "free" / "old" / "scores.csv").read_text() == "old"
    for folder in (place, place / "free" / "old"):
        folder.chmod(0o755)


@pytest.mark.parametrize("present", [False, True])
def test_what_appears_during_the_run_is_never_replaced(data, tmp_path, monkeypatch, capsys, present):
    out = tmp_path / "out"
    if present:
        assert main(command(data, out)) == 0
    real = fit.write_files

    def meanwhile(folder, *args):
        out.mkdir(exist_ok=True)
        (out / "thesis.doc").write_text("years of work")
        return real(folder, *args)

    monkeypatch.setattr(fit, "write_files", meanwhile)
    assert main(command(data, out, "--force")) == 1
    line = capsys.readouterr().err
    assert "something else was written there in the meantime" in line
    assert f"The finished results are in {out}.unsaved" in line
    assert (out / "thesis.doc").read_text() == "years of work"
    assert names(tmp_path / "out.unsaved") == FILES
    assert names(tmp_path) == ["data.csv", "out", "out.unsaved"]
    assert names(out) == sorted([*(FILES if present else []), "thesis.doc"])


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_appears_or_changes_during_the_run(tmp_path, force):
    out = tmp_path / "table.csv"
    if force:
        out.write_text("old")

    def run():
        with output_file(out, force) as temporary:
            temporary.write_text("new")
            out.write_text("of somebody else")

    with pytest.raises(OSError, match="in the meantime"):
        run()
    assert out.read_text() == "of somebody else"
    assert (tmp_path / "table.csv.unsaved").read_text() == "new"
    assert names(tmp_path) == ["table.csv", "table.csv.unsaved"]


@pytest.mark.filterwarnings("ignore")
def test_compare_prints_its_table_in_any_case(data, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    real = compare.write_files

    def meanwhile(*args):
        out.mkdir()
        (out / "thesis.doc").write_text("years of work")
        return real(*args)

    monkeypatch.setattr(compare, "write_files", meanwhile)
    small = ["--splits", "2", "--components", "3", "--draws", "60", "--jobs", "1", "--methods", "pca"]
    assert main(["compare", str(data), *TARGET, "--out", str(out), *small]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith(
        "2 random splits with 20% of the samples held out, stratified by class (seed 0)\nmethod"
    )
    assert "Wrote" not in captured.out
    assert f"{out}.unsaved" in captured.err
    assert "comparison.csv" in names(tmp_path / "out.unsaved")


@pytest.mark.slow
def test_two_fits_to_one_output(data, tmp_path, capsys):
    code = """
        import sys
        from ispca.cli import main
        from ispca.commands import fit
        real = fit.write_files
        def slow(*args):
            print("ready", flush=True)
            sys.stdin.readline()
            return real(*args)
        fit.write_files = slow
        sys.exit(main(sys.argv[1:]))
    """
    out = tmp_path / "out"
    start = [sys.executable, "-c", textwrap.dedent(code), *command(data, out)]
    first = subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == "ready\n"
    for force in ([], ["--force"]):
        assert main(command(data, out, *force)) == 2
        assert f"Another run is writing to {out}. Wait until it ends" in capsys.readouterr().err
    first.communicate("go\n", timeout=60)
    assert first.returncode == 0
    assert names(out) == FILES
    assert names(tmp_path) == ["data.csv", "out"]


KILLED_FITS = """
    import os, pickle, shutil, signal, sys
    from pathlib import Path
    from faults import FINE, Fault, in_child, n_calls
    from ispca.cli import main
    from ispca.analysis import analyze

    # Each model is fitted once, in a child: a process with threads must not fork.
    models, real = {}, analyze.fit_model
    def fit_model(table, pipeline, device):
        seed = pipeline[0].random_state
        if seed not in models:
            models[seed] = real(table, pipeline, device)
            Path(sys.argv[2] + str(seed)).write_bytes(pickle.dumps(models[seed]))
        return models[seed]
    analyze.fit_model = fit_model

    data, place = sys.argv[1], Path(sys.argv[2])
    out = place / "out"
    def job(seed):
        return lambda: sys.exit(3) if main(["fit", data, *sys.argv[3:], "--out", str(out), "--force", "--seed",
                                            str(seed)]) else None
    def content(folder):
        if not folder.is_dir():
            return {}
        return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file() and one.suffix != ".lock"}

    def set_up(seed):
        assert in_child(job(seed))[0] == FINE
        return content(out)

    for seed in (1, 2):
        set_up(seed)
        models[seed] = pickle.loads(Path(sys.argv[2] + str(seed)).read_bytes())
    new, old = set_up(2), set_up(1)
    shutil.copytree(out, place / "old")
    assert new.keys() == old.keys() and new != old
    total = n_calls(job(2), place)
    assert content(out) == new
    seen = set()
    for number in range(1, total + 1):
        for folder in (out, place / ".out.replaced"):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(place / "old", out)
        outcome, said = in_child(job(2), Fault(place, number))
        assert outcome == -signal.SIGKILL, said
        found = content(out)
        assert old == (found or content(place / ".out.replaced")) or new == found, number
        seen.add(found == new)
    assert seen == {False, True}
    assert in_child(job(2))[0] == FINE
    assert sorted(os.listdir(place)) == ["old", "out"]
    assert content(out) == new
    print(total)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_real_fit_killed_at_every_call(data, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    options = [*TARGET, "--bags=0", "--components", "2", "--draws", "4", "--cv", "0", "--quiet", "--method", "PCA"]
    start = [sys.executable, "-c", textwrap.dedent(KILLED_FITS), str(data), str(place), *options]
    result = subprocess.run(start, capture_output=True, text=True, timeout=600, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 30


def test_an_old_lock_is_no_obstacle(data, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / ".out.lock").touch()
    assert main(command(data, out)) == 0
    assert names(out) == FILES
    assert names(tmp_path) == ["data.csv", "out"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_standard_output_that_is_full_or_closed(data, tmp_path, where):
    start = [sys.executable, "-m", "ispca", *command(data, tmp_path / "out")[:-1]]
    line = " ".join(map(str, start)) + " " + where
    result = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 1
    assert "ispca: Could not write to standard output" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
    assert names(tmp_path / "out") == FILES


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_notes_without_standard_error(data, tmp_path):
    """Notes are dropped; they do not end up in the result."""
    line = " ".join(map(str, [sys.executable, "-m", "ispca", *command(data, tmp_path / "out")[:-1]])) + " 2>&-"
    result = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0
    assert result.stdout.startswith("Verdict: ")

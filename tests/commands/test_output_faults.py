"""Outputs under fire: killed or refused at every call that writes, and several writers at once."""

import errno
import os
import shutil
import signal
from pathlib import Path

import pytest

from faults import BROKEN, FINE, REFUSED, Fault, in_child, n_calls
from ispca.foundation.messages import SettingError
from ispca.foundation.output_folder import output_file, output_folder

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")]

OWN = ("a.csv", "b.csv", "old.csv")
OLD = {"a.csv": "old a", "old.csv": "old only"}
FRESH = {"a.csv": "new a" * 1000, "b.csv": "new b"}
LAST = {"a.csv": "last a", "b.csv": "last b"}


def content(folder):
    """Return the files of a folder, without those of a run that goes on."""
    if not folder.is_dir():
        return None
    return {one.name: one.read_text() for one in folder.iterdir() if one.is_file() and one.name[0] != "."}


def write(out, files, force):
    with output_folder(out, force, OWN) as folder:
        for name, text in files.items():
            (folder / name).write_text(text)


def fill(folder, files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


class Scene:
    """A folder with an output, and neighbors that nobody may touch."""

    def __init__(self, root, kind):
        self.root, self.kind = root, kind
        self.place = root / "place"
        self.out = self.place / "out"
        self.earlier = self.place / ".out.replaced"
        self.force = kind == "force"
        self.before = OLD if self.force else {} if kind == "empty" else None

    def set_up(self):
        shutil.rmtree(self.place, ignore_errors=True)
        fill(self.place / ".out.notes.part", {"mine": "mine"})
        (self.place / "neighbor.csv").write_text("mine")
        if self.before is not None:
            fill(self.out, self.before)

    def job(self, files=FRESH, force=None):
        return lambda: write(self.out, files, self.force if force is None else force)

    def assert_whole(self):
        """The old result or the new one is complete, or the old one waits to be put back by the next run."""
        found = content(self.out)
        if found is None and self.before is not None:
            found = content(self.earlier)
        assert found in (self.before, FRESH)

    def assert_neighbors(self):
        names = {"neighbor.csv", ".out.notes.part"}
        assert {entry.name for entry in self.place.iterdir()} - {"out"} == names
        assert (self.place / ".out.notes.part" / "mine").read_text() == "mine"

    def assert_next_run(self):
        """What is there is not replaced without force, and with it all goes as if nothing had been."""
        present = content(self.out) or (self.before and content(self.earlier))
        outcome, said = in_child(self.job(LAST, force=False))
        assert outcome == (REFUSED if present else FINE), said
        assert content(self.out) == (present or LAST)
        outcome, said = in_child(self.job(LAST, force=True))
        assert outcome == FINE, said
        assert content(self.out) == LAST
        assert sorted(entry.name for entry in self.out.iterdir()) == sorted(LAST)


SCENES = ["new", "force", "empty"]


@pytest.fixture(params=SCENES)
def scene(request, tmp_path):
    return Scene(tmp_path, request.param)


def test_killed_at_every_call(scene):
    scene.set_up()
    total = n_calls(scene.job(), scene.root)
    assert total > 10
    assert content(scene.out) == FRESH
    states = []
    for number in range(1, total + 1):
        scene.set_up()
        outcome, said = in_child(scene.job(), Fault(scene.root, number))
        assert outcome == -signal.SIGKILL, said
        scene.assert_whole()
        states.append(content(scene.out) == FRESH)
        scene.assert_next_run()
        scene.assert_neighbors()
    # There were kills before the result was in its place, and after.
    assert {*states} == {False, True}


ERRORS = {"full": (errno.ENOSPC, True), "forbidden": (errno.EACCES, False), "broken": (errno.EIO, False)}


@pytest.mark.parametrize(("code", "lasting"), ERRORS.values(), ids=ERRORS)
def test_an_error_at_every_call(scene, code, lasting):
    scene.set_up()
    total = n_calls(scene.job(), scene.root)
    for number in range(1, total + 1):
        scene.set_up()
        outcome, said = in_child(scene.job(), Fault(scene.root, number, code, lasting))
        assert outcome != BROKEN, said
        scene.assert_whole()
        unsaved = list(scene.place.glob("*.unsaved"))
        if outcome == FINE:
            assert content(scene.out) == FRESH
        elif "finished results" in said:
            # The message names a folder that holds them.
            where = said.partition("finished results are in ")[2].split(", but")[0].removesuffix(".")
            assert content(Path(where)) == FRESH
        else:
            assert content(scene.out) == scene.before
            assert unsaved == []
        for entry in unsaved:
            assert content(entry) == FRESH
            shutil.rmtree(entry)
        scene.assert_next_run()
        scene.assert_neighbors()


def test_a_finished_result_is_kept_and_named(tmp_path):
    scene = Scene(tmp_path, "new")
    scene.set_up()
    total = n_calls(scene.job(), scene.root)
    kept = 0
    for number in range(1, total + 1):
        scene.set_up()
        _, said = in_child(scene.job(), Fault(scene.root, number, errno.ENOSPC))
        kept += (scene.place / "out.unsaved").is_dir() and "out.unsaved" in said
    assert kept >= 2


@pytest.mark.parametrize("force", [False, True])
def test_files_killed_or_refused_at_every_call(tmp_path, force):
    place = tmp_path / "place"
    out = place / "table.csv"

    def set_up():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if force:
            out.write_text("old")

    def job():
        with output_file(out, force) as temporary:
            temporary.write_text("new")

    set_up()
    total = n_calls(job, place)
    for code in (None, errno.ENOSPC, errno.EIO):
        for number in range(1, total + 1):
            set_up()
            outcome, said = in_child(job, Fault(place, number, code))
            assert outcome != BROKEN, said
            now = out.read_text() if out.exists() else None
            assert now == "new" or (now == ("old" if force else None) and outcome != FINE)
            kept = list(place.glob("*.unsaved"))
            assert all(one.read_text() == "new" and str(one) in said for one in kept)
            with output_file(out, True) as temporary:
                temporary.write_text("last")
            assert out.read_text() == "last"
            assert {one.name for one in place.iterdir()} == {"table.csv", *(one.name for one in kept)}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("present", [None, {}, OLD], ids=["absent", "empty", "old"])
def test_many_writers_at_once(tmp_path, force, present):
    for round in range(5):
        out = tmp_path / str(round) / "out"
        out.parent.mkdir()
        if present is not None:
            fill(out, present)
        start, go = os.pipe()
        children = []
        for number in range(6):
            child = os.fork()
            if child == 0:
                code = BROKEN
                try:
                    os.close(go)
                    os.read(start, 1)
                    write(out, {name: f"{number} {name}" for name in OWN[:2]}, force)
                    code = FINE
                except (OSError, ValueError):
                    code = REFUSED
                finally:
                    os._exit(code)
            children.append(child)
        os.close(go)
        os.close(start)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert BROKEN not in codes
        if present and not force:
            assert FINE not in codes
            assert content(out) == OLD
            continue
        assert codes.count(FINE) == 1 or (force and codes.count(FINE) > 1)
        winners = {number for number, code in enumerate(codes) if code == FINE}
        found = content(out)
        assert found in [{name: f"{number} {name}" for name in OWN[:2]} for number in winners]
        kept = {entry.name for entry in (*out.parent.iterdir(), *out.iterdir())} - {*OWN, "out"}
        assert all(".unsaved" in name for name in kept)


def test_the_second_writer_is_told(tmp_path):
    out = tmp_path / "out"
    for prepare in (lambda: None, out.mkdir, lambda: fill(out / "x", {})):
        shutil.rmtree(out, ignore_errors=True)
        prepare()
        shutil.rmtree(out / "x", ignore_errors=True)
        with output_folder(out, True, OWN) as folder:
            (folder / "a.csv").write_text("first")
            with (
                pytest.raises(SettingError, match=r"Another run is writing to .*out\. Wait"),
                output_folder(out, True, OWN),
            ):
                pass
        assert content(out) == {"a.csv": "first"}
    with output_file(tmp_path / "t.csv", True) as file:
        file.write_text("first")
        with pytest.raises(SettingError, match="Another run"), output_file(tmp_path / "t.csv", True):
            pass
    assert sorted(os.listdir(tmp_path)) == ["out", "t.csv"]

"""Complete files and folders: their modes, and many writers at once."""

import os
import stat
import threading

from ispca.foundation.atomic import whole_file
from ispca.foundation.output_folder import output_file, output_folder

FILES = ["coefficients.csv", "loadings.csv", "model.ispca", "report.html", "scores.csv"]


def test_new_files_obey_the_umask_and_nobody_changes_it(tmp_path):
    """Another thread must never see, or use, a umask that was changed for a moment."""
    before = os.umask(0o027)
    real, calls = os.umask, []
    try:
        os.umask = lambda mask: calls.append(mask) or real(mask)
        with whole_file(tmp_path / "file") as temporary:
            temporary.write_text("x")
        with output_file(tmp_path / "table", False) as temporary:
            temporary.write_text("x")
        with output_folder(tmp_path / "out", False, FILES) as folder:
            (folder / "scores.csv").write_text("x")
    finally:
        os.umask = real
        os.umask(before)
    assert calls == []
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert modes == {"file": 0o640, "table": 0o640, "out": 0o750}


def test_a_folder_that_is_replaced_keeps_its_mode(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "scores.csv").write_text("old")
    out.chmod(0o700)
    with output_folder(out, True, FILES) as folder:
        (folder / "scores.csv").write_text("new")
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_whole_files_of_many_threads(tmp_path):
    path = tmp_path / "file"

    def write(number):
        for _ in range(20):
            with whole_file(path) as temporary:
                temporary.write_text(str(number) * 1000)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in {str(number) * 1000 for number in range(4)}
    assert [one.name for one in tmp_path.iterdir()] == ["file"]

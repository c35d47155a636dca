"""Files that would unpack to too much, or that contain programs, are refused by a preview with little memory."""

import gzip
import io
import json
import re
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import openpyxl
import pytest

pytestmark = pytest.mark.slow


def workbook():
    """A workbook whose sheet unpacks to 70 MB."""
    file, new = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(file)
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith("sheet1.xml"):
                rows = b"<sheetData>" + b"<row/>" * 11_000_000 + b"</sheetData>"
                content = re.sub(b"<sheetData>.*</sheetData>|<sheetData ?/>", rows, content)
            other.writestr(name, content)
    return new.getvalue()


def archive(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


HOSTILE = {
    "lines.csv.gz": (lambda: gzip.compress(b"a,b\n" + b"0,1\n" * 2**21), "limit for this file"),
    "header.tsv.gz": (lambda: gzip.compress(b"a\t" * 2**22), "limit for this file"),
    "book.xlsx": (workbook, "limit for this file"),
    "wide.npz": (lambda: archive(X=np.zeros((20, 10**6), dtype=np.int8)), "limit for this file"),
    "pickle.npz": (lambda: archive(X=np.array([[print]]), y=[1]), "contains Python objects"),
    "damaged.npz": (lambda: b"PK\x03\x04" * 99, "the file is damaged"),
    "index.svm": (lambda: b"1 2000000000:1\n", "limit for this file"),
    "binary.csv": (lambda: bytes(range(256)), "is not a text file"),
    "empty.csv": (lambda: b"", "contains no data"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What one child that may use 1 GB says of every file."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, (make, _) in HOSTILE.items():
        (folder / name).write_bytes(make())
    program = textwrap.dedent("""
        import json, pathlib, sys
        from ispca.app_worker import answer, limit_memory
        from ispca.readers.kept_files import KeptFiles
        limit_memory(2**30)
        kept = KeptFiles(2**27)
        def shown(path):
            wanted = {"matrix": str(path), "sheet": None, "options": {}}
            return answer({"preview": wanted, "memory": 2**30}, kept)
        print(json.dumps({path.name: shown(path) for path in pathlib.Path(sys.argv[1]).iterdir()}))
    """)
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_the_words_of_the_page(answers, name):
    error = answers[name]["error"]
    assert HOSTILE[name][1] in error["problem"]
    assert "max_bytes" not in error["advice"]

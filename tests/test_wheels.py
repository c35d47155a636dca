"""The wheels and the source distribution that ``make wheels`` has built, without installing them."""

import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
SOURCE = CHECKOUT / "src" / "ispca"
BUILT = Path(os.environ.get("ISPCA_WHEELS", ""))
WHEELS = sorted(BUILT.glob("*.whl")) if "ISPCA_WHEELS" in os.environ else []
OBJECTS = sorted(BUILT.resolve().parent.glob("build/wheels/*/**/*.o")) if WHEELS else []
LICENSES = {"LICENSE", "nanobind.txt", "robin-map.txt"}
LARGEST = 3_000_000

pytestmark = pytest.mark.skipif(not WHEELS, reason="no wheels to look into: run make wheels")


@pytest.fixture(params=WHEELS, ids=lambda path: path.name)
def names(request):
    return {name for name in zipfile.ZipFile(request.param).namelist() if not name.endswith("/")}


def test_wheels_are_small_and_run_on_most_of_linux():
    for wheel in WHEELS:
        assert wheel.stat().st_size < LARGEST
        assert re.search(r"-(cp311-cp311|cp312-abi3)-manylinux_[\w.]+\.whl$", wheel.name)


def test_a_wheel_contains_every_file_of_the_package_and_nothing_else(names):
    licenses = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    assert licenses == LICENSES
    engine = {name for name in names if re.fullmatch(r"ispca/_engine\..*so", name)}
    assert len(engine) == 1
    package = {f"ispca/{path.relative_to(SOURCE).as_posix()}" for path in SOURCE.rglob("*") if path.is_file()}
    package = {name for name in package if "__pycache__" not in name and "/_engine." not in name}
    assert "ispca/py.typed" in package
    assert {name for name in names if ".dist-info/" not in name} == package | engine


def test_the_source_distribution_contains_what_its_tests_need_and_nothing_compiled():
    (archive,) = BUILT.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    package = {path.relative_to(CHECKOUT).as_posix() for path in SOURCE.rglob("*.py")}
    assert names > package | {
        "LICENSE",
        "CMakeLists.txt",
        "cpp/kernels.cpp",
        "tests/conftest.py",
        "pyproject.toml",
    }
    assert not [name for name in names if name.endswith((".so", ".pyc", ".whl"))]


def run_tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump and nm")
@pytest.mark.skipif(not any("kernels_avx2" in str(path) for path in OBJECTS), reason="only on x86-64")
def test_only_the_kernels_of_newer_processors_contain_their_instructions():
    # A function that several objects share may come from any of them, so these kernels must not share any.
    for path in OBJECTS:
        of_newer = "kernels_avx" in str(path)
        found = re.search(r"%[yz]mm\d|\tv[a-z]+ +.*%xmm", run_tool("objdump", "-d", path))
        assert bool(found) == of_newer, path
        shared = re.findall(r" [uVW] (\S+)", run_tool("nm", "--defined-only", path))
        assert not (of_newer and shared), path

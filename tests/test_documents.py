"""The code that newcomers copy first must run as it stands."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLISHED = re.search(r"^## \[\d", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
# The name of the package as the first requirement; folders and wheels are fine.
BY_NAME = re.compile(
    r"((pip|pipx|uv|conda|mamba|pixi) (install|add|run|download)|uvx)(\s+-\S+)*\s+['\"]?ispca(?![-/\w])"
)


def python_blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "docs/start.md"])
def test_the_first_examples_run(name, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, as a reader would."""
    pytest.importorskip("matplotlib").use("Agg")
    blocks = python_blocks(ROOT / name)
    assert blocks, f"{name} has no example"
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), name, "exec"), {})
    assert list(tmp_path.glob("*.png"))


def test_every_example_is_a_script_of_the_gallery():
    """Sphinx-gallery runs files named plot_*.py only; others would be forgotten."""
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert len(examples) >= 12
    assert all(path.name.startswith("plot_") for path in examples)
    assert all(path.read_text(encoding="utf-8").startswith('"""\n') for path in examples)


def written_for_people():
    """Return all pages, examples, modules and scripts, whose advice people follow."""
    names = ["README.md", "CONTRIBUTING.md", "CMakeLists.txt", "docs/**/*.md", "examples/*.py", "src/**/*.py"]
    return [path for name in names for path in sorted(ROOT.glob(name)) if "_build" not in path.parts]


@pytest.mark.skipif(PUBLISHED is not None, reason="a version has been released, so that the name can be installed")
def test_nothing_installs_the_package_by_its_name_before_a_release():
    for path in written_for_people():
        found = BY_NAME.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.relative_to(ROOT)}: {found[0]}"


@pytest.mark.parametrize(
    "advice", ["pip install ispca", "pip install -U 'ispca[app]'", "pip install\n'ispca[all]'"]
)
def test_advice_that_needs_a_release_is_found(advice):
    assert BY_NAME.search(advice)


@pytest.mark.parametrize(
    "advice", ["pip install '.[cli]'", "pip install ispca-0.1.0-cp311-cp311-linux_x86_64.whl"]
)
def test_advice_that_works_is_not(advice):
    assert not BY_NAME.search(advice)


def test_the_page_on_installation_lists_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    for_users = {name for name in extras if not re.match(r"test|lint|docs", name)}
    table = (
        (ROOT / "docs" / "install.md").read_text(encoding="utf-8").partition("## Extras")[2].partition("## ")[0]
    )
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert for_users <= set(re.findall(r"`(\w+)`", " ".join(rows)))

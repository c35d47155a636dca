"""The code that newcomers copy first must run as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


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

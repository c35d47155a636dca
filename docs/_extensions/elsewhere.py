"""Pages whose text lies elsewhere in the repository, with links that work in both places."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {"benchmarks": "benchmarks/README.md", "changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}


def read(app, name, source):
    """Put the text in the place of the page; turn links between both folders into links between pages."""
    if name in PAGES:
        path = ROOT / PAGES[name]
        app.env.note_dependency(path)
        source[0] = path.read_text(encoding="utf-8").replace("](../docs/", "](").replace("](docs/", "](")
    source[0] = source[0].replace("](../benchmarks/README.md", "](benchmarks.md")


def setup(app):
    """Listen to the reading of pages."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The page, Markdown and JSON: escaped, small, without requests, whole or not at all."""

import base64
import hashlib
import html
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from jinja2 import UndefinedError

from ispca import ISPCA
from ispca.report import summarize, to_html, to_json, to_markdown, write_report
from ispca.report.formatting import NAME_BYTES, clean
from ispca.report.report_file import load_templates
from ispca.report.report_inputs import Context

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quoted\" and 'single' & ampersand &lt;",
    "\u05d0\u05d1\u05d2 \u202e\u0645\u0631\u062d\u0628\u0627",
    "long " + "x" * 10_000,
    "\U0001f9ec" * 4000,
    "null\x00 bell\x07 \ud800 line\nbreak \u2028",
    "=HYPERLINK('http://evil')",
    "| pipe ` `` ``` * _ [link](javascript:alert(1))",
    "-->]]><!--<style>*{display:none}",
    "",
    "__proto__",
]


class Reader(HTMLParser):
    """Collect elements with their attributes, and the text of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.elements, self.inside, self.contents = [], None, []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.inside = (tag, dict(attributes))

    def handle_endtag(self, tag):
        self.inside = None if tag in ("script", "style") else self.inside

    def handle_data(self, text):
        if self.inside:
            self.contents.append((*self.inside, text))


@pytest.fixture(scope="module")
def hostile(four):
    """A summary in which every name is hostile."""
    _, X, y = four
    labels = np.array(HOSTILE[:4], dtype=object)[np.unique(y, return_inverse=True)[1]]
    reduction = ISPCA(3, n_permutations=100, random_state=0).fit(X, labels.astype(str))
    features = [f"{HOSTILE[j % len(HOSTILE)]}{j}" for j in range(X.shape[1])]
    samples = [HOSTILE[i % len(HOSTILE)] for i in range(len(X))]
    names = {"feature_names": features, "sample_names": samples, "target_name": HOSTILE[1]}
    return summarize(reduction, X, labels.astype(str), **names)


def read(page):
    reader = Reader()
    reader.feed(page)
    return reader


def test_hostile_names_are_text_and_nothing_else(hostile):
    page = to_html(hostile)
    page.encode()
    reader = read(page)
    tags = {tag for tag, _ in reader.elements}
    assert "img" not in tags
    assert "iframe" not in tags
    assert sum(tag == "script" for tag, _ in reader.elements) == 2
    assert sum(tag == "style" for tag, _ in reader.elements) == 1
    assert not [name for _, attributes in reader.elements for name in attributes if name.startswith("on")]
    assert not [name for _, attributes in reader.elements for name in attributes if name == "style"]
    assert html.escape(HOSTILE[0]) in page
    for raw in ("<script>alert", "<img", "\x00", "\x07", "\u2028", "\u202e"):
        assert raw not in page
    assert "x" * 200 not in page
    [data] = [text for tag, attributes, text in reader.contents if attributes.get("type") == "application/json"]
    assert not set("<>&") & set(data)
    assert json.loads(data)["score_plot"]["samples"][0] == HOSTILE[0]


def test_no_request_is_made_and_none_allowed(hostile, two):
    for summary in (hostile, summarize(*two)):
        page = to_html(summary)
        reader = read(page)
        [policy] = [a["content"] for _, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for tag, attributes, text in reader.contents:
            if attributes.get("type") != "application/json":
                digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert f"{tag}-src 'sha256-{digest}'" in policy
                assert not re.search(r"\b(fetch|XMLHttpRequest|import)\s*\(|@import|url\(", text)
        assert not [a for tag, a in reader.elements if "src" in a]
        links = [a["href"] for tag, a in reader.elements if tag == "link"]
        assert links == ["data:,"]
        addresses = [a["href"] for tag, a in reader.elements if tag == "a"]
        assert {address for address in addresses if not address.startswith("#")} == {
            summary["reproducibility"]["address"]
        }


def test_every_link_has_its_target_and_no_id_is_used_twice(two):
    reader = read(to_html(summarize(*two)))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    inner = [a["href"][1:] for tag, a in reader.elements if tag == "a" and a["href"].startswith("#")]
    assert set(inner) <= set(ids)


def test_markdown_is_escaped(hostile):
    text = to_markdown(hostile)
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$", "", text)
    assert "<script" not in outside
    assert "<img" not in outside
    assert "[link](" not in outside
    for line in outside.splitlines():
        if line.startswith("| "):
            assert not re.search(r"(?<!\\)\|(?!(\s|$))", line[1:])
    assert text.startswith("# ")


def test_json_keeps_names_as_they_are(hostile):
    assert json.loads(to_json(hostile)) == hostile


@pytest.mark.parametrize("name", HOSTILE)
def test_clean_names(name):
    text = clean(name)
    assert text
    assert len(text.encode()) <= NAME_BYTES
    assert not re.search(r"[\x00-\x1f\ud800-\udfff\u202a-\u202e]", text)
    assert clean(text) == text


@pytest.mark.slow
def test_twenty_thousand_features_in_less_than_five_megabytes():
    rng = np.random.default_rng(0)
    n, D = 100, 20_000
    y = np.repeat(["a", "b"], n // 2)
    X = rng.normal(size=(n, D)).astype(np.float32)
    X[:, :300] += 1.5 * (y == "a")[:, None]
    reduction = ISPCA(50, n_permutations=50, whiten=True, random_state=0).fit(X, y)
    for name in ("gene {}", "{} " + "long " * 2000, "{}" + "\U0001f9ec" * 300):
        # The same long name again and again takes no memory.
        names = [name.format(j) if j < 2000 else name for j in range(D)]
        summary = summarize(reduction, X, y, feature_names=names)
        assert len(to_html(summary).encode()) < 5_000_000
    assert any("largest loadings" in line for line in summary["features"]["text"])


def test_the_file(two, tmp_path):
    model, X, y = two
    for name, start in {"a.html": "<!doctype html>", "a.md": "# ", "a.json": "{", "a.HTM": "<!doctype"}.items():
        assert write_report(model, X, y, tmp_path / name) == tmp_path / name
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    write_report(model, X, y, str(tmp_path / "odd.txt"), format="markdown")
    with pytest.raises(ValueError, match=r"use .html"):
        write_report(model, X, y, tmp_path / "report.pdf")
    with pytest.raises(ValueError, match="'html', 'markdown', 'json'"):
        write_report(model, X, y, tmp_path / "a.html", format="pdf")
    with pytest.raises(ValueError, match="does not exist"):
        write_report(model, X, y, tmp_path / "nowhere" / "a.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ValueError, match="is a directory"):
        write_report(model, X, y, tmp_path / "folder.html")


def test_a_missing_jinja2_is_reported_before_anything_else(two, tmp_path, monkeypatch):
    load_templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"HTML report requires jinja2.*pip install jinja2"):
        write_report(object(), path=tmp_path / "report.html")
    write_report(*two, tmp_path / "report.md")


def test_a_summary_without_a_needed_entry_is_an_error(two):
    summary = summarize(*two)
    del summary["components"]["tables"][0]["caption"]
    with pytest.raises(UndefinedError, match="caption"):
        to_html(summary)


def test_a_failure_leaves_the_old_file(two, tmp_path, monkeypatch):
    model, X, y = two
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="A report needs"):
        write_report(object(), X, y, path)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_report(model, X, y, path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_a_hostile_command_and_notes(two):
    model, X, y = two
    words = {"command": "ispca fit '\udcff\x1b[31m</pre><script>'", "notes": HOSTILE, "data_name": HOSTILE[0]}
    context = Context(target_name=HOSTILE[2], left_out={name: name for name in HOSTILE}, **words)
    summary = summarize(model, X, y, context=context)
    for text in (to_html(summary), to_markdown(summary), to_json(summary)):
        text.encode()
        assert "\x1b" not in text
    assert sum(tag == "script" for tag, _ in read(to_html(summary)).elements) == 2

"""The demo writes its report and says where it is."""

import warnings
from functools import partial

from ispca import demo
from ispca.validation import compare_with_baselines


def test_the_demo(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "compare_with_baselines", partial(compare_with_baselines, n_jobs=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demo.main(tmp_path / "demo", cv=2, n_bags=3)
    said = capsys.readouterr().out
    path = tmp_path / "demo" / "report.html"
    assert f"The report is in {path.resolve()}" in said
    assert "classified correctly" in said
    assert said.count("bagged 90% interval") == 5
    assert "bagged 90% interval" in path.read_text(encoding="utf-8")
    assert "sample 100" in path.read_text(encoding="utf-8")

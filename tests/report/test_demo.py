"""The demo writes its report and says where it is."""

import warnings

from ispca import demo
from ispca.report import prediction
from ispca.validation import compare


def test_the_demo(tmp_path, capsys, monkeypatch):
    here = {"n_jobs": 1}
    monkeypatch.setattr(prediction, "compare", lambda *given, **options: compare(*given, **(options | here)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demo.main(tmp_path / "demo", cv=2)
    said = capsys.readouterr().out
    path = tmp_path / "demo" / "report.html"
    assert f"The report is in {path.resolve()}" in said
    assert "This model predicts" in said
    assert "sample 100" in path.read_text(encoding="utf-8")

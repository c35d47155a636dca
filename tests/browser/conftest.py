"""A report in a real browser: Debian's Chromium, driven by Playwright. ``make test-browser`` installs both."""

import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import panels
from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.report import write_report
from ispca.validation import compare_with_baselines

WANTED = os.environ.get("ISPCA_BROWSER_TESTS") == "1"
HOSTILE = "</script><script>window.broken=1</script>"


def pytest_collection_modifyitems(items):
    """Skip these tests unless ``make test-browser`` runs them."""
    skip = pytest.mark.skip(reason="browser tests run with make test-browser")
    for item in items:
        if Path(__file__).parent in item.path.parents and not WANTED:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """A report with three classes, hostile names, a comparison and a panel."""
    data = make_expression(n_samples=60, n_features=900, n_classes=3, signal=2.5, random_state=0)
    sampler = HorseshoeClassifier(n_warmup=80, n_draws=80, retry=False, random_state=0, n_jobs=1)
    model = make_pipeline(ISPCA(4, whiten=True, n_permutations=200, random_state=0), sampler)
    # Four samples change places, so that some are misclassified.
    data.target[:4] = np.roll(np.unique(data.target), 1)[np.unique(data.target, return_inverse=True)[1][:4]]
    y = np.array([HOSTILE if label == "class 3" else label for label in data.target.tolist()])
    features = [f"{HOSTILE} {j}" if j % 7 == 0 else f"gene {j}" for j in range(900)]
    samples = [f"patient {i}" for i in range(60)]
    samples[0], samples[1] = HOSTILE, "\u05d0\u05d1\u05d2 " + "x" * 10_000
    path = tmp_path_factory.mktemp("report") / "report.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data.data, y)
        names = {"feature_names": features, "sample_names": samples, "target_name": "tumour"}
        validation = compare_with_baselines(model, data.data, y, cv=2, n_jobs=1)
    panel = panels.selector(names=[HOSTILE, "gene 3", "a gene with a rather long name", "gene 5"], n_classes=3)
    return write_report(model, data.data, y, path, validation=validation, panel=panel, **names)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "There is no Chromium: run make test-browser, or install your system's chromium package."
    with sync_playwright() as playwright:
        # The page is ours; without this, Chromium does not start for root, as in containers.
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser, report):
    """Return a function that opens the report, offline; whatever goes wrong in the page fails the test."""
    contexts, troubles = [], []

    def open_report(width=1100, height=900, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: request.url.startswith("http") and troubles.append(request.url))
        page.goto(report.as_uri())
        return page

    open_report.troubles = troubles
    yield open_report
    for context in contexts:
        context.close()
    assert troubles == []

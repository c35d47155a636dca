"""Reports and the web page in Debian's Chromium, driven by Playwright. ``make test-browser`` installs both."""

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


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Files as users have them, with hostile names: a table, new samples, a matrix with a sheet, an annotation."""
    import app_pages

    folder = tmp_path_factory.mktemp("files")
    data = make_expression(n_samples=40, n_features=60, signal=3.0, random_state=0)
    genes = [app_pages.HOSTILE, *(f"gene {j}" for j in range(1, 60))]
    samples = [f"s{i}" for i in range(40)]
    values = np.round(data.data, 3).tolist()
    classes = [app_pages.HOSTILE if label == data.target[0] else "normal" for label in data.target]
    labeled = [[name, label, *row] for name, label, row in zip(samples, classes, values, strict=True)]
    gaps = [
        [name, *row[:-1], "NA" if i % 9 == 0 else row[-1]]
        for i, (name, row) in enumerate(zip(samples, values, strict=True))
    ]
    sheet = [[name, label, 30 + i % 40] for i, (name, label) in enumerate(zip(samples, classes, strict=True))]
    by_gene = [[gene, *row] for gene, row in zip(genes, np.transpose(values[:12]).tolist(), strict=True)]
    tables = {
        "table": ("tissue data.csv", ["sample", "diagnosis", *genes], labeled),
        "new": ("new.csv", ["sample", *genes], [[f"new {i}", *row] for i, row in enumerate(values[:12])]),
        "matrix": ("a.csv", ["sample", *genes], gaps),
        "sheet": ("clinical.csv", ["sample", "diagnosis", "age"], sheet),
        "genes in rows": ("genes in rows.csv", ["gene", *samples[:12]], by_gene),
        "annotation": (
            "genes.csv",
            ["probe", "chromosome", "symbol"],
            [[gene, "7", f"SYM{j}"] for j, gene in enumerate(genes)],
        ),
    }
    return {role: app_pages.write_rows(folder / name, *rows) for role, (name, *rows) in tables.items()}


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A running server."""
    import app_server

    with app_server.Server(tmp_path_factory.mktemp("server"), "--runs", "2") as found:
        yield found


def admit(browser, server, **options):
    """Return a window of a browser that has the cookie of the server, because its address works only once."""
    context = browser.new_context(**options)
    name, _, value = server.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": f"http://{server.host}/"}])
    return context


@pytest.fixture
def open_app(browser, server):
    """Return a function that opens the first page; errors and requests to others fail the test."""
    contexts, troubles = [], []
    base = f"http://{server.host}/"

    def refuse(route):
        troubles.append(route.request.url)
        route.abort()

    def open_page(width=1200, height=900, scheme="light", path="", address=base):
        own = address.partition("?")[0]
        context = admit(browser, server, viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        context.route(lambda url: not url.startswith((own, "data:", "blob:")), refuse)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: message.type == "error" and troubles.append(message.text))
        page.goto(address)
        if path:
            page.goto(own.rstrip("/") + path)
        return page

    open_page.troubles, open_page.base = troubles, base
    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def finished(browser, server, files):
    """The path of the page of an analysis that is done; a comparison of its data has been started."""
    import app_pages

    context = admit(browser, server)
    page = context.new_page()
    page.goto(f"http://{server.host}/")
    app_pages.send(page, files["table"])
    page.get_by_label("Target", exact=True).select_option("diagnosis")
    app_pages.wait_for_preview(page)
    app_pages.start(page, "finished")
    app_pages.expect(page.locator("#state")).to_have_text("Done", timeout=app_pages.PATIENCE)
    path = "/" + page.url.partition("//")[2].partition("/")[2]
    # One split, fewer than the page offers.
    compare = "path => fetch(path, { method: 'POST', body: '{\"splits\": 1}' }).then((answer) => answer.status)"
    assert page.evaluate(compare, f"/api{path}/compare") == 201
    context.close()
    return path

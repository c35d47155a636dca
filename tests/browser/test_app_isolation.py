"""The web page keeps to itself: reports reach nothing, visitors sign in, and a stopped server loses no run."""

import signal

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("playwright.sync_api")
from app_pages import HOSTILE, PATIENCE, PHONE, check_page, expect
from app_server import Server, table

REACH = """async () => {
  const reached = [];
  const attempts = {
    api: () => fetch("/api/runs"),
    elsewhere: () => fetch("http://192.0.2.1/"),
    page: () => parent.document.title,
    cookies: () => document.cookie,
    storage: () => localStorage.length,
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      reached.push(name);
    } catch {
      // Refused, as it should be.
    }
  }
  return reached;
}"""


@pytest.mark.parametrize("own_tab", [False, True], ids=["frame", "tab"])
def test_a_hostile_report_reaches_nothing(open_app, finished, own_tab):
    page = open_app(path=finished)
    if own_tab:
        with page.expect_popup() as popup:
            page.get_by_role("link", name="Open the report in its own tab").click()
        report = popup.value.main_frame
    else:
        page.frame_locator("#report-frame").locator("h1").wait_for(timeout=PATIENCE)
        report = page.locator("#report-frame").element_handle().content_frame()
    report.locator("h1").wait_for(timeout=PATIENCE)
    assert HOSTILE in report.content() or "onerror" in report.content()
    # The names of features and classes are code that would set this.
    assert report.evaluate("window.broken") is None
    assert report.evaluate(REACH) in ([], ["page"] if own_tab else [])
    assert page.evaluate("window.broken") is None
    # The browser says what it has refused; requests that left would be among these by their address.
    assert not [trouble for trouble in open_app.troubles if trouble.startswith("http")]
    open_app.troubles.clear()


def test_visitors_sign_in(open_app, tmp_path):
    with Server(tmp_path / "lab", "--password", "a secret") as lab:
        page = open_app(*PHONE, address=f"http://{lab.host}/")
        check_page(page, "login", tmp_path)
        expect(page.get_by_label("Password of this server")).to_be_focused()
        page.keyboard.type("a guess")
        page.keyboard.press("Enter")
        expect(page.locator("#login-error")).to_be_visible()
        check_page(page, "login-error", tmp_path)
        page.get_by_label("Password of this server").fill("a secret")
        page.keyboard.press("Enter")
        expect(page.locator("#drop")).to_be_visible()
        # The browser reports the wrong password.
        assert all("401" in trouble or "403" in trouble for trouble in open_app.troubles)
        open_app.troubles.clear()


def test_an_interrupted_run_is_run_again(open_app, tmp_path):
    with Server(tmp_path / "app") as server:
        id = server.fit(table(300, 40), draws=20_000)
        server.wait(id, lambda run: run["stages"])
        server.stop(signal.SIGKILL)
    with Server(tmp_path / "app") as server:
        page = open_app(address=f"http://{server.host}/?token={server.token}", path=f"/runs/{id}")
        expect(page.locator("#state")).to_have_text("Interrupted", timeout=PATIENCE)
        expect(page.locator("#trouble")).to_contain_text("The server stopped before this run was done.")
        check_page(page, "interrupted", tmp_path)
        page.get_by_role("button", name="Run again").click()
        expect(page.locator("#working")).to_be_visible(timeout=PATIENCE)
        expect(page.locator("#trouble")).to_be_hidden()
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#state")).to_have_text("Cancelled", timeout=PATIENCE)

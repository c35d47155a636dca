"""``ispca app`` refuses what cannot work with one sentence, before anything is written."""

import os
import socket
import subprocess
import sys

import pytest

from ispca import cli
from ispca.app import server
from ispca.app.server_settings import ServerSettings, default_folder, is_loopback


@pytest.fixture
def served(monkeypatch):
    """Return the settings with which the server would run."""
    found = []
    monkeypatch.setattr(server, "serve", lambda settings, browser: found.append((settings, browser)))
    return found


def refusal(capsys, *options):
    code = cli.main(["app", "--no-browser", *map(str, options)])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return code, said


def test_options_become_settings(served, tmp_path):
    options = ["--folder", str(tmp_path), "--port", "8123", "--runs", "3", "--memory", "2G", "--max-upload", "1G"]
    assert cli.main(["app", *options, "--host", "0.0.0.0", "--password", "long enough"]) == 0
    ((settings, browser),) = served
    assert browser
    assert settings == ServerSettings(tmp_path, "0.0.0.0", 8123, "long enough", 10**9, 3, 2 * 10**9)
    assert not settings.is_local


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org", ""])
def test_other_machines_need_a_password(served, capsys, host):
    code, said = refusal(capsys, "--host", host)
    assert code == 2
    assert "--password" in said
    assert not served


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_this_machine_needs_none(served, host):
    assert cli.main(["app", "--host", host]) == 0
    assert is_loopback(host)
    assert served[0][0].is_local


def test_short_or_missing_passwords_are_refused(served, capsys, monkeypatch, tmp_path):
    (tmp_path / "short").write_text("1234567\n")
    assert "at least 8" in refusal(capsys, "--password-file", tmp_path / "short")[1]
    assert "Could not read" in refusal(capsys, "--password-file", tmp_path / "missing")[1]
    assert "exclude each other" in refusal(capsys, "--password", "--password-file", tmp_path / "short")[1]
    monkeypatch.setattr("getpass.getpass", lambda prompt: (_ for _ in ()).throw(EOFError))
    assert "at least 8" in refusal(capsys, "--password")[1]
    monkeypatch.setattr("getpass.getpass", lambda prompt: "typed secretly")
    assert cli.main(["app", "--password"]) == 0
    assert served[0][0].password == "typed secretly"


def test_a_password_need_not_be_among_the_arguments(served, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("ISPCA_PASSWORD", "from the environment")
    assert cli.main(["app"]) == 0
    # Worker processes do not inherit it.
    assert "ISPCA_PASSWORD" not in os.environ
    # As an editor of Windows writes it.
    (tmp_path / "file").write_text("\ufeffin a file \n", encoding="utf-8")
    assert cli.main(["app", "--password-file", str(tmp_path / "file")]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(["app", "--password", "on the command line"]) == 0
    assert "--password-file" in capsys.readouterr().err
    monkeypatch.setenv("ISPCA_PASSWORD", "")
    assert cli.main(["app"]) == 0
    found = [settings.password for settings, _ in served]
    assert found == ["from the environment", "in a file ", "on the command line", None]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs to become an unknown user")
def test_a_user_without_a_home_is_asked_for_a_folder():
    # Imported before, because an unknown user may not be allowed to read the packages.
    code = (
        "import os, sys, ispca.app.server, ispca.commands.app; from ispca import cli\n"
        "os.setuid(54321); sys.exit(cli.main(['app', '--no-browser']))"
    )
    names = ("HOME", "XDG_DATA_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True, cwd="/")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--folder" in done.stderr


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_missing_packages_are_named(capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    code, said = refusal(capsys)
    assert code == 1
    assert f"pip install {package}" in said


def test_impossible_ports_are_refused(served, capsys):
    assert "65,535" in refusal(capsys, "--port", 65_536)[1]


def test_a_port_in_use_is_named(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, said = refusal(capsys, "--folder", tmp_path, "--port", port)
    assert code == 2
    assert f"Cannot listen on 127.0.0.1, port {port}" in said


def test_folders_that_cannot_be_used_are_named(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert "Choose another folder" in refusal(capsys, "--folder", tmp_path / "file" / "x")[1]
    (tmp_path / "ispca.sqlite").write_bytes(b"not a database" * 1000)
    assert "Move it away" in refusal(capsys, "--folder", tmp_path)[1]


def test_an_unwritable_folder_is_named(capsys, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(server.atomic, "lock", refuse)
    assert "Permission denied" in refusal(capsys, "--folder", tmp_path)[1]


def test_the_folder_is_that_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "ispca"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert default_folder() == tmp_path / "local" / "ispca"


@pytest.mark.parametrize(
    ("host", "start"), [("127.0.0.1", "http://127.0.0.1:80/"), ("::1", "http://[::1]:80/"), ("::", "http://")]
)
def test_the_address_can_be_opened(host, start):
    found = server.page_address(ServerSettings(host=host, port=80), "secret")
    assert found.startswith(start)
    assert found.endswith("/?token=secret")
    assert "[::]" not in found
    assert "secret" not in server.page_address(ServerSettings(host=host, port=80, password="p"), "secret")

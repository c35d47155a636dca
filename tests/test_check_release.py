"""The check before a release: tag, version and changelog must agree."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_release.py"
if not SCRIPT.exists():
    pytest.skip("the source distribution has no .ci", allow_module_level=True)
SPECIFICATION = importlib.util.spec_from_file_location("check_release", SCRIPT)
check_release = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(check_release)

DEVELOPED = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- This.\n\n## [0.9.0] - 2026-01-31\n\n- That.\n"
RELEASED = DEVELOPED.replace("\n### Added\n", "\n## [1.0.0] - 2026-11-30\n")


@pytest.mark.parametrize(
    ("version", "changelog", "tag"),
    [
        ("1.0.0", RELEASED, "v1.0.0"),
        ("1.0.0", RELEASED, None),
        ("1.0.0rc1", RELEASED.replace("1.0.0", "1.0.0rc1"), "v1.0.0rc1"),
        ("1.0.0.dev0", DEVELOPED, None),
    ],
)
def test_agreement(version, changelog, tag):
    assert check_release.find_problems(version, changelog, tag) == []


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "problem"),
    [
        ("1.0.0", RELEASED, "v1.0.1", "the tag must be v1.0.0"),
        ("1.0.0", RELEASED, "1.0.0", "the tag must be v1.0.0"),
        ("1.0.0.dev0", DEVELOPED, "v1.0.0.dev0", "development version"),
        ("1.0.0", DEVELOPED, "v1.0.0", "first version in CHANGELOG.md must be 1.0.0"),
        ("1.0.0", RELEASED.replace(" - 2026-11-30", ""), None, "its date as YYYY-MM-DD"),
        ("1.0.0", RELEASED.replace("2026-11-30", "2026-11-31"), None, "its date as YYYY-MM-DD"),
        ("1.0.0", RELEASED.replace("- This.\n", ""), None, "is empty"),
        ("1.0.0", RELEASED.replace("[Unreleased]\n", "[Unreleased]\n\n- New.\n"), None, "unreleased changes"),
        ("1.0.0.dev0", RELEASED, None, "already has a section"),
        ("1.1.0.dev0", RELEASED.replace("## [Unreleased]\n\n", ""), None, "must start with"),
        ("1.0", RELEASED, None, "must look like 1.2.3"),
    ],
)
def test_disagreement(version, changelog, tag, problem):
    [sentence] = check_release.find_problems(version, changelog, tag)
    assert problem in sentence


def test_the_checkout_passes_and_a_wrong_tag_fails():
    passed = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert (passed.returncode, passed.stderr) == (0, "")
    failed = subprocess.run([sys.executable, SCRIPT, "v0.0.1"], capture_output=True, text=True)
    assert failed.returncode == 1
    assert "the tag must be" in failed.stdout

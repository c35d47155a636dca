"""How the extension was built: with the linker's and compiler's protections."""

import shutil
import subprocess
import sys

import pytest

from ispca.foundation.extras import load_engine


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the flags are those of ELF linkers")
@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("--dynamic", "BIND_NOW"),
        ("--segments", "GNU_RELRO"),
        ("--dyn-syms", "__stack_chk_fail"),
        ("--dyn-syms", "printf_chk"),
    ],
)
def test_the_extension_is_hardened(option, wanted):
    shown = subprocess.run(
        ["readelf", "--wide", option, load_engine().__file__], capture_output=True, text=True, check=True
    )
    assert wanted in shown.stdout

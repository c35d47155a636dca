"""Settings of the server: where it keeps its files, who may connect, and how much it may use."""

from __future__ import annotations

import ipaddress
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

GIB = 2**30
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Where the memory of the machine cannot be asked for.
USUAL_MEMORY = 8 * GIB


def default_folder() -> Path:
    """Return where the platform keeps the data of programs."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "ispca"


def machine_memory() -> int:
    """Return the memory of the machine, or of the container if that is less, in bytes."""
    found = USUAL_MEMORY
    with suppress(AttributeError, ValueError, OSError):
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return found


def usual_runs() -> int:
    """Return how many runs work at the same time: each uses several cores."""
    return max(1, (os.cpu_count() or 1) // 4)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to an address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def network_of(host: str) -> str:
    """Return what counts as one address: of IPv6, a network of which one machine can have all addresses.

    >>> network_of("192.168.1.5"), network_of("::ffff:192.168.1.5"), network_of("2001:db8:1:2:3:4:5:6")
    ('192.168.1.5', '192.168.1.5', '2001:db8:1:2::')
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))


@dataclass(frozen=True)
class ServerSettings:
    """What the server may do.

    Attributes
    ----------
    folder : Path
        Database, uploads and runs.
    host, port : str, int
        Address; port 0 takes a free one.
    password : str or None
        Asked for in addition to the address, which contains a secret.
    max_upload : int
        Size of an uploaded file, in bytes.
    max_runs : int
        Runs at the same time; others wait.
    max_memory : int
        Memory of each process of a run, in bytes; 0 for three quarters of the machine, divided among the runs.
    """

    folder: Path = field(default_factory=default_folder)
    host: str = "127.0.0.1"
    port: int = 0
    password: str | None = field(default=None, repr=False)
    max_upload: int = 4 * GIB
    max_runs: int = field(default_factory=usual_runs)
    max_memory: int = 0

    @property
    def run_memory(self) -> int:
        """Memory of each process of a run, in bytes."""
        return self.max_memory or machine_memory() * 3 // 4 // self.max_runs

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    def run_folder(self, run: str) -> Path:
        """Return the folder of a run."""
        return self.folder / "runs" / run

    @property
    def trash_folder(self) -> Path:
        """The folder of deleted runs; beside the others, so that it is on the same disk."""
        return self.folder / "runs" / "trash"

    def upload_folder(self, upload: str) -> Path:
        """Return the folder of an uploaded file."""
        return self.folder / "uploads" / upload

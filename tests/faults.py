"""Run a job in a forked child that dies, or gets an error, at the k-th call that writes below a folder."""

import os
import signal
import sys
import traceback

# Audit events that change the file system; "open" only where it is for writing.
EVENTS = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
FINE, REFUSED, BROKEN = 0, 1, 2


class Fault:
    """Counts the calls, and lets one of them (or that and all later ones) go wrong."""

    def __init__(self, folder, number, code=None, lasting=False):
        self.folder, self.number, self.code, self.lasting = os.fsencode(folder), number, code, lasting
        self.count = 0

    def install(self):
        sync = os.fsync
        sys.addaudithook(self._hear)

        def fsync(handle):
            self._hit("fsync")
            return sync(handle)

        os.fsync = fsync

    def _hear(self, event, args):
        if event == "open":
            path, _, flags = args
            if not isinstance(flags, int) or not flags & WRITING:
                return
        elif event in EVENTS:
            path = args[0]
        else:
            return
        # Names relative to an open folder come from shutil.rmtree.
        if isinstance(path, str | bytes | os.PathLike) and (
            os.fsencode(path).startswith(self.folder) or not os.path.isabs(path)
        ):
            self._hit(event)

    def _hit(self, event):
        self.count += 1
        if self.count != self.number and not (self.lasting and self.count > self.number):
            return
        if self.code is None:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(self.code, f"injected at {event}")


def in_child(job, fault=None):
    """Return how the job ended (or minus the signal), and what it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        outcome = BROKEN
        try:
            os.close(reader)
            if fault is not None:
                fault.install()
            job()
            outcome = FINE
        except (OSError, ValueError) as error:
            outcome = REFUSED
            os.write(writer, str(error).encode())
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(outcome)
    os.close(writer)
    with os.fdopen(reader) as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def n_calls(job, folder):
    """Return how many calls a job makes that write; the job is done."""
    reader, writer = os.pipe()
    fault = Fault(folder, 0)

    def counted():
        job()
        os.write(writer, str(fault.count).encode())

    assert in_child(counted, fault)[0] == FINE
    os.close(writer)
    with os.fdopen(reader) as file:
        return int(file.read())

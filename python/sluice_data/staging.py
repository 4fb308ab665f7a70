"""Files that a job stages with `--stage-in=...,stream` arrive while the job runs: readers wait for the next one."""

import os
import time

# In the staged directory as long as files are still to come. Holds the error if there is one.
MARK = ".sluice-staging"


class StagingError(OSError):
    """The file will not arrive."""


def wait_for(directory, name, timeout=None, interval=0.05):
    """Returns the path of the file once it is complete (it gets its name only then). StagingError: it never will be."""
    directory = os.fspath(directory)
    path, mark = os.path.join(directory, name), os.path.join(directory, MARK)
    end = None if timeout is None else time.monotonic() + timeout
    while not os.path.lexists(path):
        try:
            with open(mark, encoding="utf-8", errors="replace") as file:
                failure = file.read().strip()
        except FileNotFoundError:
            if os.path.lexists(path):  # it was the last one
                break
            raise StagingError(f"{path}: it is not there, and nothing is being staged") from None
        if failure:
            raise StagingError(f"{path}: {failure}")
        if end is not None and time.monotonic() > end:
            raise StagingError(f"{path}: it has not arrived within {timeout} s")
        time.sleep(interval)
    return path

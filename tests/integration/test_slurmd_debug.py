"""srun --slurmd-debug: lines of slurmstepd's log on the standard error of srun."""

import pytest


@pytest.mark.parametrize("level, shown", [("info", True), ("4", True), ("1", True), ("0", False), ("error", False), ("quiet", False)])
def test_the_level_decides_what_is_shown(shared, level, shown):
    done = shared.run("srun", "-N2", "-n2", f"--slurmd-debug={level}", "echo", "hello")
    assert done.stdout == "hello\nhello\n"
    starts = [line for line in done.stderr.splitlines() if line.endswith("starting 1 tasks")]
    assert len(starts) == (2 if shown else 0)
    assert ("exited with exit code 0" in done.stderr) == shown
    if shown:
        assert all("slurmstepd-n" in line for line in starts)


def test_without_the_option_nothing_is_shown(shared):
    assert shared.run("srun", "true").stderr == ""


def test_an_unknown_level_is_refused(shared):
    refused = shared.run("srun", "--slurmd-debug=loud", "true", check=False)
    assert refused.returncode != 0 and "slurmd-debug" in refused.stderr and "loud" in refused.stderr

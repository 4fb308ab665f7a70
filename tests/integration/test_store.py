"""The state on disk: full, damaged, or taken away."""

import os
import subprocess

import pytest


@pytest.fixture
def small_disk(as_root, make_cluster):
    """A cluster whose state lives on a disk of a few megabytes."""
    cluster = make_cluster(start=False, extra="MessageTimeout=2")
    state = cluster.dir / "state"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", state], check=True)
    yield cluster.start()
    cluster.stop_all = True
    for name in list(cluster.daemons):
        cluster.kill(name, 15)
    subprocess.run(["umount", "-l", state], check=True)
    cluster.checked = False


NOT_SAVED = "could not save its state"


class FullDisk:
    """Submissions until the disk is full, and what their senders were told."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.ballast = cluster.dir / "state" / "ballast"
        self.log = cluster.dir / "log" / "slurmctld.log"
        self.told = {}  # name of the job -> "done", "refused", or "unknown": no answer came

    def fill(self):
        with open(self.ballast, "wb") as file:
            try:
                while True:
                    file.write(b"x" * 65536)
                    file.flush()
            except OSError:
                pass

    def in_trouble(self):
        text = self.log.read_text()
        return text.count("the store refuses changes") > text.count("the store takes changes again")

    def submit(self):
        name = f"full{len(self.told)}"
        self.told[name] = "unknown"
        return name, self.cluster.popen("sbatch", "--parsable", "--hold", "-J", name, "--wrap", "true",
                                        env={"BIG": "x" * 100_000, "N": name})

    def outcome(self, name, sbatch):
        _, errors = sbatch.communicate(timeout=120)
        if sbatch.returncode == 0:
            self.told[name] = "done"
        elif NOT_SAVED in errors:
            self.told[name] = "refused"
        return self.told[name]

    def until_trouble(self):
        """The submission that found the disk full, not yet answered perhaps."""
        self.fill()
        for _ in range(50):
            name, sbatch = self.submit()
            self.cluster.wait_for(lambda: sbatch.poll() is not None or self.in_trouble(), what="an answer")
            if self.in_trouble():
                return name, sbatch
            assert self.outcome(name, sbatch) == "done"
        raise AssertionError("the disk was never full")

    def check(self):
        """A job for all who were told so, none for those who were told no."""
        names = self.cluster.run("squeue", "-h", "-o", "%j").stdout.split()
        listed = [name for name in names if name in self.told]
        assert len(listed) == len(set(listed))
        assert {name for name, told in self.told.items() if told == "done"} <= set(listed)
        assert not {name for name, told in self.told.items() if told == "refused"} & set(listed)


def test_a_full_disk_refuses_loses_nothing_and_recovers(small_disk):
    cluster = small_disk
    kept = cluster.submit("true", "--hold")
    disk = FullDisk(cluster)
    # Its sender has asked again and again, and given up.
    disk.outcome(*disk.until_trouble())
    cluster.wait_for(lambda: disk.outcome(*disk.submit()) == "refused", what="a refusal")
    assert cluster.run("scancel", kept, check=False).returncode != 0
    assert cluster.run("squeue", "-h", "-j", kept).stdout  # queries go on
    disk.ballast.unlink()
    job = cluster.wait_for(
        lambda: cluster.run("sbatch", "--parsable", "--wrap", "true", check=False).stdout.strip(),
        what="submissions to work again")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    disk.check()
    # Its sender is still there when there is space again.
    late = disk.until_trouble()
    disk.ballast.unlink()
    disk.outcome(*late)
    cluster.wait_for(lambda: not disk.in_trouble(), what="the store to take changes")
    disk.check()
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.state(kept) == "PENDING"
    disk.check()


@pytest.mark.parametrize("damage", ["header", "middle", "garbage"])
def test_a_damaged_store_is_never_started_over_silently(cluster, damage):
    for _ in range(20):
        cluster.submit("true", "--hold")
    cluster.kill("slurmctld", 15)
    cluster.checked = False
    path = next((cluster.dir / "state").glob("*.db"))
    with open(path, "r+b") as file:
        if damage == "garbage":
            file.truncate(0)
            file.write(os.urandom(100_000))
        else:
            size = os.path.getsize(path)
            file.seek(0 if damage == "header" else min(8192, size // 2))
            file.write(b"\xde\xad" * 8192)
    result = cluster.run("timeout", "30", "slurmctld", "-D", check=False)
    log = (cluster.dir / "log" / "slurmctld.log").read_text()
    assert result.returncode not in (0, 124, -6, -11, 134, 139)
    assert path.name in result.stderr + log


def test_a_state_directory_that_cannot_be_written(make_cluster):
    cluster = make_cluster(start=False)
    cluster.checked = False
    (cluster.dir / "state").rmdir()
    (cluster.dir / "state").write_text("not a directory")
    result = cluster.run("timeout", "30", "slurmctld", "-D", check=False)
    log = cluster.dir / "log" / "slurmctld.log"
    assert result.returncode not in (0, 124, -6, -11, 134, 139)
    assert "state" in result.stderr + (log.read_text() if log.exists() else "")


def test_the_same_submission_sent_twice_is_one_job(cluster):
    """sbatch repeats a request whose answer was lost; while it does, the controller is replaced."""
    for _ in range(10):
        sbatch = cluster.popen("sbatch", "--parsable", "--hold", "-J", "once", "--wrap", "true")
        cluster.kill("slurmctld")
        cluster.start_controller()
        output, errors = sbatch.communicate(timeout=60)
        assert sbatch.returncode == 0, errors
        listed = cluster.run("squeue", "-h", "-n", "once", "-o", "%A").stdout.split()
        assert listed == [output.strip()]
        cluster.run("scancel", "--name=once")
        cluster.wait_for(lambda: not cluster.run("squeue", "-h", "-n", "once").stdout, what="its end")

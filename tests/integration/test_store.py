"""The state on disk: full, damaged, or taken away."""

import os
import sqlite3
import subprocess
import time

import pytest


@pytest.fixture
def small_disk(as_root, make_cluster):
    """A cluster whose state lives on a disk of a few megabytes."""
    cluster = make_cluster(start=False, extra="MessageTimeout=2\nSlurmdTimeout=6")
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
    """A disk that gets full, and what those were told who wanted something to be kept there."""

    def __init__(self, cluster, job):
        self.cluster = cluster
        self.job = job  # whose comment is changed
        self.changes = 0
        self.ballast = cluster.dir / "state" / "ballast"
        self.log = cluster.dir / "log" / "slurmctld.log"
        self.told = {}  # name of the job -> "done", "refused", or "unknown": any other answer

    def fill(self):
        with open(self.ballast, "wb", buffering=0) as file:  # a buffer would be written again by close()
            try:
                while True:
                    file.write(b"x" * 65536)
            except OSError:
                pass

    def in_trouble(self):
        text = self.log.read_text()
        return text.count("the store refuses changes") > text.count("the store takes changes again")

    def submit(self):
        name = f"full{len(self.told)}"
        sbatch = self.cluster.run("sbatch", "--parsable", "--hold", "-J", name, "--wrap", "true", check=False,
                                  env={"BIG": "x" * 100_000, "N": name})
        self.told[name] = "done" if sbatch.returncode == 0 else "refused" if NOT_SAVED in sbatch.stderr else "unknown"
        return self.told[name]

    def until_refused(self):
        for _ in range(100):
            if self.submit() != "done":
                return
        raise AssertionError("the disk was never full")

    def until_trouble(self):
        """Fills the disk to the last byte; the change that found it full, not answered yet."""
        self.fill()
        for _ in range(50):
            self.changes += 1
            change = self.cluster.popen("scontrol", "update", f"JobId={self.job}", f"Comment=change{self.changes}")
            self.cluster.wait_for(lambda: change.poll() is not None or self.in_trouble(), what="an answer")
            if self.in_trouble():
                return change
            assert change.wait() == 0
        raise AssertionError("the disk was never full")

    def check(self):
        """A job for all who were told so, none for those who were told no."""
        names = self.cluster.run("squeue", "-h", "-o", "%j").stdout.split()
        listed = [name for name in names if name in self.told]
        assert len(listed) == len(set(listed))
        assert {name for name, told in self.told.items() if told == "done"} <= set(listed)
        assert not {name for name, told in self.told.items() if told == "refused"} & set(listed)
        assert "unknown" not in self.told.values()


def test_the_first_submission_that_does_not_fit_is_refused_and_what_is_there_goes_on(small_disk):
    cluster = small_disk
    disk = FullDisk(cluster, cluster.submit("true", "--hold"))
    disk.until_refused()
    disk.check()
    # A little of the disk is kept for the jobs that are there.
    cluster.run("scontrol", "release", disk.job)
    assert cluster.wait_end(disk.job)["JobState"] == "COMPLETED"
    assert cluster.run("sbatch", "--test-only", "--wrap", "true").returncode == 0
    assert disk.submit() == "refused" and not disk.in_trouble()
    cluster.kill("slurmctld")
    cluster.start_controller()
    disk.check()


def test_a_full_disk_refuses_loses_nothing_and_recovers(small_disk):
    cluster = small_disk
    kept = cluster.submit("true", "--hold")
    disk = FullDisk(cluster, kept)
    disk.fill()
    assert disk.submit() == "refused"  # the first one already
    disk.ballast.unlink()
    assert disk.submit() == "done"
    change = disk.until_trouble()
    assert disk.submit() == "refused"
    assert cluster.run("scancel", kept, check=False).returncode != 0
    assert cluster.run("squeue", "-h", "-j", kept).stdout  # queries go on
    change.communicate(timeout=120)  # gives up
    disk.ballast.unlink()
    cluster.wait_for(lambda: not disk.in_trouble(), what="the store to take changes")
    # The last change was not acknowledged: it may have been made or not. The one before was.
    assert cluster.job(kept).get("Comment", "change0") in (f"change{disk.changes - 1}", f"change{disk.changes}")
    job = cluster.submit("true")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    disk.check()
    # The sender of this one is still there when there is space again.
    late = disk.until_trouble()
    disk.ballast.unlink()
    late.communicate(timeout=120)
    cluster.wait_for(lambda: not disk.in_trouble(), what="the store to take changes")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.state(kept) == "PENDING"
    assert cluster.job(kept)["Comment"] == f"change{disk.changes}"
    disk.check()


def test_running_jobs_outlive_a_disk_that_is_full_for_longer_than_slurmdtimeout(small_disk):
    cluster = small_disk
    running = cluster.submit("sleep 1000", "--no-requeue")
    cluster.wait_state(running, "RUNNING")
    disk = FullDisk(cluster, running)
    disk.until_trouble().communicate(timeout=120)
    late = time.monotonic() + 15
    cluster.wait_for(lambda: time.monotonic() > late, what="more than SlurmdTimeout")
    assert disk.in_trouble()
    disk.ballast.unlink()
    cluster.wait_for(lambda: not disk.in_trouble(), what="the store to take changes")
    assert cluster.wait_end(cluster.submit("true"))["JobState"] == "COMPLETED"
    assert cluster.state(running) == "RUNNING"
    cluster.run("scancel", running)


@pytest.mark.parametrize("name, damage", [
    ("sluice.db", "header"), ("sluice.db", "middle"), ("sluice.db", "garbage"), ("accounting.db", "garbage")])
def test_a_damaged_store_is_never_started_over_silently(cluster, name, damage):
    for _ in range(20):
        cluster.submit("true", "--hold")
    cluster.kill("slurmctld", 15)
    cluster.checked = False
    path = cluster.dir / "state" / name
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


def test_a_damaged_record_is_set_aside_and_the_cluster_starts(cluster):
    """One row that cannot be read: the other jobs run on, what is left of its own job is ended."""
    lost = cluster.submit("echo $$ > pid; sleep 1000")
    kept = cluster.submit("sleep 1000")
    for job in (lost, kept):
        cluster.wait_state(job, "RUNNING")
    cluster.wait_for(lambda: (cluster.dir / "work" / "pid").exists() and (cluster.dir / "work" / "pid").read_text().strip(),
                     what="the script's process")
    pid = int((cluster.dir / "work" / "pid").read_text())
    cluster.kill("slurmctld", 15)
    store = sqlite3.connect(cluster.dir / "state" / "sluice.db")
    store.execute("UPDATE jobs SET data = x'ffffff' WHERE id = ?", (int(lost),))
    store.commit()
    store.close()
    cluster.start_controller()
    assert cluster.state(kept) == "RUNNING"
    assert f"Record=job Key={lost} Problem=it cannot be decoded" in cluster.run("scontrol", "show", "damaged").stdout
    assert "is damaged and was set aside" in (cluster.dir / "log" / "slurmctld.log").read_text()
    shown = cluster.run("scontrol", "show", "job", lost, check=False)
    assert shown.returncode != 0 and f"the stored record of job {lost} is damaged" in shown.stderr
    cluster.wait_for(lambda: not os.path.exists(f"/proc/{pid}"), what="the end of the damaged job's process")
    assert int(cluster.submit("true")) > int(kept) > int(lost)
    cluster.kill("slurmctld", 15)
    cluster.start_controller()
    assert cluster.state(kept) == "RUNNING"
    assert f"Key={lost} " in cluster.run("scontrol", "show", "damaged").stdout
    cluster.run("scancel", kept)


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


def test_a_controller_stops_when_another_has_taken_over_its_state(cluster):
    """The epoch in the store is raised, as another controller does when it starts."""
    kept = cluster.submit("true", "--hold")
    store = sqlite3.connect(cluster.dir / "state" / "sluice.db")
    assert store.execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'").rowcount == 1
    store.commit()
    store.close()
    lost = cluster.popen("sbatch", "--parsable", "--hold", "-J", "lost", "--wrap", "true")
    log = cluster.dir / "log" / "slurmctld.log"
    cluster.wait_for(lambda: not cluster.alive("slurmctld"), what="the end of the controller")
    assert "stopping at once: another controller has taken over the state" in log.read_text()
    assert lost.poll() != 0, "it was not told that its job is saved"
    assert cluster.kill("slurmctld", 15) == 1
    cluster.start_controller()
    output, _ = lost.communicate(timeout=60)
    listed = cluster.run("squeue", "-h", "-o", "%A").stdout.split()
    assert sorted(listed) == sorted([kept] + ([output.strip()] if lost.returncode == 0 else []))

"""The state on disk: full, damaged, or taken away."""

import os
import subprocess

import pytest


@pytest.fixture
def small_disk(as_root, make_cluster):
    """A cluster whose state lives on a disk of a few megabytes."""
    cluster = make_cluster(start=False)
    state = cluster.dir / "state"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", state], check=True)
    yield cluster.start()
    cluster.stop_all = True
    for name in list(cluster.daemons):
        cluster.kill(name, 15)
    subprocess.run(["umount", "-l", state], check=True)
    cluster.checked = False


def test_a_full_disk_refuses_loses_nothing_and_recovers(small_disk):
    cluster = small_disk
    kept = cluster.submit("true", "--hold")
    ballast = cluster.dir / "state" / "ballast"
    with open(ballast, "wb") as file:
        try:
            while True:
                file.write(b"x" * 65536)
                file.flush()
        except OSError:
            pass
    big = {"BIG": "x" * 100_000}
    refused = None
    for number in range(50):
        result = cluster.run("timeout", "20", "sbatch", "--parsable", "--hold", "-J", f"full{number}",
                             "--wrap", "true", env={**big, "N": number}, check=False)
        if result.returncode != 0:
            refused = result
            break
    assert refused is not None, "the disk was never full"
    assert cluster.run("squeue", "-h", "-j", kept).stdout  # queries go on
    ballast.unlink()
    job = cluster.wait_for(
        lambda: cluster.run("sbatch", "--parsable", "--wrap", "true", check=False).stdout.strip(),
        what="submissions to work again")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.state(kept) == "PENDING"


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

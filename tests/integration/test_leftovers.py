"""Faults around jobs. After each of them the job has the right state, and nothing of it is left: no process, no
directory, no mount."""

import os
import signal
from pathlib import Path

import pytest

HOOK = """#!/bin/sh
echo $$ >> {dir}/work/{name}.pids
while [ -e {dir}/work/{name}.hang ]; do sleep 0.05; done
"""


@pytest.fixture
def hooked(make_cluster):
    """Two nodes whose prolog and epilog hang as long as there is a file prolog.hang or epilog.hang."""
    cluster = make_cluster(start=False)
    for name in ("prolog", "epilog"):
        path = cluster.dir / name
        path.write_text(HOOK.format(dir=cluster.dir, name=name))
        path.chmod(0o755)
    cluster.extra = f"Prolog={cluster.dir}/prolog\nEpilog={cluster.dir}/epilog\nPrologTimeout=2\nEpilogTimeout=2"
    cluster.write_config()
    return cluster.start()


def started(cluster, name):
    path = cluster.dir / "work" / f"{name}.pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def wait_nothing_left(cluster, job):
    def left():
        scratch = [path for path in (cluster.dir / "scratch").rglob(f"{job}.*") if "removed" not in path.name]
        spool = list((cluster.dir / "spool").glob(f"*/job{int(job):05}"))
        mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(cluster.dir) in line]
        daemons = {daemon.pid for daemon in cluster.daemons.values()}
        processes = [line for pid, line in cluster.processes().items() if pid not in daemons]
        return [*map(str, scratch + spool), *mounts, *processes]

    cluster.wait_for(lambda: not left(), what=f"nothing of job {job} to be left: {left()}")


def test_a_prolog_that_hangs_is_killed_and_the_job_is_held(hooked):
    (hooked.dir / "work" / "prolog.hang").touch()
    job = hooked.submit("echo ran", "-w", "n1")
    hooked.wait_for(lambda: "held" in hooked.run("squeue", "-h", "-j", job, "-o", "%r").stdout, what="the hold")
    (hooked.dir / "work" / "prolog.hang").unlink()
    wait_nothing_left(hooked, job)
    assert hooked.node_state("n1") == "drain"


@pytest.mark.parametrize("name, ends", [("prolog", {"COMPLETED"}), ("epilog", {"COMPLETED"})])
def test_a_slurmd_that_is_killed_during_a_program_finishes_its_work(hooked, name, ends):
    hang = hooked.dir / "work" / f"{name}.hang"
    hang.touch()
    job = hooked.submit("true", "-w", "n1")
    hooked.wait_for(lambda: started(hooked, name), what=f"the {name}")
    hooked.kill("n1")
    for pid in started(hooked, name):  # the machine would have killed it too
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    hang.unlink()
    hooked.start_node("n1")
    assert hooked.wait_end(job)["JobState"] in ends
    wait_nothing_left(hooked, job)


@pytest.mark.parametrize("body", [
    "(setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 0.1; done' &) ; exit 0",
    "setsid setsid sleep 1000 & exit 0",
    "trap '' TERM INT HUP; while :; do sleep 0.1; done",
    "srun sh -c '(setsid sleep 1000 >/dev/null 2>&1 &) ; exit 0'; exit 0",
])
def test_processes_that_hide_or_ignore_signals_are_ended(cluster, body):
    job = cluster.submit(f"echo > $SCRATCH/file; touch up\n{body}", "-w", "n2")
    cluster.wait_for(lambda: (cluster.dir / "work" / "up").exists(), what="the script")
    if "trap '' TERM INT" in body:
        cluster.run("scancel", job)
    assert cluster.wait_end(job)["JobState"] in ("COMPLETED", "CANCELLED")
    wait_nothing_left(cluster, job)


def test_a_job_with_many_processes_that_fork_again_is_ended(make_cluster):
    """Each of them starts others for as long as it lives: none escapes the end of the job."""
    cluster = make_cluster(nodes=1)
    job = cluster.submit("for i in $(seq 40); do (while :; do sleep 0.2; done) & done\ntouch up\nwait")
    cluster.wait_for((cluster.dir / "work" / "up").exists, what="all of them")
    cluster.run("scancel", job)
    assert cluster.wait_end(job)["JobState"] == "CANCELLED"
    wait_nothing_left(cluster, job)
    assert cluster.run_job("echo fine")[1] == "fine\n"


def test_a_full_spool_drains_the_node_and_keeps_the_job(as_root, make_cluster):
    cluster = make_cluster(start=False)
    spool = cluster.dir / "spool" / "n1"
    spool.mkdir()
    os.system(f"mount -t tmpfs -o size=64k tmpfs {spool}")
    try:
        cluster.start()
        filler = spool / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        try:
            for number in range(1000):
                (spool / f"file{number}").touch()
        except OSError:
            pass
        job = cluster.submit("echo ran", "-w", "n1")
        cluster.wait_for(lambda: cluster.node_state("n1").startswith("drain") or
                         cluster.state(job) in ("COMPLETED", "FAILED"), what="a decision about n1")
        filler.unlink()
        for path in spool.glob("file*"):
            path.unlink()
        if cluster.node_state("n1").startswith("drain"):
            cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
        assert cluster.wait_end(job)["JobState"] == "COMPLETED"
        cluster.kill("n1", signal.SIGTERM)
    finally:
        os.system(f"umount -l {spool}")
    cluster.start_node("n1")

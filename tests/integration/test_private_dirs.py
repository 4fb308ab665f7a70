"""JobContainerType=job_container/tmpfs: /tmp and /dev/shm of a job are its own."""

import os
import tempfile
from pathlib import Path

import pytest

SHOW = "ls -A /tmp /dev/shm; echo $SLURM_PROCID > /tmp/a.$SLURM_PROCID; echo > /dev/shm/b.$SLURM_PROCID"


@pytest.fixture(params=["JobContainerType=job_container/tmpfs", "NamespaceType=namespace/tmpfs"])
def contained(request, as_root, make_cluster, monkeypatch):
    """A cluster outside /tmp, which its jobs do not see."""
    monkeypatch.setattr(tempfile, "tempdir", "/var/tmp")
    cluster = make_cluster(start=False, files={"job_container.conf": ""}, extra=request.param)
    cluster.files["job_container.conf"] = f"AutoBasePath=true BasePath={cluster.dir}/base\n" \
                                          f"InitScript={cluster.dir}/init\nShared=true\n"
    init = cluster.dir / "init"
    init.write_text(f"#!/bin/sh\necho $SLURM_JOB_ID $SLURMD_NODENAME >> {cluster.dir}/work/init.out\n")
    init.chmod(0o755)
    cluster.write_config()
    return cluster.start()


def mounts(cluster):
    return [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(cluster.dir) in line]


def left(cluster):
    return [str(path) for path in (cluster.dir / "base").rglob("*")
            if path.name != "removed" and not path.name.startswith("private_")]


def wait_removed(cluster):
    cluster.wait_for(lambda: not left(cluster) and not mounts(cluster), what="empty private directories")


def test_steps_of_a_job_share_them_and_others_do_not(contained):
    marker = Path("/tmp") / f"of-the-machine-{os.getpid()}"
    marker.write_text("text")
    try:
        record, output = contained.run_job(f"{SHOW}\nsrun -l sh -c '{SHOW}; cat /tmp/a.*'\nls /tmp; touch $SCRATCH/x",
                                           "-N2", user="nobody")
    finally:
        marker.unlink()
    assert record["JobState"] == "COMPLETED"
    assert marker.name not in output
    lines = output.splitlines()
    assert lines[:3] == ["/dev/shm:", "", "/tmp:"]  # both are empty at first
    assert {"0: a.0", "0: b.0", "0: 0", "1: 1"} <= set(lines)
    assert "1: a.0" not in lines
    again = contained.run_job("ls -A /tmp /dev/shm", "-w", "n1", user="nobody")[1]
    assert again.split() == ["/dev/shm:", "/tmp:"]
    said = (contained.dir / "work" / "init.out").read_text().split()
    assert said.count(record["JobId"]) == 2
    wait_removed(contained)


def test_programs_of_the_site_see_them(as_root, make_cluster, monkeypatch):
    """CloneNSScript puts a file into /tmp of the job, CloneNSEpilog finds what the job has left there."""
    monkeypatch.setattr(tempfile, "tempdir", "/var/tmp")
    cluster = make_cluster(start=False, nodes=1, files={"job_container.conf": ""},
                           extra="JobContainerType=job_container/tmpfs")
    cluster.files["job_container.conf"] = f"AutoBasePath=true BasePath={cluster.dir}/base\n" \
                                          f"CloneNSScript={cluster.dir}/before\nCloneNSEpilog={cluster.dir}/after\n"
    for name, body in (("before", "echo $SLURM_JOB_ID > /tmp/from-the-site; chmod 644 /tmp/from-the-site"),
                       ("after", f"cat /tmp/left > {cluster.dir}/work/after.out")):
        (cluster.dir / name).write_text(f"#!/bin/sh\n{body}\n")
        (cluster.dir / name).chmod(0o755)
    cluster.write_config()
    cluster.start()
    record, output = cluster.run_job("cat /tmp/from-the-site; echo mine > /tmp/left", user="nobody")
    assert record["JobState"] == "COMPLETED" and output.split() == [record["JobId"]]
    assert cluster.wait_file("after.out") == "mine\n"
    assert not Path("/tmp/from-the-site").exists() and not Path("/tmp/left").exists()
    wait_removed(cluster)


def test_a_killed_slurmd_leaves_none_behind(contained):
    job = contained.submit("echo > /tmp/file; echo > /dev/shm/file; touch up; sleep 1000", "-w", "n1")
    contained.wait_for(lambda: (contained.dir / "work" / "up").exists(), what="the script")
    assert mounts(contained)
    contained.kill("n1")
    contained.run("scancel", job)
    contained.start_node("n1")
    contained.wait_end(job)
    wait_removed(contained)


def test_a_base_below_a_private_directory_is_refused(as_root, make_cluster):
    cluster = make_cluster(start=False, files={"job_container.conf": "BasePath=/tmp/x AutoBasePath=yes"},
                           extra="JobContainerType=job_container/tmpfs")
    cluster.checked = False
    cluster.start_controller()
    cluster.start_node("n1", wait=False)
    cluster.wait_for(lambda: cluster.node_state("n1") == "drain", what="n1 to be drained")
    assert "can be below /tmp" in cluster.run("sinfo", "-h", "-R", "-o", "%E").stdout
    Path("/tmp/x").rmdir()

"""Confinement by cgroups, in both generations that this machine has mounted."""

import os
import re
import signal
from pathlib import Path

import pytest

from cluster import Cluster, wait_for

ESCAPING = """
setsid sh -c 'trap "" TERM; echo $$ >>escaped; while :; do sleep 1; done' &
(setsid sh -c 'echo $$ >>escaped; exec sleep 1000' &)
while [ "$(wc -l <escaped)" != 2 ]; do sleep 0.05; done
cat /proc/self/cgroup
"""


def mounts():
    lines = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    found = {"v2": mount for _, mount, kind, *_ in lines if kind == "cgroup2"}
    found |= {"v1": str(Path(mount).parent) for _, mount, kind, *_ in lines
              if kind == "cgroup" and mount.endswith("/freezer")}
    return found


@pytest.mark.parametrize("generation", sorted(mounts()))
def test_nothing_gets_out_of_a_jobs_cgroup(make_cluster, as_root, generation):
    conf = f"CgroupPlugin=cgroup/{generation}\nCgroupMountpoint={mounts()[generation]}\n"
    cluster = make_cluster(nodes=1, files={"cgroup.conf": conf})
    record, output = cluster.run_job(ESCAPING)
    assert record["JobState"] == "COMPLETED"
    assert f"job_{record['JobId']}/step_batch" in output
    escaped = {int(pid) for pid in (cluster.dir / "work" / "escaped").read_text().split()}
    assert not escaped & set(cluster.processes())
    left = [path for path in Path(mounts()[generation]).rglob(f"job_{record['JobId']}")
            if f"slurm_n1_{cluster.ports.numbers[1]}/" in str(path)]
    assert left == []


def test_a_job_that_takes_more_memory_than_it_has_is_ended(make_cluster, as_root):
    if "v1" not in mounts():
        conf = "ConstrainRAMSpace=yes\n"
    else:
        conf = f"ConstrainRAMSpace=yes\nCgroupMountpoint={mounts()['v1']}\n"
    cluster = make_cluster(nodes=1, files={"cgroup.conf": conf})
    record, output = cluster.run_job("exec python3 -c 'x = bytearray(400 << 20)'", "--mem=50M")
    assert record["JobState"] == "OUT_OF_MEMORY" and record["ExitCode"] == "0:125"
    assert f"error: Detected 1 oom_kill event in StepId={record['JobId']}.batch." in output
    log = (cluster.dir / "log" / "n1.log").read_text()
    assert re.search(rf"\[{record['JobId']}\.batch\] done with job: processes were killed, out of memory", log), log


def memory_mount():
    """The mountpoint of cgroups that can limit memory."""
    found = mounts()
    if "v1" in found and Path(found["v1"], "memory").exists():
        return found["v1"]
    if "v2" in found and "memory" in Path(found["v2"], "cgroup.controllers").read_text().split():
        return found["v2"]
    return None


@pytest.fixture(scope="module")
def limited():
    """Two nodes with memory limits."""
    if os.getuid() != 0 or not memory_mount():
        pytest.skip("needs root and the memory controller")
    cluster = Cluster(nodes=2, files={"cgroup.conf": f"ConstrainRAMSpace=yes\nCgroupMountpoint={memory_mount()}\n"})
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def test_srun_tells_of_a_step_that_is_out_of_memory(limited):
    done = limited.run("srun", "--mem=60M", "-wn2", "python3", "-c", "x = bytearray(400 << 20)", check=False)
    assert done.returncode == 253
    assert "srun: error: n2: task 0: Out Of Memory\n" in done.stderr
    assert "Force Terminated" not in done.stderr
    job = re.search(r"^\[\S+\] error: Detected 1 oom_kill event in StepId=(\d+)\.0\. "
                    r"Some of the step tasks have been OOM Killed\.$", done.stderr, re.M)[1]
    record = limited.wait_end(job)
    assert (record["JobState"], record["Reason"], record["ExitCode"]) == ("OUT_OF_MEMORY", "OutOfMemory", "0:125")


def test_a_step_out_of_memory_marks_its_batch_job(limited):
    (limited.dir / "work" / "eat.py").write_text("import os\nif os.environ['SLURM_PROCID'] == '1':\n    x = bytearray(400 << 20)\n")
    record, output = limited.run_job("srun -N2 -n2 python3 eat.py\necho after $?", "-N2", "--mem=60M")
    assert "srun: error: n2: task 1: Out Of Memory" in output and "after 253" in output
    assert f"in StepId={record['JobId']}.0." in output
    assert (record["JobState"], record["ExitCode"]) == ("OUT_OF_MEMORY", "0:125")
    shown = limited.run("squeue", "-h", "-t", "all", "-j", record["JobId"], "-O", "DerivedEC").stdout.strip()
    assert shown == "0:125"


def test_a_killed_step_is_not_out_of_memory(limited):
    done = limited.run("srun", "--mem=60M", "sh", "-c", "kill -9 $$", check=False)
    assert done.returncode == 137 and "task 0: Killed" in done.stderr and "oom" not in done.stderr


# Each step has room for itself; all three together have not. The first one that ends, ends the others.
OVERLAP = """#!/bin/bash
for i in 1 2 3; do srun -N1 -n1 -wn2 --overlap python3 hold.py $1 & done
wait -n
touch $1
wait
"""


@pytest.mark.parametrize("kind", ["batch", "salloc"])
def test_steps_that_overlap_share_the_jobs_memory(limited, kind):
    work = limited.dir / "work"
    (work / "hold.py").write_text("import os, sys, time\nx = bytearray(70 << 20)\n"
                                  "while not os.path.exists(sys.argv[1]):\n    time.sleep(0.05)\n")
    script = work / f"overlap-{kind}.sh"
    script.write_text(OVERLAP)
    script.chmod(0o755)
    flag = work / f"overlap-{kind}"
    if kind == "batch":
        job = limited.run("sbatch", "--parsable", "-N2", "--mem=120M", script, flag).stdout.strip()
        assert limited.wait_end(job)["JobState"] == "OUT_OF_MEMORY"
        output = limited.output(job)
    else:
        output = limited.run("salloc", "-N2", "--mem=120M", script, flag, check=False).stderr
    assert "n2: task 0: Out Of Memory" in output


@pytest.mark.skipif(os.getuid() != 0 or "v1" not in mounts() or os.cpu_count() < 2, reason="needs root, cgroup v1 and two CPUs")
def test_two_jobs_on_a_node_are_confined_to_cpus_of_their_own(make_cluster):
    conf = f"ConstrainCores=yes\nCgroupMountpoint={mounts()['v1']}\n"
    cluster = make_cluster(nodes=1, cpus=2, extra="TaskPlugin=task/affinity,task/cgroup\n", files={"cgroup.conf": conf})
    look = "grep Cpus_allowed_list /proc/self/status; srun grep Cpus_allowed_list /proc/self/status"
    jobs = [cluster.submit(f"{look}; touch seen.{number}; while [ ! -e cpus-done ]; do sleep 0.05; done")
            for number in range(2)]
    for number in range(2):
        cluster.wait_for((cluster.dir / "work" / f"seen.{number}").exists, what="the job to have looked")
    assert [re.findall(r"list:\s+(\S+)", cluster.output(job)) for job in jobs] == [["0", "0"], ["1", "1"]]
    (cluster.dir / "work" / "cpus-done").touch()
    assert [cluster.wait_end(job)["JobState"] for job in jobs] == ["COMPLETED"] * 2


def tops(cluster, generation):
    """The directories of this cluster's nodes that there are in any controller."""
    names = {f"slurm_{name}_{port}" for name, port in zip(cluster.nodes, cluster.ports.numbers[1:])}
    found = [path for pattern in ("*", "*/*") for path in Path(mounts()[generation]).glob(pattern)]
    return [path for path in found if path.name.removesuffix(".scope") in names]


@pytest.mark.parametrize("generation", sorted(mounts()))
def test_nothing_is_left_of_a_slurmd_without_jobs(make_cluster, as_root, generation):
    conf = f"CgroupPlugin=cgroup/{generation}\nCgroupMountpoint={mounts()[generation]}\n"
    cluster = make_cluster(nodes=2, files={"cgroup.conf": conf})
    job = cluster.submit("sleep 1000", "-wn1")
    cluster.wait_state(job, "RUNNING")
    cluster.run_job("true", "-wn2")
    assert len(tops(cluster, generation)) >= 2
    cluster.kill("n1", signal.SIGTERM)
    cluster.kill("n2", signal.SIGTERM)
    left = tops(cluster, generation)
    assert left and all("slurm_n1_" in str(path) for path in left)
    cluster.start_node("n1")
    cluster.run("scancel", job)
    cluster.wait_end(job)
    cluster.wait_for(lambda: cluster.node_state("n1") == "idle", what="n1 to be idle")
    cluster.kill("n1", signal.SIGTERM)
    assert tops(cluster, generation) == []


def test_a_delegated_cgroup_is_used(make_cluster, as_root):
    """As under systemd with Delegate=yes and DelegateSubgroup=."""
    mount = mounts().get("v2")
    if not mount:
        pytest.skip("needs cgroup v2")
    service = Path(mount, f"sluice-test-{os.getpid()}.service")
    (service / "slurmd").mkdir(parents=True)
    os.setxattr(service, "trusted.delegate", b"1")
    conf = f"CgroupPlugin=cgroup/v2\nCgroupMountpoint={mount}\n"
    cluster = make_cluster(start=False, nodes=1, files={"cgroup.conf": conf})
    cluster.under["n1"] = ["sh", "-c", f'echo $$ >{service}/slurmd/cgroup.procs && exec "$@"', "sh"]
    try:
        cluster.start()
        record, output = cluster.run_job("cat /proc/self/cgroup")
        name = f"slurm_n1_{cluster.ports.numbers[1]}"
        assert f"0::/{service.name}/{name}/job_{record['JobId']}/step_batch\n" in output
        cluster.kill("n1", signal.SIGTERM)
        assert [path.name for path in service.iterdir() if path.is_dir()] == ["slurmd"]
    finally:
        for name in [name for name in ("n1",) if cluster.alive(name)]:
            cluster.kill(name, signal.SIGTERM)
        for path in (service / "slurmd", service):
            wait_for(lambda: not (path / "cgroup.procs").read_text(), what=f"{path} to be empty")
            path.rmdir()
        cluster.checked = False

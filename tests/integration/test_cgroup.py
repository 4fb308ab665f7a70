"""Confinement by cgroups, in both generations that this machine has mounted."""

from pathlib import Path

import pytest

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

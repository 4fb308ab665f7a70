"""What running steps use, as slurmstepd measures it and sstat shows it."""

import os
import pwd
import signal
import time

import pytest

# Task 0 computes, task 1 allocates 150 MB and writes 5 MB; both touch a file once they are there.
TASK = """#!/usr/bin/env python3
import os, time
rank = os.environ["SLURM_PROCID"]
if rank == "1":
    kept = bytearray(150 << 20)
    for place in range(0, len(kept), 4096):
        kept[place] = 1
    with open("written", "wb") as file:
        file.write(kept[:5 << 20])
else:
    until = time.process_time() + 1.2
    while time.process_time() < until:
        pass
open("up." + rank, "w").close()
time.sleep(1000)
"""

TAKE_200_MB = "exec python3 -c 'import time; x = bytearray(200 << 20); open(\"up\", \"w\"); time.sleep({})'"


def sstat(cluster, *words, **options):
    return cluster.run("sstat", "-n", "-P", *words, **options)


def fields_of(cluster, step, *names):
    """One line of sstat as a dictionary."""
    line, = sstat(cluster, "-j", step, "-o", ",".join(names)).stdout.splitlines()
    return dict(zip(names, line.split("|"), strict=True))


def kilobytes(text):
    units = {"K": 1, "M": 1 << 10, "G": 1 << 20}
    return float(text[:-1]) * units[text[-1]] if text[-1] in units else float(text) / 1024


@pytest.fixture
def two_tasks(cluster):
    """A job with a task on each of two nodes; both have done their work."""
    work = cluster.dir / "work"
    (work / "task.py").write_text(TASK)
    (work / "task.py").chmod(0o755)
    job = cluster.submit("srun -N2 -n2 ./task.py", "-N2", "-n2", "--mem=1000")
    for rank in range(2):
        cluster.wait_for(lambda: (work / f"up.{rank}").exists(), what=f"task {rank} to run")
    return job


def test_the_peak_names_its_node_and_task(cluster, two_tasks):
    seen = fields_of(cluster, two_tasks, "JobID", "NTasks", "Nodelist", "MaxRSS", "MaxRSSNode", "MaxRSSTask", "AveRSS",
                     "MinCPU", "MinCPUNode", "MinCPUTask", "TRESUsageInMaxNode", "TRESUsageInMaxTask",
                     "MaxDiskWrite", "MaxDiskWriteNode", "TRESUsageInTot")
    assert seen["JobID"] == f"{two_tasks}.0" and seen["NTasks"] == "2" and seen["Nodelist"] == "n[1-2]"
    assert kilobytes(seen["MaxRSS"]) > 150 << 10
    assert (seen["MaxRSSNode"], seen["MaxRSSTask"]) == ("n2", "1")
    assert kilobytes(seen["AveRSS"]) < 120 << 10
    assert (seen["MinCPUNode"], seen["MinCPUTask"]) == ("n2", "1")
    assert "cpu=n1" in seen["TRESUsageInMaxNode"] and "mem=n2" in seen["TRESUsageInMaxNode"]
    assert seen["TRESUsageInMaxTask"].startswith("cpu=0,")
    assert "cpu=00:00:00" not in seen["TRESUsageInTot"]
    assert kilobytes(seen["MaxDiskWrite"]) >= 5 << 10 and seen["MaxDiskWriteNode"] == "n2"


def test_pids_are_those_of_the_nodes(cluster, two_tasks):
    lines = [line.split("|") for line in sstat(cluster, "-a", "-i", "-j", two_tasks).stdout.splitlines()]
    assert [line[:2] for line in lines] == [[f"{two_tasks}.batch", "n1"], [f"{two_tasks}.0", "n1"],
                                            [f"{two_tasks}.0", "n2"]]
    for _, _, pids in lines:
        for pid in pids.split(","):
            os.kill(int(pid), 0)


def test_only_the_owner_and_administrators_may_ask(make_cluster, as_root):
    cluster = make_cluster(nodes=1)
    nobody = pwd.getpwuid(65534).pw_name
    job = cluster.submit("sleep 1000")
    cluster.wait_state(job, "RUNNING")
    refused = sstat(cluster, "-j", f"{job}.batch", user=nobody, check=False)
    assert refused.returncode == 1 and refused.stdout == ""
    assert f"sstat: error: StepId={job}.batch: Access/permission denied" in refused.stderr
    own = cluster.submit("sleep 1000", "-D", "/tmp", "-o", "/dev/null", user=nobody)
    cluster.wait_state(own, "RUNNING")
    for user in (nobody, "root"):
        answer = sstat(cluster, "-j", f"{own}.batch", "-o", "jobid,ntasks", user=user)
        assert answer.stdout == f"{own}.batch|1\n"


def test_a_node_that_does_not_answer_keeps_nobody_waiting(cluster, two_tasks):
    cluster.daemons["n2"].send_signal(signal.SIGSTOP)
    try:
        start = time.monotonic()
        answer = sstat(cluster, "-j", two_tasks, "-o", "jobid,ntasks,maxrssnode", check=False)
        assert time.monotonic() - start < 20
        assert answer.returncode == 1 and "n2" in answer.stderr
        assert answer.stdout == f"{two_tasks}.0|1|n1\n"
        assert cluster.run("scontrol", "ping").returncode == 0
    finally:
        cluster.daemons["n2"].send_signal(signal.SIGCONT)


def test_nothing_is_sampled_without_a_plugin(make_cluster):
    cluster = make_cluster(nodes=1, extra="JobAcctGatherType=jobacct_gather/none")
    job = cluster.submit("sleep 1000")
    cluster.wait_state(job, "RUNNING")
    seen = fields_of(cluster, f"{job}.batch", "JobID", "AveCPU", "TRESUsageInMax", "AveRSS")
    assert seen == {"JobID": f"{job}.batch", "AveCPU": "", "TRESUsageInMax": "", "AveRSS": ""}


def test_a_step_that_takes_more_memory_than_it_has_is_killed(make_cluster):
    cluster = make_cluster(nodes=1, extra="JobAcctGatherFrequency=task=1\nJobAcctGatherParams=OverMemoryKill")
    record, output = cluster.run_job(TAKE_200_MB.format(1000), "--mem=100M")
    assert record["JobState"] == "OUT_OF_MEMORY"
    assert f"error: StepId={record['JobId']}.batch exceeded memory limit" in output
    record, _ = cluster.run_job(TAKE_200_MB.format(3), "--mem=400M")
    assert record["JobState"] == "COMPLETED"


def test_memory_is_not_looked_at_more_often_than_configured(make_cluster):
    cluster = make_cluster(nodes=1, extra="JobAcctGatherFrequency=0\nJobAcctGatherParams=OverMemoryKill")
    record, _ = cluster.run_job(TAKE_200_MB.format(3), "--mem=100M")
    assert record["JobState"] == "COMPLETED"


def test_a_job_can_be_sampled_more_often(make_cluster):
    cluster = make_cluster(nodes=1, extra="JobAcctGatherFrequency=3600\nJobAcctGatherParams=OverMemoryKill")
    record, output = cluster.run_job("env | grep ACCTG; " + TAKE_200_MB.format(1000), "--mem=100M", "--acctg-freq=task=1")
    assert record["JobState"] == "OUT_OF_MEMORY" and "SLURM_ACCTG_FREQ=task=1\n" in output
    for often in ("0", "task=3601"):
        refused = cluster.run("sbatch", f"--acctg-freq={often}", "--wrap=true", check=False)
        assert refused.returncode == 1 and "Invalid accounting frequency requested" in refused.stderr
    refused = cluster.run("sbatch", "--acctg-freq=often", "--wrap=true", check=False)
    assert refused.returncode != 0 and "Invalid --acctg-freq specification: often" in refused.stderr


def test_a_cgroup_counts_the_memory_of_a_step(make_cluster, as_root):
    cluster = make_cluster(nodes=1, extra="JobAcctGatherType=jobacct_gather/cgroup")
    job = cluster.submit(TAKE_200_MB.format(1000), "--mem=400M")
    cluster.wait_for(lambda: (cluster.dir / "work" / "up").exists(), what="the memory to be taken")
    seen = fields_of(cluster, f"{job}.batch", "MaxRSS", "MaxRSSNode", "AveCPU")
    assert kilobytes(seen["MaxRSS"]) > 200 << 10 and seen["MaxRSSNode"] == "n1"

"""Distributed training over two nodes: PyTorch with gloo by srun and by a launcher on each node, preempted, requeued and resumed from its
checkpoint; jobs that requeue themselves as submitit's do."""

import socket
import subprocess
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data" / "training"
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def torch():
    if subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
        pytest.skip("needs python3-torch of packaging/debian-packages-test")


def script(command, port):
    """The nodes of a test cluster have no addresses of their own: the head node's name is printed, and not used."""
    return f"""#!/bin/bash
nodes=( $(scontrol show hostnames "$SLURM_JOB_NODELIST") )
echo head ${{nodes[0]}} of ${{#nodes[@]}}
export MASTER_ADDR=127.0.0.1 MASTER_PORT={port} GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
srun {command}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def work(cluster, name):
    directory = cluster.dir / "work" / name
    directory.mkdir()
    return directory


def test_data_parallel_training_over_two_nodes(shared, torch):
    directory = work(shared, "plain")
    text = script(f"{PYTHON} {DATA}/train.py 3 {directory}", free_port())
    job = shared.submit(text, "-N2", "--ntasks-per-node=1", "--mem=2000")
    record = shared.wait_end(job, timeout=120)
    out = shared.output(job)
    assert record["JobState"] == "COMPLETED", out
    assert "of 2" in out and "done 3 from 0, sum 3, replicas equal" in out


def test_one_launcher_on_each_node_starts_the_ranks(shared, torch):
    """The recipe of torchrun: the address of the head node by a step of its own, then one launcher for each node. (torchrun
    of Debian 12 itself does not work with its Python.)"""
    directory = work(shared, "launchers")
    launcher = directory / "launcher.sh"
    launcher.write_text(f"""#!/bin/bash
for local in 0 1; do
    RANK=$((SLURM_NODEID * 2 + local)) LOCAL_RANK=$local WORLD_SIZE=4 {PYTHON} {DATA}/train.py 2 {directory} &
done
wait
""")
    launcher.chmod(0o755)
    body = script(str(launcher), free_port()).replace(
        "export MASTER", 'srun --nodes=1 --ntasks=1 -w "${nodes[0]}" printenv SLURMD_NODENAME\nexport MASTER')
    job = shared.submit(body, "-N2", "--ntasks-per-node=1", "-c2", "--mem=2000")
    record = shared.wait_end(job, timeout=120)
    out = shared.output(job)
    assert record["JobState"] == "COMPLETED", out
    assert out.splitlines()[1] == out.split()[1], out  # the head node
    assert "done 2 from 0, sum 10, replicas equal" in out


def test_training_that_is_preempted_resumes_from_its_checkpoint(make_cluster, torch):
    cluster = make_cluster(
        extra="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nAuthInfo=cred_expire=1",
        partitions="PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 GraceTime=30\n"
                   "PartitionName=high Nodes=ALL MaxTime=INFINITE PriorityTier=9")
    directory = work(cluster, "resumed")
    text = script(f"{PYTHON} {DATA}/train.py 40 {directory}", free_port())
    job = cluster.submit(text, "-p", "low", "-N2", "--ntasks-per-node=1", "-c4", "--requeue", "--mem=2000",
                         "--open-mode=append", env={"STEP_TIME": "0.1"})
    cluster.wait_for(lambda: (directory / "checkpoint.pt").exists(), timeout=90, what="the first checkpoint")
    urgent = cluster.submit("true", "-p", "high", "-N2", "-c4", "--ntasks-per-node=1")
    assert cluster.wait_end(urgent, timeout=90)["JobState"] == "COMPLETED"
    record = cluster.wait_end(job, timeout=180)
    out = cluster.output(job)
    assert record["JobState"] == "COMPLETED" and record["Restarts"] == "1", out
    resumed = int((directory / "started.1.0").read_text())
    assert 0 < resumed < 40
    assert f"done 40 from {resumed}, sum 3, replicas equal" in out


def test_a_task_of_submitit_requeues_its_job(shared):
    """The requeue wins over the failing exit: same job, one restart, and it ends well."""
    directory = work(shared, "submitit")
    text = f"""#!/bin/bash
#SBATCH --error={directory}/%j_0_log.err
#SBATCH --job-name=submitit
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --open-mode=append
#SBATCH --output='{directory}/%j_0_log.out'
#SBATCH --signal=USR2@90
#SBATCH --time=60
#SBATCH --wckey=submitit

# command
export SUBMITIT_EXECUTOR=slurm
srun --unbuffered --output {directory}/%j_%t_log.out --error {directory}/%j_%t_log.err {PYTHON} -u {DATA}/submitit_task.py {directory}
"""
    job = shared.submit(text)
    for rank in range(2):
        shared.wait_for(lambda: (directory / f"waiting.{rank}").exists(), what=f"task {rank} to wait")
    shared.run("scancel", job, "--signal", "SIGTERM")
    shared.run("scancel", job, "--signal", "USR2")
    shared.wait_for(lambda: shared.job(job).get("Restarts") == "1", what="the job to be requeued")
    record = shared.wait_end(job, timeout=200)
    assert record["JobState"] == "COMPLETED", record
    for rank in range(2):
        assert "resumed at 7, restart 1" in (directory / f"{job}_{rank}_log.out").read_text()

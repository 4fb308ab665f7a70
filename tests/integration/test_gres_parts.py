"""Parts of GPUs (shard, mps), resources that are not consumed, flags of gres.conf, whole nodes: what jobs get and are told."""

import os
import re

import pytest

from cluster import Cluster

HOLD = "; while [ ! -e {flag} ]; do sleep 0.05; done"
LOOK = ("env | grep -E '^(CUDA_|ROCR_|GPU_DEVICE|ZE_|SLURM_GPUS_ON|SLURM_JOB_GPUS|SLURM_STEP_GPUS|SLURM_SHARDS|NV_GPU)' "
        "| grep -v CUDA_HOME | sort")
SLURM_CONF = "GresTypes=gpu,shard,mps,bandwidth,lic\nAccountingStorageTRES=gres/gpu,gres/shard\n"


@pytest.fixture(scope="module")
def parts():
    """n1 has two GPUs with four shards each, n2 two GPUs with 100 and 300 parts of MPS."""
    cluster = Cluster(nodes=2, extra=SLURM_CONF, node_extra={
        "n1": "Gres=gpu:a40:2,shard:8,bandwidth:lustre:no_consume:4G,lic:5",
        "n2": "Gres=gpu:2,mps:400"})
    for number in (0, 1):
        os.mknod(cluster.dir / "dev" / f"gpu{number}", 0o020666, os.makedev(1, 5))
    (cluster.dir / "etc" / "gres.conf").write_text(
        f"NodeName=n1 Name=gpu Type=a40 File={cluster.dir}/dev/gpu[0-1] Cores=0-1\n"
        "NodeName=n1 Name=shard Count=8\nNodeName=n1 Name=bandwidth Type=lustre Count=4G Flags=CountOnly\n"
        "NodeName=n1 Name=lic Count=5\n"
        f"NodeName=n2 Name=gpu File={cluster.dir}/dev/gpu0 Flags=nvidia_gpu_env\n"
        f"NodeName=n2 Name=gpu File={cluster.dir}/dev/gpu1\n"
        f"NodeName=n2 Name=mps Count=100 File={cluster.dir}/dev/gpu0\n"
        f"NodeName=n2 Name=mps Count=300 File={cluster.dir}/dev/gpu1\n")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def shown(cluster, node):
    text = cluster.run("scontrol", "-d", "show", "node", node).stdout
    return dict(re.findall(r"(Gres|GresUsed|CfgTRES|AllocTRES)=(\S*)", text))


def detail(cluster, job):
    return re.search(r"GRES=(\S*)", cluster.run("scontrol", "-d", "show", "job", job).stdout.split("Nodes=")[-1])[1]


def test_two_jobs_share_a_gpu(parts):
    flag = "shards-done"
    jobs = [parts.submit(f"{LOOK}; echo end" + HOLD.format(flag=flag), f"--gres=shard:{count}", "-wn1", "--mem=50")
            for count in (3, 2, 1)]
    for job in jobs:
        parts.wait_for(lambda: "end" in parts.output(job) if parts.wait_file(f"slurm-{job}.out") else False,
                       what="the job to have looked")
    assert [detail(parts, job) for job in jobs] == ["shard:a40:3(IDX:0)", "shard:a40:2(IDX:1)", "shard:a40:1(IDX:0)"]
    node = shown(parts, "n1")
    assert node["Gres"] == "gpu:a40:2(S:0-1),shard:a40:8(S:0-1),bandwidth:lustre:4G,lic:5"
    assert node["GresUsed"] == "gpu:a40:0(IDX:N/A),shard:a40:6(4/4,2/4),mps:0,bandwidth:lustre:0,lic:0"
    assert "gres/shard=6" in node["AllocTRES"] and "gres/shard=8" in node["CfgTRES"]
    assert parts.output(jobs[1]).split() == [
        "CUDA_VISIBLE_DEVICES=1", "GPU_DEVICE_ORDINAL=1", "ROCR_VISIBLE_DEVICES=1", "SLURM_JOB_GPUS=1",
        "SLURM_SHARDS_ON_NODE=2", "ZE_AFFINITY_MASK=1", "end"]
    assert "gres/shard=3" in parts.job(jobs[0])["AllocTRES"]
    waiting = parts.submit("true", "--gres=gpu:1", "-wn1", "--mem=50")
    assert parts.state(waiting) == "PENDING"
    (parts.dir / "work" / flag).touch()
    for job in [*jobs, waiting]:
        assert parts.wait_end(job)["JobState"] == "COMPLETED"


def test_steps_have_their_part_of_the_shards(parts):
    say = "sh -c 'echo $SLURM_SHARDS_ON_NODE:$CUDA_VISIBLE_DEVICES'"
    _, output = parts.run_job(f"srun -n1 --gres=shard:1 {say}; srun -n1 {say}; srun -n1 --gres=none {say}; "
                              f"srun -n1 --gres=shard:4 {say}", "--gres=shard:3", "-wn1")
    lines = output.splitlines()
    assert lines[:3] == ["1:0", "3:0", ":"]
    assert "Invalid generic resource (gres) specification" in lines[3]


def test_mps_has_a_percentage_of_its_gpu(parts):
    _, output = parts.run_job(LOOK, "--gres=mps:150", "-wn2")
    assert output.split() == ["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50", "CUDA_VISIBLE_DEVICES=1", "SLURM_GPUS_ON_NODE=1",
                              "SLURM_JOB_GPUS=1"]


def test_flags_name_the_variables(parts):
    _, output = parts.run_job(LOOK, "--gres=gpu:2", "-wn2")
    assert output.split() == ["CUDA_VISIBLE_DEVICES=0,1", "SLURM_GPUS_ON_NODE=2", "SLURM_JOB_GPUS=0,1"]


def test_bandwidth_is_not_consumed(parts):
    flag = "bandwidth-done"
    jobs = [parts.submit("true" + HOLD.format(flag=flag), "--gres=bandwidth:lustre:3G,lic:2", "--mem=50")
            for _ in range(2)]
    for job in jobs:
        parts.wait_state(job, "RUNNING")
    assert [detail(parts, job) for job in jobs] == ["bandwidth:lustre(CNT:0),lic(CNT:2)"] * 2
    assert parts.job(jobs[0])["TresPerNode"] == "gres/bandwidth:lustre:3G,gres/lic:2"
    assert shown(parts, "n1")["GresUsed"].endswith("bandwidth:lustre:0,lic:4")
    (parts.dir / "work" / flag).touch()
    for job in jobs:
        assert parts.wait_end(job)["JobState"] == "COMPLETED"


def test_a_whole_node_comes_with_its_devices_and_steps_have_what_was_asked_for(parts):
    say = "sh -c 'echo step:$CUDA_VISIBLE_DEVICES'"
    job, output = parts.run_job(f"echo $CUDA_VISIBLE_DEVICES; srun -n1 {say}", "--exclusive", "--gres=gpu:1", "-wn1")
    assert output.split() == ["0,1", "step:0"]
    assert detail(parts, job["JobId"]) == "gpu:a40:2(IDX:0-1),bandwidth:lustre(CNT:0),lic(CNT:5)"


@pytest.mark.parametrize("gres, words", [
    ("gpu:1,shard:1", "Invalid generic resource (gres) specification"),
    ("shard:5", "Requested node configuration is not available"),
    ("bandwidth:5G", "Requested node configuration is not available"),
    ("gpu:a40:1,gpu:1", "Invalid GRES specification (with and without type identification)")])
def test_what_cannot_be_had_is_refused(parts, gres, words):
    done = parts.run("sbatch", f"--gres={gres}", "--wrap", "true", check=False)
    assert done.returncode == 1 and words in done.stderr


def test_counts_can_be_changed_by_hand(parts):
    parts.run("scontrol", "update", "NodeName=n1", "Gres=gpu:a40:2,shard:8,bandwidth:lustre:4G,lic:7")
    assert shown(parts, "n1")["Gres"].endswith(",lic:7")
    done = parts.run("scontrol", "update", "NodeName=n1", "Gres=gpu:a40:1", check=False)
    assert done.returncode == 1 and "Invalid generic resource (gres) specification" in done.stderr

"""--sync: checkpoints on the disk of a node are copied while a job runs and after it, and restored when it runs again."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data" / "training"
PYTHON = "/usr/bin/python3"
# Writes the checkpoint step-N; waits until the file of that name is in the working directory.
LIBRARY = """
mkdir -p $SCRATCH/ckpt
step() { echo "weights of $1" > $SCRATCH/ckpt/step-$1; }
mark() { echo x > $1; }
wait_for() { while [ ! -e $1 ]; do sleep 0.05; done; }
"""


def saved(cluster, name="saved"):
    """The checkpoints that are there, with their text."""
    directory = cluster.dir / "work" / name
    found = {}
    for path in directory.iterdir() if directory.exists() else []:
        if path.name.startswith(".sluice-sync"):
            continue
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile, as one that is too old
            found[path.name] = path.read_text()
    return found


def steps(*numbers):
    return {f"step-{number}": f"weights of {number}\n" for number in numbers}


def problem(cluster, job):
    """The rest of its line."""
    record = cluster.run("scontrol", "show", "job", job).stdout
    return record.partition("DataProblem=")[2].partition("\n")[0]


def touch(cluster, name):
    (cluster.dir / "work" / name).touch()


def wait_saved(cluster, expected, name="saved", timeout=60):
    cluster.wait_for(lambda: saved(cluster, name) == expected, timeout=timeout, what=f"{sorted(expected)} in {name}")


def wait_cleaned(cluster):
    def left():
        return [path for path in (cluster.dir / "scratch").rglob("*.[0-9]*") if path.is_dir()]
    cluster.wait_for(lambda: not left(), what="an empty scratch directory")


def take_node(cluster, node):
    """A job of the high partition that holds all of the node."""
    job = cluster.submit("sleep 600", "-p", "high", "-c4", "-w", node)
    cluster.wait_state(job, "RUNNING")
    return job


def sync_processes(cluster):
    """Of this cluster: other tests run at the same time."""
    found = subprocess.run(["pgrep", "-f", "sdata sync --expand"], capture_output=True, text=True)

    def belongs(pid):
        try:
            return str(cluster.dir) in Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        except OSError:
            return False  # it has ended
    return [int(pid) for pid in found.stdout.split() if belongs(pid)]


def test_checkpoints_are_copied_while_the_job_runs_and_after_it(cluster):
    job = cluster.submit(LIBRARY + "step 1; wait_for go; step 2", "--sync=$SCRATCH/ckpt:saved,every=1")
    wait_saved(cluster, steps(1))
    cluster.wait_for(lambda: "LastCheckpoint" in cluster.job(job), what="LastCheckpoint")
    assert cluster.job(job)["Sync"] == "$SCRATCH/ckpt:saved,every=1"
    listed = cluster.run("squeue", "-h", "-j", job, "-O", "LastCheckpoint").stdout.strip()
    assert listed == cluster.job(job)["LastCheckpoint"]
    touch(cluster, "go")
    record = cluster.wait_end(job)
    assert record["JobState"] == "COMPLETED" and "DataProblem" not in record
    assert saved(cluster) == steps(1, 2)
    assert cluster.output(job) == ""
    wait_cleaned(cluster)


def test_the_newest_checkpoints_are_kept(cluster):
    body = LIBRARY + "for i in 1 2 3 4; do step $i; wait_for go.$i; done; step 5"
    job = cluster.submit(body, "--sync=${SCRATCH}/ckpt:saved,every=1,keep=2")
    for last in (1, 2, 3, 4):
        wait_saved(cluster, steps(*range(max(1, last - 1), last + 1)))
        touch(cluster, f"go.{last}")
    cluster.wait_end(job)
    assert saved(cluster) == steps(4, 5)


def test_patterns_variables_and_several_pairs(cluster):
    body = LIBRARY + "step 1; mkdir logs; echo line > logs/events"
    job = cluster.submit(body, "-J", "train", "--sync=$SCRATCH/ckpt:$RESULTS/%x-%j-$SLURM_JOB_ID", "--sync=logs:$RESULTS/logs",
                         env={"RESULTS": str(cluster.dir / "work" / "results")})
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert saved(cluster, f"results/train-{job}-{job}") == steps(1)
    assert saved(cluster, "results/logs") == {"events": "line\n"}


@pytest.mark.parametrize("how", ["scancel", "time limit", "failure"])
def test_however_a_job_ends_its_last_checkpoint_is_saved(cluster, how):
    end = "exit 3" if how == "failure" else "sleep 600"
    limit = ["--time=0:03"] if how == "time limit" else []
    job = cluster.submit(LIBRARY + f"step 1; mark written; {end}", "--sync=$SCRATCH/ckpt:saved,every=1h", *limit)
    cluster.wait_file("written")
    if how == "scancel":
        cluster.run("scancel", job)
    record = cluster.wait_end(job, timeout=120)
    assert record["JobState"] == {"scancel": "CANCELLED", "time limit": "TIMEOUT", "failure": "FAILED"}[how]
    cluster.wait_for(lambda: saved(cluster) == steps(1), what="the checkpoint")
    wait_cleaned(cluster)


def test_a_requeued_job_finds_its_newest_checkpoint_on_another_node(make_cluster):
    cluster = make_cluster(
        extra="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
        partitions="PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1\n"
                   "PartitionName=high Nodes=ALL MaxTime=INFINITE PriorityTier=9")
    body = LIBRARY + """
run=${SLURM_RESTART_COUNT:-0}
ls $SCRATCH/ckpt > found.$run; echo $SLURMD_NODENAME > node.$run
[ $run = 0 ] || { step 4; exit 0; }
step 1; sleep 0.1; step 2; sleep 0.1; step 3; mark written; sleep 600"""
    taken = take_node(cluster, "n2")
    job = cluster.submit(body, "-p", "low", "-c4", "--requeue", "--sync=$SCRATCH/ckpt:saved,every=1h,keep=2")
    cluster.wait_file("written")
    cluster.run("scancel", taken)
    cluster.wait_end(taken)
    urgent = cluster.submit("echo x > runs; while [ ! -e done ]; do sleep 0.05; done", "-p", "high", "-c4", "-w", "n1")
    cluster.wait_file("runs")
    assert saved(cluster) == steps(2, 3)
    record = cluster.wait_end(job)
    assert record["JobState"] == "COMPLETED" and record["Restarts"] == "1", cluster.output(job)
    work = cluster.dir / "work"
    assert (work / "node.1").read_text() == "n2\n"
    assert (work / "found.0").read_text() == "" and (work / "found.1").read_text() == "step-3\n"
    assert saved(cluster) == steps(3, 4)
    touch(cluster, "done")
    cluster.wait_end(urgent)


def test_a_training_that_is_preempted_goes_on_elsewhere(make_cluster):
    """Its checkpoints are on the disk of the node alone: without --sync it would begin anew."""
    if subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True).returncode != 0:
        pytest.skip("needs python3-torch of packaging/debian-packages-test")
    cluster = make_cluster(
        extra="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
        partitions="PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 GraceTime=30\n"
                   "PartitionName=high Nodes=ALL MaxTime=INFINITE PriorityTier=9")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    body = f"""#!/bin/bash
export MASTER_ADDR=127.0.0.1 MASTER_PORT={port} GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
mkdir -p $SCRATCH/ckpt
echo $SLURMD_NODENAME
srun -n1 {PYTHON} {DATA}/train.py 40 $SCRATCH/ckpt
"""
    taken = take_node(cluster, "n2")
    job = cluster.submit(body, "-p", "low", "-n1", "-c4", "--mem=2000", "--requeue", "--open-mode=append",
                         "--sync=$SCRATCH/ckpt:saved,every=2", env={"STEP_TIME": "0.2"})
    cluster.wait_for(lambda: list((cluster.dir / "scratch").rglob("checkpoint.pt")), timeout=120, what="the first checkpoint")
    cluster.run("scancel", taken)
    cluster.wait_end(taken)
    urgent = cluster.submit("wait_for() { while [ ! -e $1 ]; do sleep 0.1; done; }; wait_for over", "-p", "high", "-c4", "-w", "n1")
    record = cluster.wait_end(job, timeout=240)
    touch(cluster, "over")
    out = cluster.output(job)
    assert record["JobState"] == "COMPLETED" and record["Restarts"] == "1", out
    first = int(re.search(r"done 40 from (\d+), sum 1, replicas equal", out)[1])
    assert 0 < first < 40 and out.startswith("n1\n") and "\nn2\n" in out
    cluster.wait_end(urgent)


def test_preemption_takes_the_job_that_loses_least(make_cluster):
    cluster = make_cluster(
        extra="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
        partitions="PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1\n"
                   "PartitionName=high Nodes=ALL MaxTime=INFINITE PriorityTier=9")
    body = LIBRARY + "mark written.$SLURM_JOB_ID; wait_for go; step 1; sleep 600"
    old = cluster.submit(body, "-p", "low", "-c4", "--sync=$SCRATCH/ckpt:saved,every=1")
    cluster.wait_file(f"written.{old}")
    young = cluster.submit(body.replace("step 1;", ""), "-p", "low", "-c4")
    cluster.wait_file(f"written.{young}")
    started = time.time()
    cluster.wait_for(lambda: time.time() >= started + 2, what="two seconds of work")  # more than the clock of a record shows
    touch(cluster, "go")
    cluster.wait_for(lambda: "LastCheckpoint" in cluster.job(old), what="LastCheckpoint")
    urgent = cluster.submit("true", "-p", "high", "-c4")
    assert cluster.wait_end(urgent)["JobState"] == "COMPLETED"
    assert cluster.job(old)["Restarts"] == "1" and cluster.job(young)["Restarts"] == "0"
    cluster.run("scancel", old, young)
    cluster.wait_end(old), cluster.wait_end(young)


def test_a_killed_slurmd_goes_on_with_the_checkpoints(cluster):
    job = cluster.submit(LIBRARY + "step 1; wait_for go; step 2; wait_for end; step 3", "-w", "n1",
                         "--sync=$SCRATCH/ckpt:saved,every=1")
    wait_saved(cluster, steps(1))
    before = set(sync_processes(cluster))
    cluster.kill("n1")
    cluster.wait_for(lambda: not before & set(sync_processes(cluster)), what="the end of the synchronisation with slurmd")
    touch(cluster, "go")
    cluster.start_node("n1")
    wait_saved(cluster, steps(1, 2))
    cluster.kill("n1")
    touch(cluster, "end")
    cluster.start_node("n1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert saved(cluster) == steps(1, 2, 3)
    wait_cleaned(cluster)


def test_a_slurmd_that_dies_during_the_last_synchronisation_repeats_it(cluster):
    """The state of the synchronisation is a FIFO: reading it takes as long as the test likes."""
    work = cluster.dir / "work"
    (work / "saved").mkdir(mode=0o777)
    os.mkfifo(work / "saved" / ".sluice-sync", 0o666)
    job = cluster.submit(LIBRARY + "step 1", "-w", "n1", "--sync=$SCRATCH/ckpt:saved,every=1h")
    cluster.wait_state(job, "COMPLETING")
    cluster.kill("n1")
    (work / "saved" / ".sluice-sync").unlink()
    cluster.start_node("n1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    cluster.wait_for(lambda: cluster.state(job) == "COMPLETED", what="the end of the job")
    assert saved(cluster) == steps(1)
    wait_cleaned(cluster)


def test_a_slurmd_that_dies_while_it_restores_restores_again(cluster):
    work = cluster.dir / "work"
    body = LIBRARY + "ls $SCRATCH/ckpt > found.${SLURM_RESTART_COUNT:-0}; step 1; mark written; wait_for go"
    job = cluster.submit(body, "-w", "n1", "--requeue", "--sync=$SCRATCH/ckpt:saved,every=1h")
    cluster.wait_file("written")
    cluster.run("scontrol", "requeuehold", job)
    cluster.wait_for(lambda: saved(cluster) == steps(1) and cluster.state(job) == "PENDING", what="the requeued job")
    state = work / "saved" / ".sluice-sync"
    text = state.read_text()
    state.unlink()
    os.mkfifo(state, 0o666)
    cluster.run("scontrol", "release", job)
    cluster.wait_for(lambda: any("--restore" in Path(f"/proc/{pid}/cmdline").read_text() for pid in sync_processes(cluster)),
                     what="the restoring process")
    assert not (work / "found.1").exists()
    cluster.kill("n1")
    state.unlink()
    state.write_text(text)
    touch(cluster, "go")
    cluster.start_node("n1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert (work / "found.1").read_text() == "step-1\n"


def test_a_destination_that_hangs_ends_with_synctimeout(make_cluster):
    cluster = make_cluster(extra="SyncTimeout=2")
    work = cluster.dir / "work"
    (work / "saved").mkdir(mode=0o777)
    os.mkfifo(work / "saved" / ".sluice-sync", 0o666)
    began = time.time()
    job = cluster.submit(LIBRARY + "step 1", "--sync=$SCRATCH/ckpt:saved,every=1h")
    cluster.wait_state(job, "COMPLETING")
    cluster.wait_for(lambda: cluster.state(job) == "COMPLETED", what="the end of the job")
    assert time.time() - began >= 2
    assert "within 2 s" in problem(cluster, job)
    assert "not synchronised" in cluster.output(job) and "within 2 s" in cluster.output(job)
    assert [Path(f"/proc/{pid}/cmdline").read_text() for pid in sync_processes(cluster)] == []
    wait_cleaned(cluster)


def test_a_stopped_process_is_killed_in_the_end(make_cluster):
    cluster = make_cluster(extra="SyncTimeout=2")
    work = cluster.dir / "work"
    (work / "saved").mkdir(mode=0o777)
    os.mkfifo(work / "saved" / ".sluice-sync", 0o666)
    job = cluster.submit(LIBRARY + "step 1", "--sync=$SCRATCH/ckpt:saved,every=1h")
    cluster.wait_state(job, "COMPLETING")
    for pid in sync_processes(cluster):
        os.kill(pid, signal.SIGSTOP)
    cluster.wait_for(lambda: cluster.state(job) == "COMPLETED", what="the end of the job")
    assert "last sync" in problem(cluster, job)
    assert [Path(f"/proc/{pid}/cmdline").read_text() for pid in sync_processes(cluster)] == []


def test_a_full_destination_is_reported_and_keeps_what_it_has(as_root, cluster):
    work = cluster.dir / "work"
    (work / "saved").mkdir(mode=0o777)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "tmpfs", work / "saved"], check=True)
    try:
        job = cluster.submit(LIBRARY + "step 1; wait_for go; head -c 3000000 /dev/zero > $SCRATCH/ckpt/step-2",
                             "--sync=$SCRATCH/ckpt:saved,every=1,keep=1")
        wait_saved(cluster, steps(1))
        touch(cluster, "go")
        record = cluster.wait_end(job)
        assert record["JobState"] == "COMPLETED"
        cluster.wait_for(lambda: "DataProblem" in cluster.job(job), what="the problem")
        assert "No space left on device" in problem(cluster, job)
        assert "No space left on device" in cluster.output(job)
        assert saved(cluster) == steps(1)
    finally:
        subprocess.run(["umount", "-l", work / "saved"], check=True)


def test_a_destination_that_the_user_cannot_write_to(as_root, cluster):
    (cluster.dir / "work" / "saved").mkdir(mode=0o755)
    job = cluster.submit(LIBRARY + "step 1", "--sync=$SCRATCH/ckpt:saved", user="nobody")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert "Permission denied" in problem(cluster, job)
    assert saved(cluster) == {}


def test_a_source_that_is_missing(cluster):
    job = cluster.submit("true", "--sync=$SCRATCH/nowhere:saved")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert "nowhere: No such file or directory" in problem(cluster, job)
    assert "nowhere: No such file or directory" in cluster.output(job)


def test_a_variable_that_is_not_set(cluster):
    job = cluster.submit("true", "--sync=$SCRATCH/a:$NO_SUCH_VARIABLE/b")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert "NO_SUCH_VARIABLE is not set" in problem(cluster, job)


def test_a_checkpoint_that_cannot_be_restored_ends_the_job(cluster):
    """It would begin anew otherwise, and replace what it has saved."""
    job = cluster.submit(LIBRARY + "step 1; mark written; wait_for go", "--requeue", "--sync=$SCRATCH/ckpt:saved,every=1h")
    cluster.wait_file("written")
    cluster.run("scontrol", "requeuehold", job)
    cluster.wait_for(lambda: saved(cluster) == steps(1) and cluster.state(job) == "PENDING", what="the requeued job")
    checkpoint = cluster.dir / "work" / "saved" / "step-1"
    checkpoint.unlink()
    os.mkfifo(checkpoint)
    cluster.run("scontrol", "release", job)
    record = cluster.wait_end(job)
    assert record["JobState"] == "FAILED" and "restore" in problem(cluster, job), record


def test_every_node_of_a_job_has_its_own_place(cluster):
    """And finds it again: the requeued job writes what it was given back, and nothing else."""
    body = LIBRARY + """
srun -N2 --ntasks-per-node=1 sh -c 'mkdir -p $SCRATCH/ckpt; cd $SCRATCH/ckpt
    if [ "$SLURM_RESTART_COUNT" = 1 ]; then cat rank > given.$SLURM_NODEID; else echo $SLURM_NODEID > rank; fi'
[ "$SLURM_RESTART_COUNT" = 1 ] || { mark written; wait_for go; }"""
    job = cluster.submit(body, "-N2", "--requeue", "--sync=$SCRATCH/ckpt:saved,every=1")
    cluster.wait_file("written")

    def found():
        path = cluster.dir / "work" / "saved"
        return {str(each.relative_to(path)): each.read_text() for each in path.rglob("*")
                if each.is_file() and not each.name.startswith(".sluice-sync")} if path.exists() else {}
    ranks = {"rank": "0\n", "node.1/rank": "1\n"}
    cluster.wait_for(lambda: found() == ranks, what="the files of both nodes")
    cluster.run("scontrol", "requeue", job)
    record = cluster.wait_end(job)
    assert record["JobState"] == "COMPLETED" and record["Restarts"] == "1", cluster.output(job)
    cluster.wait_for(lambda: found() == {**ranks, "given.0": "0\n", "node.1/given.1": "1\n"}, what="what was restored")
    assert problem(cluster, job) == ""
    wait_cleaned(cluster)


@pytest.mark.parametrize("value", ["a", "a:", ":b", "a:b,every=0", "a:b,keep=0", "a:b,often", "a:b,every=1x"])
def test_a_wrong_option_is_refused(shared, value):
    refused = shared.run("sbatch", f"--sync={value}", "--wrap=true", check=False)
    assert refused.returncode != 0 and "--sync" in refused.stderr and value in refused.stderr
    assert shared.run("squeue", "-h").stdout == ""


def test_by_hand(shared, tmp_path):
    local, target = tmp_path / "local", tmp_path / "target"
    local.mkdir()
    (local / "a").write_text("text")
    done = shared.run("sdata", "sync", "--once", str(local), str(target))
    assert done.stdout == "1 files, 0.1K\n" and (target / "a").read_text() == "text"
    assert shared.run("sdata", "sync", "--final", str(local), str(target)).stdout.startswith("0 files")
    restored = shared.run("sdata", "sync", "--restore", str(tmp_path / "new"), str(target))
    assert restored.stdout == "a\n" and (tmp_path / "new" / "a").read_text() == "text"
    nothing = shared.run("sdata", "sync", "--restore", str(tmp_path / "new"), str(tmp_path))
    assert nothing.stdout == "there is nothing to restore\n"
    missing = shared.run("sdata", "sync", "--once", str(tmp_path / "nowhere"), str(target), check=False)
    assert missing.returncode == 1 and "nowhere: No such file or directory" in missing.stderr
    for option in ("--every=x", "--keep=0", "--timeout=-1"):
        wrong = shared.run("sdata", "sync", option, str(local), str(target), check=False)
        assert wrong.returncode == 1 and option.split("=")[0].strip("-") in wrong.stderr


def test_a_file_that_grows_waits(shared, tmp_path):
    local, target = tmp_path / "local", tmp_path / "target"
    local.mkdir()
    (local / "done").write_text("text")
    with (local / "growing").open("w") as growing:
        growing.write("part")
        growing.flush()
        done = shared.run("sdata", "sync", "--once", str(local), str(target))
        assert "growing: it is still being written" in done.stderr
        assert not (target / "growing").exists() and (target / "done").exists()
    assert shared.run("sdata", "sync", "--once", str(local), str(target)).stdout.startswith("1 files")
    assert (target / "growing").read_text() == "part"

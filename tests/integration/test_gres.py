"""GPUs by index: never handed out twice, and jobs are told which ones are theirs."""

import re

import pytest

from cluster import Cluster

HOLD = "echo $CUDA_VISIBLE_DEVICES; while [ ! -e {flag} ]; do sleep 0.05; done"


def test_two_jobs_on_a_node_get_different_devices(shared):
    body = HOLD.format(flag="gres-done")
    jobs = [shared.submit(body, "--gres=gpu:h100:1") for _ in range(3)]
    first, second = jobs[:2]
    devices = {shared.wait_file(f"slurm-{job}.out").strip() for job in (first, second)}
    assert devices == {"0", "1"}
    assert shared.state(jobs[2]) == "PENDING" and shared.job(jobs[2])["Reason"] == "Resources"
    used = re.findall(r"GRES=gpu:h100:1\(IDX:(\d)\)",
                      "".join(shared.run("scontrol", "-d", "show", "job", job).stdout
                              for job in (first, second)))
    assert sorted(used) == ["0", "1"]
    (shared.dir / "work" / "gres-done").touch()
    for job in jobs:
        assert shared.wait_end(job)["JobState"] == "COMPLETED"


@pytest.mark.parametrize("options, expected", [
    (["--gres=gpu:a40:2"], "0,1 2"), (["--gpus=2"], "0,1 2"), (["--gpus-per-node=h100:1"], "0 1"),
    (["-n2", "--gpus-per-task=1"], "0,1 2")])
def test_ways_to_ask(shared, options, expected):
    _, output = shared.run_job("echo $CUDA_VISIBLE_DEVICES $SLURM_GPUS_ON_NODE", *options)
    assert output.strip() == expected


def test_a_job_without_gpus_sees_none(shared):
    _, output = shared.run_job("echo \"<$CUDA_VISIBLE_DEVICES>\"", env={"CUDA_VISIBLE_DEVICES": "7"})
    assert output.strip() in ("<>", "<NoDevFiles>", "<7>")


@pytest.mark.parametrize("gres", ["gpu:nosuch:1", "tpu:1", "gpu:h100:3", "gpu:-1", "gpu:x:y:z"])
def test_impossible_demands_are_refused(shared, gres):
    result = shared.run("sbatch", f"--gres={gres}", "--wrap", "true", check=False)
    assert result.returncode != 0 and result.stderr.startswith("sbatch: ")


def test_a_step_gets_a_part_of_the_jobs_devices(shared):
    _, output = shared.run_job("srun -n1 --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES'",
                               "--gres=gpu:a40:2", "-n2")
    assert output.strip() in ("0", "1")


def test_a_step_that_asks_for_none_has_none(shared):
    _, output = shared.run_job(
        "for demand in --gres=none --gres=gpu:0 --gpus=0 --quiet; do\n"
        "srun -n1 $demand sh -c 'echo \"<$CUDA_VISIBLE_DEVICES$SLURM_STEP_GPUS>\"'\ndone",
        "--gres=gpu:a40:2", "-n2")
    assert output.splitlines() == ["<>", "<>", "<>", "<0,10,1>"]


SEES = "'echo $SLURM_PROCID:$CUDA_VISIBLE_DEVICES:$SLURM_STEP_GPUS'"


@pytest.fixture(scope="module")
def four():
    """A node with GPUs 0 to 3, the first two close to CPUs 0 and 1."""
    cluster = Cluster(nodes=2, gpus={"a40": ["n1"], "h100": ["n1"]})
    text = cluster.gres_text().replace("Type=a40", "Type=a40 Cores=0-1")
    (cluster.dir / "etc" / "gres.conf").write_text(text.replace("Type=h100", "Type=h100 Cores=2-3"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def sights(output):
    return sorted(line for line in output.split("\n") if re.match(r"\d:", line))


@pytest.mark.parametrize("options, expected", [
    ("", ["0,1,2,3"] * 4), ("--gpu-bind=none", ["0,1,2,3"] * 4),
    ("--gpu-bind=closest", ["0,1,2,3"] * 4), ("--gpu-bind=single:1", ["0", "1", "2", "3"]),
    ("--gpu-bind=single:2", ["0", "0", "1", "1"]), ("--gpu-bind=per_task:1", ["0", "1", "2", "3"]),
    ("--gpu-bind=map_gpu:3,2,1,0", ["3", "2", "1", "0"]), ("--gpu-bind=map:1*3,0", ["1", "1", "1", "0"]),
    ("--gpu-bind=mask_gpu:0x3,c", ["0,1", "2,3"] * 2), ("--tres-bind=gres/gpu:mask:8", ["3"] * 4),
    ("--gpus-per-task=1", ["0", "1", "2", "3"]),
    ("--gpus-per-task=1 --gpu-bind=none", ["0,1,2,3"] * 4)])
def test_each_task_sees_the_gpus_it_is_bound_to(four, options, expected):
    _, output = four.run_job(f"srun -n4 {options} sh -c {SEES}", "-n4", "--gpus-per-node=4", "-wn1")
    assert sights(output) == [f"{task}:{gpus}:{gpus}" for task, gpus in enumerate(expected)]


def test_the_jobs_binding_is_that_of_its_steps(four):
    body = f"echo $SLURM_GPU_BIND; srun sh -c {SEES}; srun -n2 --gpu-bind=none sh -c {SEES}"
    job = four.submit(body, "-n2", "--gres=gpu:4", "-wn1", env={"SBATCH_GPU_BIND": "single:1"})
    assert four.job(job)["TresBind"] == "gres/gpu:single:1"
    assert four.wait_end(job)["JobState"] == "COMPLETED"
    assert four.output(job).startswith("single:1\n")
    assert sights(four.output(job)) == ["0:0,1,2,3:0,1,2,3", "0:0:0", "1:0,1,2,3:0,1,2,3", "1:1:1"]
    assert four.run("squeue", "-h", "-t", "all", "-j", job, "-O", "tres-bind").stdout.strip() \
        == "gres/gpu:single:1"


def test_closest_gpus_are_those_of_the_steps_cpus(four):
    _, output = four.run_job(f"srun -n2 --exact --gpu-bind=closest sh -c {SEES}", "-n4",
                             "--gpus-per-node=4", "-wn1")
    assert sights(output) == ["0:0,1:0,1", "1:0,1:0,1"]


def test_bindings_are_told_and_complained_about(four):
    job = four.submit("srun -n2 -l --gpu-bind=verbose,map:2,9 true", "-n2", "--gres=gpu:4", "-wn1")
    assert four.wait_end(job)["JobState"] == "COMPLETED"
    text = four.output(job)
    assert ("0: gpu-bind: usable_gres=0x4; bit_alloc=0xF; local_inx=0; global_list=2; local_list=2"
            in text)
    assert "1: gpu-bind: usable_gres=0x1; " in text
    assert re.search(r"error: Bind request gres/gpu:verbose,map:2,9 does not specify any devices "
                     r"within the allocation for task 1\.", text)


@pytest.mark.parametrize("option, words", [
    ("--gpu-bind=foo", "Invalid --gpu-bind argument: gpu:foo"),
    ("--gpu-bind=map_gpu:", "Invalid --gpu-bind argument: gpu:map_gpu:"),
    ("--tres-bind=gres/gpu:single:0", "Invalid --tres-bind argument: gres/gpu:single:0"),
    ("--tres-bind=gres/nic:closest", "--tres-bind=gres/nic:closest is not supported"),
    ("--gpu-freq=foo", "Invalid --gpu-freq argument: gpu:foo"),
    ("--gpu-freq=low,memory=", "Invalid --gpu-freq argument: gpu:low,memory=")])
def test_bindings_that_mean_nothing_are_refused(four, option, words):
    for tool in ("sbatch", "srun", "salloc"):
        result = four.run(tool, option, *(["--wrap"] if tool == "sbatch" else []), "true", check=False)
        assert result.returncode != 0 and f"{tool}: error: {words}" in result.stderr


def test_gpus_of_each_socket(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus={"a40": ["n1"], "h100": ["n1"]},
                           node_extra={"n1": "Sockets=2 CoresPerSocket=2 ThreadsPerCore=1"})
    text = cluster.gres_text().replace("Type=a40", "Type=a40 Cores=0-1")
    (cluster.dir / "etc" / "gres.conf").write_text(text.replace("Type=h100", "Type=h100 Cores=2-3"))
    cluster.start()
    _, output = cluster.run_job("echo $SLURM_JOB_GPUS $SLURM_GPUS_PER_SOCKET", "--gpus-per-socket=1",
                                "--sockets-per-node=2", "-n2")
    assert output == "0,2 1\n"
    result = cluster.run("sbatch", "--gpus-per-socket=3", "--sockets-per-node=1", "--wrap", "true", check=False)
    assert result.returncode == 1 and "Requested node configuration is not available" in result.stderr


def test_a_node_without_gpus_is_shown_with_none(four):
    shown = four.run("scontrol", "-d", "show", "node", "n2").stdout
    assert "\n   Gres=(null)\n" in shown and "\n   GresUsed=gpu:0\n" in shown
    assert four.run("sinfo", "-h", "-n", "n2", "-O", "gresused").stdout.strip() == "gpu:0"

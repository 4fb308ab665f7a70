"""GPUs by index: never handed out twice, and jobs are told which ones are theirs."""

import re

import pytest

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
def test_impossible_wishes_are_refused(shared, gres):
    result = shared.run("sbatch", f"--gres={gres}", "--wrap", "true", check=False)
    assert result.returncode != 0 and result.stderr.startswith("sbatch: ")


def test_a_step_gets_a_part_of_the_jobs_devices(shared):
    _, output = shared.run_job("srun -n1 --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES'",
                               "--gres=gpu:a40:2", "-n2")
    assert output.strip() in ("0", "1")

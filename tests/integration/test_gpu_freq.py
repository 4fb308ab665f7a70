"""--gpu-freq: slurmstepd sets the clocks of a step's GPUs through NVML, here a stand-in for it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from cluster import Cluster, wait_for


class Nvml:
    """The stand-in's directory: what was set is in nvml.log."""

    def __init__(self, directory):
        self.directory = directory
        source = Path(__file__).with_name("fake_nvml.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(directory / "libnvidia-ml.so.1"), str(source)], check=True)

    def calls(self):
        """What was called since the last time, once all clocks are put back: srun may be faster."""
        log = self.directory / "nvml.log"

        def settled():
            lines = log.read_text().splitlines() if log.exists() else []
            last = dict(line.split(" ", 1) for line in lines)
            return (lines,) if all(call == "reset" for call in last.values()) else None
        lines, = wait_for(settled, what="the clocks to be put back")
        log.unlink(missing_ok=True)
        return lines


def make(nvml=None, **options):
    cluster = Cluster(nodes=1, gpus={"a40": ["n1"]}, **options)
    if nvml:
        before = cluster.environment
        cluster.environment = lambda **more: before(**{"LD_LIBRARY_PATH": str(nvml.directory), **more})
    return cluster


@pytest.fixture(scope="module")
def nvml(tmp_path_factory):
    directory = tmp_path_factory.mktemp("nvml")
    for path in (directory, directory.parent):
        path.chmod(0o755)
    return Nvml(directory)


@pytest.fixture(scope="module")
def clocked(nvml):
    cluster = make(nvml)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


SET = "gpu0 memory={} graphics={}"


def wait_for_gpus(cluster):
    """The job of an srun gives its GPU back a moment after srun has ended."""
    cluster.wait_for(lambda: not cluster.run("squeue", "-h").stdout, what="GPU 0 to be free")


@pytest.mark.parametrize("demand, memory, graphics", [
    ("low", 877, 135), ("medium", 877, 1005), ("high,memory=high", 877, 1380), ("highm1", 877, 1372),
    ("900", 877, 1005), ("memory=low", 405, 607), ("graphics=1400,memory=1", 405, 607)])
def test_a_step_has_the_nearest_possible_clocks(clocked, nvml, demand, memory, graphics):
    wait_for_gpus(clocked)
    nvml.calls()
    done = clocked.run("srun", "--gres=gpu:1", f"--gpu-freq={demand},verbose", "true")
    assert f"GpuFreq=memory_freq:{memory},graphics_freq:{graphics} (GPU 0)\n" in done.stderr
    assert nvml.calls() == [SET.format(memory, graphics), "gpu0 reset"]


def test_who_does_not_ask_gets_nothing_done(clocked, nvml):
    nvml.calls()
    assert clocked.run("srun", "--gres=gpu:1", "true").stderr == ""
    assert clocked.run("srun", "--gpu-freq=low", "true").stderr == ""  # it has no GPUs
    wait_for_gpus(clocked)
    assert clocked.run("srun", "--gres=gpu:1", "--gpu-freq=verbose", "true").stderr == (
        "GpuFreq=memory_freq:877,graphics_freq:1005 (GPU 0)\n")
    assert not [line for line in nvml.calls() if "memory=" in line]


def test_a_batch_job_and_its_steps(clocked, nvml):
    wait_for_gpus(clocked)
    nvml.calls()
    record, output = clocked.run_job("echo $SLURM_GPU_FREQ; srun true; srun --gpu-freq=high true", "--gres=gpu:2",
                                     "--gpu-freq=low,memory=high")
    assert output == "low,memory=high\n"
    assert record["TresFreq"] == "gpu:low,memory=high"
    calls = nvml.calls()
    low, high = SET.format(877, 135), SET.format(877, 1380)
    # The script's own clocks come back after each of its steps.
    assert [line for line in calls if line.startswith("gpu0")] == [
        low, low, "gpu0 reset", low, high, "gpu0 reset", low, "gpu0 reset"]
    assert len([line for line in calls if line.startswith("gpu1")]) == 8


def test_salloc_and_the_environment_hand_it_on(clocked, nvml):
    wait_for_gpus(clocked)
    nvml.calls()
    clocked.run("salloc", "--gres=gpu:1", "srun", "true", env={"SALLOC_GPU_FREQ": "low"})
    assert nvml.calls() == [SET.format(877, 135), "gpu0 reset"]
    wait_for_gpus(clocked)
    record, _ = clocked.run_job("true", "--gres=gpu:1", env={"SBATCH_GPU_FREQ": "high"})
    assert clocked.run("squeue", "-h", "-j", record["JobId"], "-t", "all", "-O", "tres-freq").stdout.strip() == "gpu:high"
    assert nvml.calls() == [SET.format(877, 1380), "gpu0 reset"]


def test_that_they_cannot_be_set_is_said_and_no_more(clocked, nvml):
    wait_for_gpus(clocked)
    (nvml.directory / "forbidden").touch()
    try:
        done = clocked.run("srun", "--gres=gpu:1", "--gpu-freq=low", "echo", "runs")
    finally:
        (nvml.directory / "forbidden").unlink()
    assert done.stdout == "runs\n"
    assert done.stderr == ("GpuFreq=control_disabled (GPU 0: frequencies cannot be set: Insufficient Permissions)\n")


def test_slurm_conf_says_what_those_get_who_do_not_ask(nvml):
    cluster = make(nvml, extra="GpuFreqDef=low\n")
    try:
        cluster.start()
        nvml.calls()
        assert cluster.run("srun", "--gres=gpu:1", "true").stderr == ""
        assert nvml.calls() == [SET.format(877, 135), "gpu0 reset"]
        wait_for_gpus(cluster)
        cluster.run("srun", "--gres=gpu:1", "--gpu-freq=high", "true")
        assert nvml.calls() == [SET.format(877, 1380), "gpu0 reset"]
    finally:
        cluster.stop()


def test_without_the_library_a_job_runs_all_the_same():
    if any(os.path.exists(f"{path}/libnvidia-ml.so.1") for path in ("/usr/lib", "/usr/lib/x86_64-linux-gnu")):
        pytest.skip("this machine has the real one")
    cluster = make()
    try:
        cluster.start()
        done = cluster.run("srun", "-n2", "--gres=gpu:1", "--gpu-freq=low", "echo", "runs")
        assert done.stdout == "runs\nruns\n"
        assert re.fullmatch(r"GpuFreq=control_disabled \(libnvidia-ml\.so\.1: .*\)\n", done.stderr)
        _, output = cluster.run_job("echo runs", "--gres=gpu:1", "--gpu-freq=low")
        assert re.fullmatch(r"GpuFreq=control_disabled \(.*\)\nruns\n", output)
    finally:
        cluster.stop()


def test_what_a_step_uses_of_its_gpus_is_sampled(clocked, nvml):
    job = clocked.submit("echo $$ >pid; exec sleep 1000", "--gres=gpu:2")
    pid = clocked.dir / "work" / "pid"
    clocked.wait_for(lambda: pid.exists() and pid.read_text(), what="the script to run")
    (nvml.directory / "nvml.users").write_text(pid.read_text())
    used = clocked.run("sstat", "-n", "-P", "-j", f"{job}.batch", "-o", "TRESUsageInTot").stdout.strip()
    assert used.endswith("gres/gpumem=128M,gres/gpuutil=60")
    clocked.run("scancel", job)
    clocked.wait_end(job)

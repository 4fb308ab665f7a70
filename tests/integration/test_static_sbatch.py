"""sbatch is a static program that talks to a controller of its own host. It starts the dynamic program of the same name,
from libexec/sluice, where it would need name services, libmunge or TCP."""

import shutil

import pytest

from cluster import default_prefix

PREFIX = default_prefix()
pytestmark = pytest.mark.skipif(not (PREFIX / "libexec/sluice/sbatch").exists(), reason="sanitized: all are dynamic")


@pytest.fixture
def lonely(tmp_path):
    """A copy that has no dynamic program beside it."""
    (tmp_path / "bin").mkdir()
    return shutil.copy(PREFIX / "bin/sbatch", tmp_path / "bin")


def test_a_controller_on_this_host_needs_no_other_program(shared, lonely):
    done = shared.run(lonely, "--parsable", "--wait", "--wrap", "true")
    assert shared.job(done.stdout.strip())["JobState"] == "COMPLETED"


def test_user_names_are_for_the_dynamic_program(shared, lonely):
    refused = shared.run(lonely, "--uid=nobody", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "libexec/sluice/sbatch: No such file" in refused.stderr
    job = shared.run("sbatch", "--parsable", "--hold", "--uid=nobody", "--wrap", "true").stdout.strip()
    assert shared.job(job)["UserId"].startswith("nobody(")
    shared.run("scancel", job)


def test_user_names_in_a_script_are_those_of_this_host(shared, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --uid=nobody --hold\n")
    job = shared.run("sbatch", "--parsable", str(script)).stdout.strip()
    assert shared.job(job)["UserId"].startswith("nobody(")
    shared.run("scancel", job)
    script.write_text("#!/bin/sh\n#SBATCH --uid=nosuchuser --hold\n")
    refused = shared.run("sbatch", str(script), check=False)
    assert refused.returncode != 0 and "--uid=nosuchuser" in refused.stderr


def test_a_second_controller_is_for_the_dynamic_program(shared, lonely, tmp_path):
    """It may take over, on another host, while the request is sent."""
    conf = tmp_path / "slurm.conf"
    conf.write_text(shared.conf.read_text() + "SlurmctldHost=elsewhere\n")
    refused = shared.run(lonely, "--wrap", "true", check=False, env={"SLURM_CONF": str(conf)})
    assert refused.returncode == 1 and "libexec/sluice/sbatch: No such file" in refused.stderr


def test_without_a_controller_the_error_is_that_of_the_dynamic_program(make_cluster):
    cluster = make_cluster(start=False, extra="MessageTimeout=2")
    refused = cluster.run("sbatch", "--wrap", "true", check=False)
    assert refused.returncode == 1
    assert "Batch job submission failed: Unable to contact slurm controller" in refused.stderr

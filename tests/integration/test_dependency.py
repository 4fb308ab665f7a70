"""Jobs that wait for jobs, deadlines, suspended jobs: what users see of them."""

import pytest
from cluster import is_frozen


def shown(cluster, job):
    return cluster.run("squeue", "-h", "-j", job, "-o", "%t %r %E").stdout.strip()


def test_a_chain_runs_in_order(shared):
    first = shared.submit("echo first >>chain; while [ ! -e go_on ]; do sleep 0.1; done")
    second = shared.submit("echo second >>chain", "--dependency", f"afterok:{first}")
    third = shared.submit("echo third >>chain", "-d", f"afterany:{first}:{second}")
    assert shown(shared, second) == f"PD Dependency afterok:{first}(unfulfilled)"
    assert shared.job(third)["Dependency"] == f"afterany:{first}(unfulfilled),afterany:{second}(unfulfilled)"
    assert shared.job(second)["EligibleTime"] == "Unknown"
    shared.wait_file("chain")
    (shared.dir / "work" / "go_on").touch()
    assert shared.wait_end(third)["JobState"] == "COMPLETED"
    assert (shared.dir / "work" / "chain").read_text() == "first\nsecond\nthird\n"
    assert shared.job(third)["Dependency"] == "(null)"


def test_a_failed_one_stops_the_chain(shared):
    bad = shared.submit("exit 3")
    kept = shared.submit("true", "-d", f"afterok:{bad}")
    killed = shared.submit("true", "-d", f"afterok:{bad}", "--kill-on-invalid-dep=yes")
    assert shared.wait_end(killed)["JobState"] == "CANCELLED"
    assert shown(shared, kept) == f"PD DependencyNeverSatisfied afterok:{bad}(failed)"
    shared.run("scontrol", "update", f"JobId={kept}", "Dependency=")
    assert shared.wait_end(kept)["JobState"] == "COMPLETED"


@pytest.mark.parametrize("text", ["afterok:99999999", "foo:1", "afterok:", "afterok:1,", "afterok:1,singleton?2"])
def test_nonsense_is_refused(shared, text):
    refused = shared.run("sbatch", "-d", text, "--wrap", "true", check=False)
    assert refused.returncode == 1
    assert "Batch job submission failed: Job dependency problem" in refused.stderr


def test_a_circle_is_refused(shared):
    one = shared.submit("true", "--hold")
    two = shared.submit("true", "-d", f"afterok:{one}")
    refused = shared.run("scontrol", "update", f"JobId={one}", f"Dependency=afterok:{two}", check=False)
    assert refused.returncode == 1 and "Circular job dependency" in refused.stderr
    shared.run("scancel", one, two)


def test_dependencies_survive_a_controller_crash(cluster):
    first = cluster.submit("while [ ! -e go_on ]; do sleep 0.1; done")
    second = cluster.submit("echo ran", "-d", f"afterok:{first}")
    alone = cluster.submit("true", "-J", "same", "--hold")
    single = cluster.submit("true", "-J", "same", "-d", "singleton")
    cluster.wait_state(first, "RUNNING")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert shown(cluster, second) == f"PD Dependency afterok:{first}(unfulfilled)"
    assert shown(cluster, single) == "PD Dependency singleton(unfulfilled)"
    (cluster.dir / "work" / "go_on").touch()
    assert cluster.wait_end(second)["JobState"] == "COMPLETED"
    cluster.run("scancel", alone)
    assert cluster.wait_end(single)["JobState"] == "COMPLETED"


def test_a_deadline_that_passes(shared):
    job = shared.submit("true", "--hold", "--deadline=now+2", "--time=0")
    shared.wait_state(job, "DEADLINE")
    refused = shared.run("sbatch", "--deadline=now+60", "--time=5", "--wrap", "true", check=False)
    assert refused.returncode == 1
    assert "Requested time limit is invalid (missing or exceeds some limit)" in refused.stderr


def test_unknown_licenses_are_refused(shared):
    refused = shared.run("sbatch", "-L", "unknown:2", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "Invalid license specification" in refused.stderr
    assert shared.run("scontrol", "show", "licenses").stdout == "No licenses configured in Slurm.\n"


def test_suspend_and_resume(cluster):
    job = cluster.submit("echo $$ >pid; mv pid shell; while :; do sleep 0.05; done", "--time=10")
    cluster.wait_file("shell")
    pid = (cluster.dir / "work" / "shell").read_text().strip()
    cluster.run("scontrol", "suspend", job)
    assert cluster.run("squeue", "-h", "-j", job, "-o", "%t").stdout == "S\n"

    def stands_still():
        return is_frozen(pid)
    cluster.wait_for(stands_still, what="the job to stand still")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(job)["JobState"] == "SUSPENDED"
    cluster.run("scontrol", "resume", job)
    cluster.wait_for(lambda: not stands_still(), what="the job to go on")
    again = cluster.run("scontrol", "resume", job, check=False)
    assert again.returncode == 1 and f"Job is not suspended for job {job}" in again.stderr
    cluster.run("scontrol", "suspend", job)
    cluster.run("scancel", job)
    assert cluster.wait_end(job)["JobState"] == "CANCELLED"

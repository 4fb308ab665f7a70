"""How large and how expensive requests may be: docs/limits.md."""

from pathlib import Path

import pytest


def refused(cluster, *argv, **options):
    result = cluster.run(*argv, check=False, **options)
    assert result.returncode != 0, argv[0]
    return result.stderr


def test_a_text_at_its_limit_is_taken_and_one_byte_more_is_refused(cluster):
    job = cluster.submit("true", "--hold", "--comment", "x" * 1024)
    said = refused(cluster, "sbatch", "--comment", "y" * 1025, "--wrap", "true")
    assert "comment=yyy" in said and "1025 bytes, the limit is 1024" in said
    said = refused(cluster, "scontrol", "update", f"JobId={job}", "Comment=" + "y" * 1025)
    assert "Comment=yyy" in said and "1025 bytes, the limit is 1024" in said
    assert cluster.job(job)["Comment"] == "x" * 1024
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(job)["Comment"] == "x" * 1024


def test_time_cannot_be_added_beyond_the_limit(cluster):
    job = cluster.submit("true", "--hold", "--time=60")
    assert "TimeLimit" in refused(cluster, "scontrol", "update", f"JobId={job}", "TimeLimit+=71582788")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(job)["TimeLimit"] == "01:00:00"


def test_long_lists_of_jobs(cluster):
    """scancel sends as many requests as it takes; a listing of unknown jobs is made in one walk."""
    jobs = [cluster.submit("true", "--hold") for _ in range(3)]
    unknown = [str(number) for number in range(100_000, 103_000)]
    listed = cluster.run("squeue", "-h", "-o", "%A", "-j", ",".join(unknown + jobs)).stdout.split()
    assert sorted(listed) == sorted(jobs)
    cluster.run("scancel", *unknown, *jobs)
    for job in jobs:
        assert cluster.state(job) == "CANCELLED"


def test_no_request_stops_the_controller_from_answering(cluster):
    stress = Path(__file__).resolve().parents[2] / "build" / "tools" / "sluice-request-stress"
    if not stress.exists():
        pytest.skip("sluice-request-stress is not built")
    for name in range(5):
        cluster.submit("sleep 1000", "-J", f"w{name}")
    cluster.submit("true", "--hold", "--array=0-999")
    result = cluster.run(str(stress), "-n", "400", "-s", "1", "-m", "20000", timeout=600)
    print(result.stdout)
    assert result.stdout.startswith("seed 1, 400 requests") and " ms: request " in result.stdout
    assert cluster.run("scontrol", "ping").returncode == 0
    cluster.cancel_all()

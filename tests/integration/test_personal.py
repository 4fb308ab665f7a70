"""A cluster of an ordinary user: the same programs, no root, only that user's jobs."""

import os

import pytest


@pytest.fixture
def personal(make_cluster):
    return make_cluster(user="nobody" if os.getuid() == 0 else None)


def test_jobs_and_steps_run(personal):
    record, output = personal.run_job("id -un; srun -n2 id -un", "-N2")
    assert record["JobState"] == "COMPLETED"
    assert output.split() == [personal.user] * 3


def test_nothing_survives_a_job(personal):
    job = personal.submit("(setsid sh -c 'trap \"\" TERM; echo $$ >daemon.pid; sleep 1000' &)\n"
                          "while [ ! -s daemon.pid ]; do sleep 0.05; done\nsleep 1000")
    pid = int(personal.wait_file("daemon.pid"))
    personal.run("scancel", job)
    assert personal.wait_end(job)["JobState"] == "CANCELLED"
    assert pid not in personal.processes()


def test_a_job_survives_the_death_of_its_slurmd(personal):
    job = personal.submit("echo up; while [ ! -e go ]; do sleep 0.05; done", "-w", "n1")
    personal.wait_file(f"slurm-{job}.out")
    personal.kill("n1")
    personal.start_node("n1")
    (personal.dir / "work" / "go").touch()
    assert personal.wait_end(job)["JobState"] == "COMPLETED"


def test_somebody_elses_job_cannot_run_here(as_root, personal):
    job = personal.submit("id", "-o", "/dev/null", user="root")
    record = personal.wait_end(job)
    assert record["JobState"] == "FAILED"

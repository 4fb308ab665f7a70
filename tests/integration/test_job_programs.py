"""PrologSlurmctld and EpilogSlurmctld: what they are told, and what becomes of a job where they fail or hang."""

import pytest

PROGRAM = """#!/bin/sh
env > {dir}/work/{name}.$SLURM_JOB_ID
echo >> {dir}/work/{name}.count
while [ -e {dir}/work/wait ]; do sleep 0.05; done
[ ! -e {dir}/work/broken ]
"""


@pytest.fixture
def programmed(make_cluster):
    """A cluster with both programs. They wait as long as there is a file wait, and fail if there is one broken."""
    cluster = make_cluster(start=False)
    for name in ("prolog", "epilog"):
        path = cluster.dir / name
        path.write_text(PROGRAM.format(dir=cluster.dir, name=name))
        path.chmod(0o755)
    cluster.extra = (f"PrologSlurmctld={cluster.dir}/prolog\nEpilogSlurmctld={cluster.dir}/epilog\n"
                     "MaxBatchRequeue=1\nSchedulerParameters=requeue_delay=0\nRequeueExitHold=7")
    cluster.write_config()
    return cluster.start()


def told(cluster, name, job):
    lines = cluster.wait_file(f"{name}.{job}").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def times(cluster, name):
    path = cluster.dir / "work" / f"{name}.count"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_the_programs_are_told_of_the_job(programmed):
    array = programmed.submit("exit 3", "-a", "5", "-N2", "--comment=said")
    task = programmed.wait_end(f"{array}_5")["JobId"]
    wanted = {"SLURM_JOB_ID": task, "SLURM_ARRAY_JOB_ID": array, "SLURM_ARRAY_TASK_ID": "5",
              "SLURM_JOB_PARTITION": "debug", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_COMMENT": "said",
              "SLURM_JOB_USER": programmed.user, "SLURM_CLUSTER_NAME": "test", "SLURM_JOB_NUM_NODES": "2"}
    for name in ("prolog", "epilog"):
        variables = told(programmed, name, task)
        assert {key: variables.get(key) for key in wanted} == wanted
        assert variables["SLURM_SCRIPT_CONTEXT"] == f"{name}_slurmctld"
        assert times(programmed, name) == 1
    assert variables["SLURM_JOB_EXIT_CODE2"] == "3:0"
    assert variables["SLURM_JOB_EXIT_CODE"] == str(3 * 256)


def test_a_job_waits_for_its_prolog_and_shows_it(programmed):
    (programmed.dir / "work" / "wait").touch()
    job = programmed.submit("echo ran")
    programmed.wait_state(job, "CONFIGURING")
    assert programmed.run("squeue", "-h", "-j", job, "-o", "%t").stdout.strip() == "CF"
    srun = programmed.popen("srun", "sh", "-c", "echo also ran")
    programmed.wait_for(lambda: times(programmed, "prolog") == 2, what="the second prolog")
    assert srun.poll() is None and not (programmed.dir / "work" / f"slurm-{job}.out").exists()
    (programmed.dir / "work" / "wait").unlink()
    assert srun.communicate(timeout=60)[0] == "also ran\n"
    assert programmed.wait_end(job)["JobState"] == "COMPLETED"


def test_it_runs_again_after_a_crash_of_slurmctld(programmed):
    (programmed.dir / "work" / "wait").touch()
    job = programmed.submit("echo ran")
    programmed.wait_for(lambda: times(programmed, "prolog") == 1, what="the prolog")
    programmed.kill("slurmctld")
    programmed.start_controller()
    programmed.wait_for(lambda: times(programmed, "prolog") == 2, what="the prolog to run again")
    assert programmed.state(job) == "CONFIGURING"
    (programmed.dir / "work" / "wait").unlink()
    assert programmed.wait_end(job)["JobState"] == "COMPLETED"
    assert programmed.output(job) == "ran\n"


def test_a_job_whose_prolog_fails_is_requeued_and_held_at_last(programmed):
    (programmed.dir / "work" / "broken").touch()
    job = programmed.submit("echo ran")
    programmed.wait_for(lambda: programmed.run("squeue", "-h", "-j", job, "-o", "%T %r").stdout.strip()
                        == "PENDING job requeued in held state", what="the job to be held")
    assert times(programmed, "prolog") == 2
    assert programmed.run("srun", "true", check=False).returncode != 0
    (programmed.dir / "work" / "broken").unlink()
    programmed.run("scontrol", "release", job)
    assert programmed.wait_end(job)["JobState"] == "COMPLETED"


def test_a_program_that_hangs_is_killed(make_cluster):
    cluster = make_cluster(start=False)
    program = cluster.dir / "prolog"
    program.write_text(f"#!/bin/sh\necho $$ > {cluster.dir}/work/pid\nexec sleep 1000\n")
    program.chmod(0o755)
    cluster.extra = f"PrologSlurmctld={program}\nPrologEpilogTimeout=1\nMaxBatchRequeue=0"
    cluster.write_config()
    cluster.start()
    job = cluster.submit("true")
    cluster.wait_for(lambda: cluster.job(job).get("JobState") == "PENDING" and
                     cluster.job(job).get("Priority") == "0", what="the job to be held")
    pid = int((cluster.dir / "work" / "pid").read_text())
    assert pid not in cluster.processes()


def test_an_exit_code_that_holds_is_a_special_exit(programmed):
    job = programmed.submit("[ $SLURM_RESTART_COUNT ] || exit 7")
    programmed.wait_state(job, "SPECIAL_EXIT")
    assert programmed.run("squeue", "-h", "-t", "SE", "-o", "%i %t").stdout.split() == [job, "SE"]
    programmed.run("scontrol", "release", job)
    assert programmed.wait_end(job)["JobState"] == "COMPLETED"

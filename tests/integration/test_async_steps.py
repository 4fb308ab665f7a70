"""srun --async: steps that srun does not wait for; swait waits for all of them."""

import pytest

from cluster import wait_for


def lines_of(cluster, job, number):
    return (cluster.dir / "work" / f"slurm-{job}.{number}.out").read_text().splitlines()


def test_steps_wait_for_each_other_and_swait_for_all(shared):
    """More than fit at once: each has the number that was told, its own file and its exit code in accounting."""
    body = """for i in 0 1 2 3 4; do srun --async --parsable --exact -n2 sh -c "echo $i \\$SLURM_STEP_ID; exit $i"; done
swait -v; echo swait gave $?"""
    record, output = shared.run_job(body, "-w", "n1", "-n4")
    job = record["JobId"]
    told = output.splitlines()
    assert told[:5] == [f"{job}.{i}" for i in range(5)]
    assert told[5:] == [f"swait: waiting for the steps of job {job}", "swait gave 0"]
    assert record["JobState"] == "COMPLETED"
    for i in range(5):
        lines = lines_of(shared, job, i)
        assert lines.count(f"{i} {i}") == 2
        assert (f"srun: error: n1: tasks 0-1: Exited with exit code {i}" in lines) == (i > 0)

    def codes():
        rows = shared.run("sacct", "-n", "-P", "-j", job, "-o", "jobid,exitcode").stdout.split()
        found = dict(row.split("|") for row in rows)
        wanted = {f"{job}.{i}": f"{i}:0" for i in range(5)}
        return wanted.items() <= found.items()
    wait_for(codes, what="the exit codes of the steps in accounting")


def test_srun_does_not_wait(shared):
    """The first step holds the job until a file is there; the second one waits for it. Nothing holds srun's output open."""
    body = """srun --async sh -c 'while [ ! -e go ]; do sleep 0.1; done; echo first' 2>&1 | cat
srun --async -o %j.second.out echo second | cat
swait --timeout=1; echo $?
swait -Q --timeout=1; echo $?
touch go; swait; echo $?"""
    record, output = shared.run_job(body, "-w", "n1", "-n1")
    job = record["JobId"]
    assert output.splitlines() == [f"Submitted step {job}.0", f"Submitted step {job}.1",
                                   f"swait: job {job} still has steps after 1 s", "1", "1", "0"]
    assert lines_of(shared, job, 0) == ["first"]
    assert (shared.dir / "work" / f"{job}.second.out").read_text() == "second\n"


def test_they_end_with_their_job(shared):
    job = shared.submit("srun --async sleep 1000; srun --async sleep 2000; sleep 0.5; exit 3", "-w", "n2", "-n1")
    assert shared.wait_end(job)["ExitCode"] == "3:0"
    wait_for(lambda: not shared.run("squeue", "-h", "-s", "-w", "n2").stdout, what="the end of the step")
    wait_for(lambda: not [line for line in shared.processes().values() if line.split()[0].endswith("srun")], what="the end of srun")


def test_one_that_waits_can_be_cancelled(shared):
    body = """srun --async -o first.out sleep 1000; srun --async -o second.out echo never
scancel $SLURM_JOB_ID.1; scancel $SLURM_JOB_ID.0; swait; cat second.out"""
    record, output = shared.run_job(body, "-w", "n1", "-n1")
    job = record["JobId"]
    assert output.splitlines()[2:] == [f"srun: error: Unable to create step for job {job}: "
                                       "Job/step already completing or completed"]


def test_a_step_that_waits_for_the_others(shared):
    body = "srun --async --overlap sleep 1; srun --overlap -n1 swait; squeue -h -s -j $SLURM_JOB_ID -o %i | grep -v batch; true"
    record, output = shared.run_job(body, "-w", "n1", "-n1")
    assert output.splitlines()[1:] == []


@pytest.mark.parametrize("options,text,code", [
    (["--pty"], "--async and --pty exclude each other", 255),
    (["--x11"], "--async and --x11 exclude each other", 255),
    (["-n9"], "More processors requested than permitted", 1),
    (["-o", "/proc/%j/x"], "Could not open error file", 1),
])
def test_what_is_not_possible_is_said_at_once(shared, options, text, code):
    _, output = shared.run_job(f"srun --async {' '.join(options)} true; echo $?", "-w", "n1", "-n1")
    assert text in output and output.endswith(f"\n{code}\n")


def test_outside_a_job(shared):
    done = shared.run("srun", "--async", "true", check=False)
    assert done.returncode == 1
    assert done.stderr == "srun: error: --async is only valid for steps submitted within an existing job allocation.\n"
    assert shared.run("swait", check=False).returncode == 2
    assert shared.run("swait", "999999", check=False).stderr == "swait: error: job 999999: Invalid job id specified\n"
    assert shared.run("swait", "--timeout=x", "1", check=False).returncode == 2


def test_of_an_ended_job_there_is_nothing_to_wait_for(shared):
    job = shared.run_job("true")[0]["JobId"]
    assert shared.run("swait", job).stderr == ""


def test_only_the_owner_waits(make_cluster, as_root):
    cluster = make_cluster(nodes=1, user="root")
    job = cluster.submit("sleep 1000", user="nobody")
    cluster.wait_state(job, "RUNNING")
    refused = cluster.run("swait", job, user="daemon", check=False)
    assert refused.returncode == 2 and "Access/permission denied" in refused.stderr
    assert cluster.run("swait", job, user="nobody").returncode == 0
    cluster.run("scancel", job)

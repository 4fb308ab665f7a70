"""scontrol about the processes of running jobs: notify, wait_job, listpids, requeue Incomplete."""

import re


def test_a_message_reaches_the_script(shared):
    job = shared.submit("echo up; srun sleep 1000", "-N2")
    assert shared.wait_file(f"slurm-{job}.out") == "up\n"
    shared.run("scontrol", "notify", job, "lunch", "is ready")
    shared.wait_for(lambda: shared.output(job) == "up\nlunch is ready\n", what="the message")
    shared.run("scancel", job)
    shared.wait_end(job)
    over = shared.run("scontrol", "notify", job, "late", check=False)
    assert over.returncode == 1 and f"for job {job}" in over.stderr or "no script and no step" in over.stderr


def test_a_message_reaches_srun_once(shared):
    step = shared.popen("srun", "-N2", "sh", "-c", "echo $SLURM_JOB_ID; exec sleep 1000")
    job = step.stdout.readline().strip()
    step.stdout.readline()
    shared.run("scontrol", "notify", job, "hello")
    assert step.stderr.readline() == "hello\n"
    shared.run("scancel", job)
    assert step.stderr.read().count("hello") == 0
    step.wait(timeout=30)
    step.stdout.close()


def test_messages_are_for_the_owner_and_administrators(make_cluster, as_root):
    cluster = make_cluster(nodes=1)
    job = cluster.submit("sleep 1000", user="nobody")
    cluster.wait_state(job, "RUNNING")
    refused = cluster.run("scontrol", "notify", job, "x", user="daemon", check=False)
    assert refused.returncode == 1 and "Access/permission denied" in refused.stderr
    pids = cluster.run("scontrol", "listpids", job, "n1", user="daemon", check=False)
    assert pids.returncode == 1 and "Access/permission denied" in pids.stderr


def test_wait_job(shared):
    job = shared.submit("sleep 1000", "-H")
    waiting = shared.popen("scontrol", "wait_job", job)
    shared.run("scontrol", "release", job)
    assert waiting.wait(timeout=30) == 0
    shared.run("scancel", job)
    shared.wait_end(job)
    over = shared.run("scontrol", "wait_job", job, check=False)
    assert (over.returncode, over.stderr) == (1, "Job is no longer running\n")
    assert shared.run("scontrol", "wait_job", "999999", check=False).returncode == 1


def test_listpids(shared):
    job = shared.submit("srun sh -c 'echo $$; exec sleep 1000'", "-w", "n2")
    pid = shared.wait_file(f"slurm-{job}.out").strip()
    lines = shared.run("scontrol", "listpids", f"{job}.0", "n2").stdout.splitlines()
    assert lines[0] == "PID      JOBID    STEPID   LOCALID GLOBALID"
    assert any(re.match(rf"{pid} +{job} +0 +", line) for line in lines[1:])
    every = shared.run("scontrol", "listpids", "*", "n2").stdout
    assert f"\n{pid} " in every and " batch " in every
    nothing = shared.run("scontrol", "listpids", job, "n3", check=False)
    assert nothing.returncode == 1 and "No job steps exist on node n3" in nothing.stderr
    shared.run("scancel", job)
    shared.wait_end(job)


def test_requeue_of_what_is_not_complete(shared):
    done = shared.submit("true")
    shared.wait_end(done)
    running = shared.submit("sleep 1000")
    shared.wait_state(running, "RUNNING")
    shared.run("scontrol", "requeuehold", "Incomplete", f"{done},{running}")
    shared.wait_for(lambda: shared.job(running)["Restarts"] == "1", what="the requeue")
    assert shared.job(done)["JobState"] == "COMPLETED" and shared.job(done)["Restarts"] == "0"
    shared.run("scancel", running)

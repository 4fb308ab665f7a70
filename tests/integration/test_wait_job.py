"""scontrol wait_job and requeue Incomplete."""


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


def test_requeue_of_what_is_not_complete(shared):
    done = shared.submit("true")
    shared.wait_end(done)
    running = shared.submit("sleep 1000")
    shared.wait_state(running, "RUNNING")
    shared.run("scontrol", "requeuehold", "Incomplete", f"{done},{running}")
    shared.wait_for(lambda: shared.job(running)["Restarts"] == "1", what="the requeue")
    assert shared.job(done)["JobState"] == "COMPLETED" and shared.job(done)["Restarts"] == "0"
    shared.run("scancel", running)

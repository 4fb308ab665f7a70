"""A controller that stands still, and nodes that cannot launch."""

import os
import re
import signal

from cluster import process_state, wait_for

COUNTS = "echo run >>runs.$SLURM_JOB_ID; i=0; while [ ! -e go ]; do sleep 0.1; i=$((i+1)); echo $i >ticks.$SLURM_JOB_ID; done"


def ticks(cluster, job):
    path = cluster.dir / "work" / f"ticks.{job}"
    text = path.read_text() if path.exists() else ""
    return int(text) if text.strip() else 0


def test_a_controller_that_was_stopped_gives_nobody_up(make_cluster):
    cluster = make_cluster(extra="SlurmdTimeout=3")
    jobs = [cluster.submit(COUNTS, "-w", node, "--requeue") for node in ("n1", "n2")]
    for job in jobs:
        wait_for(lambda: ticks(cluster, job) > 0, what=f"job {job} to run")
    controller = cluster.daemons["slurmctld"]
    os.kill(controller.pid, signal.SIGSTOP)
    wait_for(lambda: process_state(controller.pid) == "T", what="slurmctld to stop")
    before = {job: ticks(cluster, job) for job in jobs}
    for job in jobs:  # at least eight seconds, more than twice SlurmdTimeout
        wait_for(lambda: ticks(cluster, job) > before[job] + 80, what="time to pass")
    os.kill(controller.pid, signal.SIGCONT)
    assert {cluster.node_state(node) for node in ("n1", "n2")} <= {"mix", "alloc"}
    after = {job: ticks(cluster, job) for job in jobs}
    for job in jobs:  # and long enough for a wrong decision
        wait_for(lambda: ticks(cluster, job) > after[job] + 40, what="time to pass")
    (cluster.dir / "work" / "go").touch()
    for job in jobs:
        record = cluster.wait_end(job)
        assert (record["JobState"], record["Restarts"]) == ("COMPLETED", "0")
        assert (cluster.dir / "work" / f"runs.{job}").read_text() == "run\n"
    assert "could be heard for" in (cluster.dir / "log" / "slurmctld.log").read_text()


def block_spool(cluster, node, *jobs):
    """The node cannot make the directory of these jobs."""
    for job in jobs:
        path = cluster.dir / "spool" / node / f"job{job:05d}"
        path.write_text("in the way")


def test_a_node_that_cannot_launch_is_drained_and_the_job_runs_elsewhere(cluster):
    block_spool(cluster, "n1", 1)
    record, output = cluster.run_job("echo ran on $SLURMD_NODENAME")
    assert (record["JobState"], record["Restarts"], record["BatchHost"]) == ("COMPLETED", "1", "n2")
    assert output == "ran on n2\n"
    reason = cluster.run("sinfo", "-h", "-R", "-o", "%E %N").stdout
    assert re.fullmatch(r"batch job launch failure: .*n1\n", reason), reason
    assert cluster.node_state("n1") == "drain"
    # slurmd keeps what was in the way as a spare directory.
    kept = wait_for(lambda: [path for path in (cluster.dir / "spool" / "n1").glob("spare.*") if path.is_file()],
                    what="the file to be put aside")
    for path in kept:
        path.unlink()
    cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    assert cluster.run_job("true", "-w", "n1")[0]["JobState"] == "COMPLETED"


def test_a_job_that_three_nodes_refuse_is_held(make_cluster):
    cluster = make_cluster(nodes=4)
    for node in ("n1", "n2", "n3"):
        block_spool(cluster, node, 1)
    job = cluster.submit("true")
    wait_for(lambda: "launch failed requeued held: " in cluster.run("squeue", "-h", "-j", job, "-o", "%r").stdout,
             what="the job to be held")
    assert cluster.job(job)["Restarts"] == "3"
    assert cluster.node_state("n4") == "idle"
    assert cluster.run_job("true", "-w", "n4")[0]["JobState"] == "COMPLETED"
    cluster.run("scancel", job)


def test_what_is_the_jobs_own_fault_drains_nothing(cluster):
    record = cluster.wait_end(cluster.submit("true", "-o", "/dev/null/out"))
    assert (record["JobState"], record["Restarts"]) == ("FAILED", "0")
    assert record["Reason"].startswith("JobLaunchFailure")
    assert {cluster.node_state(node) for node in ("n1", "n2")} == {"idle"}


def test_no_kill_goes_on_without_a_lost_node(make_cluster):
    cluster = make_cluster(nodes=3, extra="SlurmdTimeout=3")
    job = cluster.submit(COUNTS, "-N2", "-w", "n1,n2", "--no-kill")
    other = cluster.submit(COUNTS, "-N2", "-w", "n2,n3", "--no-kill=off", "--no-requeue")
    wait_for(lambda: ticks(cluster, job) > 0, what="the job to run")
    cluster.wait_state(other, "RUNNING")
    cluster.kill("n2")
    assert cluster.wait_end(other)["JobState"] == "NODE_FAIL"
    wait_for(lambda: cluster.job(job)["NodeList"] == "n1", what="the job to go on without n2")
    (cluster.dir / "work" / "go").touch()
    record = cluster.wait_end(job)
    assert (record["JobState"], record["Restarts"]) == ("COMPLETED", "0")
    assert (cluster.dir / "work" / f"runs.{job}").read_text() == "run\n"

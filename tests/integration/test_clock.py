"""A controller that stands still, or whose clock is set, and nodes that cannot launch."""

import glob
import os
import re
import signal

import pytest
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


def set_clock(cluster, offset):
    """The wall clock of slurmctld, which runs under libfaketime; its steady clock is the real one."""
    fresh = cluster.dir / "clock.new"
    fresh.write_text(f"{offset}\n")
    fresh.rename(cluster.dir / "clock")


def test_jobs_do_not_notice_that_the_controllers_clock_is_set(make_cluster):
    """Forward and back by hours: nothing ends, is requeued, or has another time limit than before."""
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not library:
        pytest.skip("libfaketime is not installed")
    if any(name.endswith("SAN_OPTIONS") for name in os.environ):
        pytest.skip("sanitizers and libfaketime replace the same functions")
    cluster = make_cluster(start=False, extra="SlurmdTimeout=3")
    set_clock(cluster, "+0")
    cluster.under["slurmctld"] = ["env", f"LD_PRELOAD={library[0]}", f"FAKETIME_TIMESTAMP_FILE={cluster.dir}/clock",
                                  "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"]
    cluster.start()
    jobs = [cluster.submit(COUNTS, "-w", node, "--requeue", "-t", "60") for node in ("n1", "n2")]
    limited = cluster.submit("date +%s >began; while :; do date +%s >>last; sleep 0.1; done", "-t", "1", "--requeue")
    cluster.wait_file("began")
    for job in jobs:
        wait_for(lambda: ticks(cluster, job) > 0, what=f"job {job} to run")
    log = cluster.dir / "log" / "slurmctld.log"
    for hours in (5, -5):
        set_clock(cluster, f"{hours:+d}h")
        step = 3600 * (hours if hours > 0 else 2 * hours)
        cluster.wait_for(lambda: re.search(f"the clock was set by ({step}|{step - 1}|{step + 1}) s", log.read_text()),
                         what=f"slurmctld to notice {step} s")
        before = {job: ticks(cluster, job) for job in jobs}
        for job in jobs:  # at least five seconds, more than SlurmdTimeout
            wait_for(lambda: ticks(cluster, job) > before[job] + 50, what="time to pass")
        assert [cluster.state(job) for job in (*jobs, limited)] == ["RUNNING"] * 3
        # Nodes whose clock differs take no new jobs, and are not lost.
        assert {cluster.node_state(node) for node in ("n1", "n2")} <= {"mix", "alloc", "drng"}
    ended = cluster.wait_end(limited)
    assert (ended["JobState"], ended["Restarts"]) == ("TIMEOUT", "0")
    began, last = (int((cluster.dir / "work" / name).read_text().split()[-1]) for name in ("began", "last"))
    assert 55 <= last - began <= 90
    set_clock(cluster, "+0")
    (cluster.dir / "work" / "go").touch()
    for job in jobs:
        record = cluster.wait_end(job)
        assert (record["JobState"], record["Restarts"]) == ("COMPLETED", "0")
        assert (cluster.dir / "work" / f"runs.{job}").read_text() == "run\n"


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


def test_a_script_that_does_not_start_in_time_runs_elsewhere(make_cluster, as_root):
    """On n1 the supervisor hangs, and slurmd is heard all the same."""
    cluster = make_cluster(start=False, extra="BatchStartTimeout=2\nSlurmdTimeout=3")
    hangs = cluster.dir / "slurmstepd"
    hangs.write_text(f"#!/bin/sh\nwhile [ ! -e {cluster.dir}/work/go ]; do sleep 0.1; done\nexit 1\n")
    hangs.chmod(0o755)
    replace = f'mount --bind {hangs} {cluster.prefix}/sbin/slurmstepd && exec "$@"'
    cluster.under["n1"] = ["unshare", "--mount", "--propagation", "private", "sh", "-c", replace, "sh"]
    cluster.start()
    job = cluster.submit("echo ran on $SLURMD_NODENAME >>ran", "-o", "/dev/null")
    reason = "batch job launch failure: the script did not start within BatchStartTimeout"
    cluster.wait_for(lambda: cluster.run("sinfo", "-h", "-n", "n1", "-o", "%E").stdout.strip() == reason,
                     what="n1 to be drained")
    assert not (cluster.dir / "work" / "ran").exists()
    (cluster.dir / "work" / "go").touch()
    record = cluster.wait_end(job)
    assert (record["JobState"], record["Restarts"], record["BatchHost"]) == ("COMPLETED", "1", "n2")
    assert (cluster.dir / "work" / "ran").read_text() == "ran on n2\n"
    assert cluster.node_state("n2") == "idle"


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

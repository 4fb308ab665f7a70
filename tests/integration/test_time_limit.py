"""Limits are whole minutes, so all jobs that run into theirs do so together, in one test."""

import os

STUBBORN = """
trap '' TERM INT HUP
sh -c 'trap "" TERM; echo $$ >>{name}.pids; while :; do sleep 1; done' &
setsid sh -c 'trap "" TERM; echo $$ >>{name}.pids; while :; do sleep 1; done' &
(setsid sh -c 'echo $$ >>{name}.pids; exec sleep 1000' &)
echo $$ >>{name}.pids
while :; do sleep 1; done
"""


def test_a_job_at_its_time_limit_is_ended_with_all_its_processes(make_cluster):
    cluster = make_cluster(nodes=1, cpus=8)
    plain = cluster.submit("sleep 1000", "--time=1")
    stubborn = cluster.submit(STUBBORN.format(name="stubborn"), "--time=1")
    warned = cluster.submit("trap 'echo warned; exit 0' USR1; sleep 1000 & wait", "--time=1",
                            "--signal=B:USR1@50")
    stepped = cluster.submit("srun sleep 1000", "--time=1")
    hang = cluster.dir / "work" / "hang"
    hang.write_text("#!/bin/sh\nexec sleep 1000\n")
    hang.chmod(0o755)
    prologue = cluster.submit(f"srun --task-prolog={hang} echo never", "--time=1")
    os.mkfifo(cluster.dir / "work" / "lonely")  # nobody reads it: the script never starts
    lonely = cluster.submit("true", "--time=1", "-o", "lonely")
    longer = cluster.submit("sleep 1000", "--time=2")
    shell = cluster.popen("salloc", "-K", "--time=1", "sleep", "1000")

    assert cluster.wait_end(warned, timeout=90)["JobState"] == "COMPLETED"
    assert cluster.output(warned) == "warned\n"
    for job in (plain, stubborn, stepped, prologue):
        assert cluster.wait_end(job, timeout=120)["JobState"] == "TIMEOUT"
        assert "DUE TO TIME LIMIT ***" in cluster.output(job)
    assert cluster.wait_end(lonely, timeout=120)["JobState"] == "TIMEOUT"
    cluster.wait_for(lambda: "task 0: Terminated" in cluster.output(stepped), what="srun's last words")
    assert "never" not in cluster.output(prologue)
    said = cluster.output(stepped)
    assert said.count("*** STEP") == 1 and said.count("DUE TO TIME LIMIT ***") == 2
    assert said.count("srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n") == 1
    cluster.wait_for(lambda: cluster.job(stepped, "-d")["DerivedExitCode"] == "0:15", what="the step's exit")
    pids = {int(pid) for pid in (cluster.dir / "work" / "stubborn.pids").read_text().split()}
    assert len(pids) == 4
    cluster.wait_for(lambda: not pids & set(cluster.processes()), what="the end of its processes")
    _, said = shell.communicate(timeout=60)
    assert "has exceeded its time limit and its allocation has been revoked.\n" in said
    assert cluster.state(longer) == "RUNNING"

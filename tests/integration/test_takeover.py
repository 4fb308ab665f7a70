"""What users and administrators see of several controllers: commands that wait while another one takes over, triggers, and
standbys that could not."""

import json
import signal

import pytest


# ---- commands that wait

@pytest.fixture
def filled(pair):
    """All CPUs are in use until the test removes this job."""
    job = pair.submit("sleep 1000", "-N", len(pair.nodes), "--exclusive")
    pair.wait_state(job, "RUNNING")
    yield job
    pair.run("scancel", job)


def pending(cluster):
    return cluster.run("squeue", "-h", "-t", "PD", "-o", "%i").stdout.split()


@pytest.mark.parametrize("words", [["srun", "-N1", "sh", "-c", "echo $SLURM_JOB_ID >>runs.$KIND; echo done"],
                                   ["salloc", "-Q", "-N1", "sh", "-c", "srun sh -c 'echo $SLURM_JOB_ID >>runs.$KIND; echo done'"],
                                   ["sbatch", "--wait", "--wrap", "echo $SLURM_JOB_ID >>runs.$KIND; echo done"]])
def test_commands_wait_for_their_job_across_a_takeover(pair, filled, words):
    active, kind = pair.active(), words[0]
    waiting = pair.popen(*words, env={"KIND": kind})
    pair.wait_for(lambda: len(pending(pair)) == 1, what="the job to wait")
    job = pending(pair)[0]
    pair.kill(active)
    pair.wait_active(pair.other(active))
    assert waiting.poll() is None and pending(pair) == [job]
    pair.run("scancel", filled)
    out, err = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, err
    assert "done" in out or kind == "sbatch"
    assert (pair.dir / "work" / f"runs.{kind}").read_text() == f"{job}\n"
    (pair.dir / "work" / f"runs.{kind}").unlink()
    pair.start_controller(name=active)


def test_a_request_to_a_controller_that_stands_still_is_repeated_to_the_next(pair):
    """The steps of a running job go on while its controller is stopped, and each runs once."""
    job = pair.submit("for i in 1 2 3 4 5 6 7 8 9 10; do srun -n1 sh -c 'echo $SLURM_STEP_ID >>steps' || echo bad >>steps;"
                      " sleep 0.5; done")
    pair.wait_file("steps")
    active = pair.active()
    stopped = pair.daemons[active]
    stopped.send_signal(signal.SIGSTOP)
    try:
        pair.wait_active(pair.other(active))
    finally:
        stopped.send_signal(signal.SIGCONT)
    assert pair.wait_end(job)["JobState"] == "COMPLETED"
    assert (pair.dir / "work" / "steps").read_text().split() == [str(number) for number in range(10)]
    pair.wait_for(lambda: pair.ping().get(active) == "UP", what="the old controller to be a standby")


# ---- what administrators see

def doctor(cluster):
    """The findings about controllers in standby."""
    shown = json.loads(cluster.run("sluice", "doctor", "--json", check=False).stdout)
    assert "standby" in shown["checks"]
    return [each for each in shown["findings"] if each["check"] == "standby"]


def test_a_standby_that_cannot_reach_the_database_is_reported(pair, module_hosts):
    active = pair.active()
    standby = pair.other(active)
    assert doctor(pair) == []
    pair.cut(standby, module_hosts.database)
    try:
        found = pair.wait_for(lambda: doctor(pair), what="a finding of the doctor")
        assert found[0]["subject"] == standby and "it cannot take over: " in found[0]["problem"] and found[0]["remedy"]
        lines = pair.run("scontrol", "ping").stdout.splitlines()
        assert lines[2] == f"Active controller: {active}"
        assert lines[3].startswith(f"{standby} cannot take over: ") and len(lines) == 4
        refused = pair.run("scontrol", "takeover", str(pair.controllers.index(standby)), check=False)
        assert refused.returncode == 1 and "it cannot take over: " in refused.stderr
    finally:
        pair.cut(standby, module_hosts.database, undo=True)
    pair.wait_for(lambda: doctor(pair) == [], what="the standby to be able again")
    assert pair.active() == active


def test_triggers_are_kept_across_takeovers(pair):
    """Those of nodes and of controllers; each event starts a program once, on the controller that is active then."""
    told = pair.dir / "work" / "told"
    program = pair.dir / "etc" / "trigger"
    program.write_text(f"#!/bin/sh\necho \"$@\" >>{told}\n")
    program.chmod(0o755)
    if pair.active() != "c1":
        pair.run("scontrol", "takeover", "0")
    for words in (["--node", "--down"], ["--primary_slurmctld_failure"], ["--backup_slurmctld_assumed_control"],
                  ["--primary_slurmctld_resumed_control"]):
        pair.run("strigger", "--set", *words, "--flags=perm", f"--program={program} {words[-1]}")
    pair.run("strigger", "--set", "--node=n2", "--up", f"--program={program} once")

    def lines():
        return sorted(told.read_text().splitlines()) if told.exists() else []
    assigned = pair.run("strigger", "--get").stdout
    pair.kill("c1")
    pair.wait_active("c2")
    expected = ["--backup_slurmctld_assumed_control backup_slurmctld_assumed_control",
                "--primary_slurmctld_failure primary_slurmctld_failure"]
    pair.wait_for(lambda: lines() == expected, what="the triggers of the takeover")
    assert pair.run("strigger", "--get").stdout == assigned
    pair.wait_for(lambda: pair.node_states() == dict.fromkeys(pair.nodes, "idle"), what="the nodes to register again")
    pair.run("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=trigger")
    expected = sorted([*expected, "--down n2"])
    pair.wait_for(lambda: lines() == expected, what="the trigger of the node")
    pair.start_controller(name="c1")
    pair.run("scontrol", "takeover", "0")
    pair.wait_active("c1")
    pair.run("scontrol", "update", "NodeName=n2", "State=RESUME")
    expected = sorted([*expected, "--primary_slurmctld_resumed_control primary_slurmctld_resumed_control", "once n2"])
    pair.wait_for(lambda: lines() == expected, what="the triggers of the primary")
    left = pair.run("strigger", "--get").stdout
    assert "once" not in left and left.count("PERM") == 4
    pair.run("strigger", "--clear", "--user=root")

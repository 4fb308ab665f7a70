"""strigger: programs that slurmctld runs when something happens to nodes, jobs and daemons."""

import os
import pwd

import pytest
from cluster import wait_for

USER = "nobody"


@pytest.fixture
def cluster(make_cluster, request):
    return make_cluster(extra=getattr(request, "param", ""))


@pytest.fixture
def told(cluster):
    """A program that writes down what it was called with, and by which user."""
    (cluster.dir / "told").mkdir()
    (cluster.dir / "told").chmod(0o777)
    program = cluster.dir / "tell"
    program.write_text(f'#!/bin/sh\necho "$(id -un) $*" >> {cluster.dir}/told/$(id -un)\n')
    program.chmod(0o755)

    def lines(user=pwd.getpwuid(os.getuid()).pw_name):
        path = cluster.dir / "told" / user
        return path.read_text().splitlines() if path.exists() else []

    lines.program = str(program)
    return lines


def set_trigger(cluster, told, *words, program=None, **options):
    return cluster.run("strigger", "--set", *words, f"--program={program or told.program}", **options)


def triggers(cluster, *words):
    return [line.split() for line in cluster.run("strigger", "--get", "-N", *words).stdout.splitlines()]


def test_a_node_that_goes_down_and_comes_back(cluster, told):
    set_trigger(cluster, told, "--node", "--down", program=f"{told.program} down")
    set_trigger(cluster, told, "--node=n1", "--up", program=f"{told.program} up")
    assert [line[1:4] for line in triggers(cluster)] == [["node", "*", "down"], ["node", "n1", "up"]]
    cluster.run("scontrol", "update", "nodename=n[1-2]", "state=down", "reason=test")
    wait_for(told, what="the program to run")
    cluster.run("scontrol", "update", "nodename=n2", "state=resume")
    cluster.run("scontrol", "update", "nodename=n1", "state=resume")
    wait_for(lambda: len(told()) > 1, what="the second program to run")
    me = pwd.getpwuid(os.getuid()).pw_name
    assert told() == [f"{me} down n[1-2]", f"{me} up n1"]
    assert triggers(cluster) == []


def test_a_permanent_trigger_survives_a_restart_of_the_controller(cluster, told):
    set_trigger(cluster, told, "--node", "--drained", "--flags=perm")
    set_trigger(cluster, told, "--node", "--fail")
    cluster.run("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
    wait_for(told, what="the program to run")
    before = triggers(cluster)
    assert [line[6] for line in before] == ["PERM", told.program]
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.wait_for(lambda: set(cluster.node_states().values()) <= {"idle", "drain"}, what="the nodes to be back")
    assert triggers(cluster) == before
    cluster.run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    wait_for(lambda: len(told()) > 1, what="the program to run again")
    assert [line.split()[1] for line in told()] == ["n1", "n2"]
    cluster.run("strigger", "--clear", "--id=1")
    cluster.run("scontrol", "update", "nodename=n2", "state=resume")
    cluster.run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    set_trigger(cluster, told, "--reconfig", program=f"{told.program} later")
    cluster.run("scontrol", "reconfigure")
    wait_for(lambda: len(told()) > 2, what="the third program to run")
    assert told()[2].split()[1:] == ["later", "reconfig"]


def test_the_end_and_the_time_limit_of_a_job(cluster, told):
    job = cluster.submit("sleep 1000", "-t", "10")
    cluster.wait_state(job, "RUNNING")
    set_trigger(cluster, told, f"--jobid={job}", "--fini", program=f"{told.program} fini")
    set_trigger(cluster, told, f"--jobid={job}", "--time", "--offset=-600", program=f"{told.program} time")
    wait_for(told, what="the program of the time limit")
    cluster.run("scancel", job)
    wait_for(lambda: len(told()) > 1, what="the program of the end")
    assert [line.split()[1:] for line in told()] == [["time", str(job)], ["fini", str(job)]]
    refused = set_trigger(cluster, told, f"--jobid={job}", "--fini", check=False)
    assert refused.returncode == 1 and "already completing or completed" in refused.stderr


@pytest.mark.parametrize("cluster", ["SlurmctldParameters=allow_user_triggers"], indirect=True)
def test_each_user_has_its_own_triggers(cluster, told, as_root):
    job = cluster.submit("sleep 1000", user=USER)
    cluster.wait_state(job, "RUNNING")
    set_trigger(cluster, told, f"--jobid={job}", "--fini", user=USER)
    other = cluster.submit("sleep 1000")
    refused = set_trigger(cluster, told, f"--jobid={other}", "--fini", user=USER, check=False)
    assert refused.returncode == 1 and "Access/permission denied" in refused.stderr
    set_trigger(cluster, told, "--node", "--down")
    refused = cluster.run("strigger", "--clear", "--id=2", user=USER, check=False)
    assert refused.returncode == 1 and "Access/permission denied" in refused.stderr
    assert [line[5] for line in triggers(cluster)] == [USER, "root"]
    assert [line[0] for line in triggers(cluster, f"--user={USER}")] == ["1"]
    cluster.run("scancel", job)
    wait_for(lambda: told(USER), what="the program to run")
    assert told(USER) == [f"{USER} {job}"] and told("root") == []


def test_users_set_triggers_only_where_slurm_conf_says_so(cluster, told, as_root):
    job = cluster.submit("sleep 1000", user=USER)
    for words in ([f"--jobid={job}", "--fini"], ["--node", "--down"]):
        refused = set_trigger(cluster, told, *words, user=USER, check=False)
        assert refused.returncode == 1 and "SlurmctldParameters=allow_user_triggers" in refused.stderr
    assert triggers(cluster) == []
    cluster.extra = "SlurmctldParameters=allow_user_triggers,disable_triggers"
    cluster.write_config()
    cluster.run("scontrol", "reconfigure")
    for user in (USER, None):
        refused = set_trigger(cluster, told, "--node", "--down", user=user, check=False)
        assert refused.returncode == 1 and "SlurmctldParameters=disable_triggers" in refused.stderr
    assert triggers(cluster) == []
    cluster.run("scancel", job)


@pytest.mark.parametrize("words, error", [
    (["--set", "--down"], "You must specify a --program value"),
    (["--set", "--down", "--program=relative"], 'The --program value must start with "/"'),
    (["--set", "--down", "--program=/nonexistent"], "Invalid --program value, file not found"),
    (["--set", "--program=/bin/true"], "You must specify a trigger"),
    (["--set", "--fini", "--program=/bin/true"], "You must specify a --jobid value"),
    (["--set", "--fini", "--jobid=99", "--program=/bin/true"], "Invalid job id specified"),
    (["--set", "--down", "--node=n9", "--program=/bin/true"], "Invalid node name specified"),
    (["--set", "--down", "--offset=32001", "--program=/bin/true"], "--offset parameter must be between"),
    (["--set", "--down", "--flags=often", "--program=/bin/true"], "Invalid flags often"),
    (["--set", "--burst_buffer", "--program=/bin/true"], "--burst_buffer is not supported"),
    (["--set", "--get"], "exactly one of the following options"),
    (["--get", "--user=nosuchuser"], "Invalid user nosuchuser"),
    (["--clear"], "You must specify a --id, --jobid, or --user"),
    (["--clear", "--id=77"], "No such process"),
    (["--get", "extra"], "Unrecognized option: extra"),
])
def test_what_cannot_be_done_is_refused(shared, words, error):
    refused = shared.run("strigger", *words, check=False)
    assert refused.returncode == 1 and error in refused.stderr
    assert shared.run("strigger", "--get").stdout == ""


def test_the_same_trigger_is_set_once(shared):
    words = ["strigger", "--set", "--node", "--down", "--program=/bin/true"]
    shared.run(*words)
    refused = shared.run(*words, check=False)
    assert refused.returncode == 1 and "Duplicate event trigger" in refused.stderr
    shown = shared.run("strigger", "--get").stdout.splitlines()
    assert shown[0] == "TRIG_ID RES_TYPE   RES_ID TYPE                                OFFSET USER     FLAGS PROGRAM"
    assert len(shown) == 2
    number = shown[1].split()[0]
    shared.run("strigger", "--clear", f"--id={number}")
    shared.run("strigger", "--clear", f"--id={number}", "-Q")


def test_a_program_that_does_not_end_keeps_no_other_from_running(cluster, told):
    endless = cluster.dir / "endless"
    endless.write_text(f"#!/bin/sh\nwhile [ ! -e {cluster.dir}/go ]; do sleep 0.1; done\n{told.program} ended\n")
    endless.chmod(0o755)
    set_trigger(cluster, told, "--reconfig", program=str(endless))
    set_trigger(cluster, told, "--reconfig")
    cluster.run("scontrol", "reconfigure")
    wait_for(told, what="the other program to run")
    (cluster.dir / "go").touch()
    wait_for(lambda: len(told()) == 2, what="the first program to end")

"""scontrol reboot: RebootProgram runs on the node once it is idle, and the node is back with a new boot."""

import json
import os
import signal

import pytest

# Ends the slurmd of its node, waits until the test lets the machine come up, and starts it anew.
PROGRAM = """#!/bin/sh
echo "$SLURMD_NODENAME $*" >> {dir}/work/reboots
kill $(cat {dir}/slurmd-$SLURMD_NODENAME.pid)
while [ -e {dir}/slurmd-$SLURMD_NODENAME.pid ] || [ ! -e {dir}/work/go ]; do sleep 0.05; done
SLUICE_CLUSTER_DIR={dir} exec {prefix}/sbin/slurmd -b -N $SLURMD_NODENAME
"""


@pytest.fixture
def bootable(make_cluster):
    cluster = make_cluster(start=False)
    program = cluster.dir / "etc" / "reboot"
    program.write_text(PROGRAM.format(dir=cluster.dir, prefix=cluster.prefix))
    os.chmod(program, 0o755)
    cluster.extra = f'RebootProgram="{program} soon"\nResumeTimeout=60\n'
    cluster.write_config()
    cluster.start()
    yield cluster
    for pid_file in cluster.dir.glob("slurmd-*.pid"):  # those that the program has started
        if not cluster.alive(pid_file.stem.removeprefix("slurmd-")):
            os.kill(int(pid_file.read_text()), signal.SIGTERM)
            cluster.wait_for(lambda: not pid_file.exists(), what="slurmd to end")


def node(cluster, name):
    return cluster.run("scontrol", "show", "node", name).stdout


def sinfo(cluster, name):
    return cluster.run("sinfo", "-h", "-n", name, "-o", "%t|%T|%E").stdout.strip()


def test_a_busy_node_is_rebooted_when_its_job_is_over(bootable):
    cluster = bootable
    job = cluster.submit("sleep 300", "-w", "n1")
    cluster.wait_state(job, "RUNNING")
    cluster.run("scontrol", "reboot", "ASAP", "reason=new kernel", "n1")
    assert "State=MIXED+DRAIN+REBOOT_REQUESTED" in node(cluster, "n1")
    assert "NextState=RESUME" in node(cluster, "n1")
    told = json.loads(cluster.run("scontrol", "show", "node", "--json").stdout)["nodes"]
    assert [each["next_state_after_reboot"] for each in told] == [["RESUME"], ["INVALID"]]
    assert sinfo(cluster, "n1") == "drng@|draining@|new kernel"
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.run("scontrol", "cancel_reboot", "n1")
    cluster.wait_for(lambda: "State=MIXED " in node(cluster, "n1"), what="n1 to respond")
    assert "Reason=" not in node(cluster, "n1")
    cluster.run("scontrol", "reboot", "ASAP", "reason=new kernel", "n1")

    cluster.run("scancel", job)
    cluster.wait_for(lambda: "DOWN+DRAIN+REBOOT_ISSUED+NOT_RESPONDING" in node(cluster, "n1"), what="the reboot")
    assert sinfo(cluster, "n1") == "boot^|reboot^|new kernel : reboot issued"
    late = cluster.run("scontrol", "cancel_reboot", "n1", check=False)
    assert (late.returncode, late.stderr) == (1, "slurm_update error: Invalid node state specified\n")
    cluster.daemons.pop("n1").wait(timeout=30)
    cluster.kill("slurmctld")
    cluster.start_controller()
    (cluster.dir / "work" / "go").touch()
    cluster.wait_for(lambda: sinfo(cluster, "n1") == "idle|idle|none", what="n1 to be back")
    assert (cluster.dir / "work" / "reboots").read_text() == "n1 soon\n"
    record, _ = cluster.run_job("true", "-w", "n1")
    assert record["JobState"] == "COMPLETED"


def test_an_order_that_comes_again_runs_no_second_program(bootable):
    """slurmd gets it with each registration until the machine goes down."""
    cluster = bootable
    log, reboots = cluster.dir / "log" / "n2.log", cluster.dir / "work" / "reboots"
    (cluster.dir / "etc" / "reboot").write_text(f"#!/bin/sh\necho $SLURMD_NODENAME $* >> {reboots}\n"
                                                f"while [ ! -e {cluster.dir}/work/go ]; do sleep 0.05; done\n")
    cluster.run("scontrol", "reboot", "n2")
    cluster.wait_for(reboots.exists, what="the program")
    for count in (2, 3):
        cluster.kill("slurmctld")
        cluster.start_controller()
        cluster.wait_for(lambda: log.read_text().count("registered with") >= count, what="a registration")
    cluster.kill("n2", signal.SIGTERM)  # it has done what it was told to
    assert log.read_text().count("reboot: running") == 1
    assert reboots.read_text() == "n2 soon\n"
    (cluster.dir / "work" / "go").touch()


def test_nextstate_down_leaves_the_node_down(bootable):
    cluster = bootable
    (cluster.dir / "work" / "go").touch()
    cluster.run("scontrol", "reboot", "nextstate=DOWN", "n2")
    cluster.wait_for(lambda: "reboot complete" in node(cluster, "n2"), what="the reboot to be complete")
    assert sinfo(cluster, "n2") == "down|down|reboot requested : reboot issued : reboot complete"
    cluster.daemons.pop("n2").wait(timeout=30)
    cluster.run("scontrol", "update", "NodeName=n2", "State=RESUME")
    assert sinfo(cluster, "n2") == "idle|idle|none"


def test_what_is_wrong_is_said(cluster):
    def refused(*words):
        result = cluster.run("scontrol", *words, check=False)
        assert result.returncode == 1
        return result.stderr

    assert refused("reboot", "n1") == ("scontrol: error: RebootProgram isn't defined\n"
                                       "scontrol_reboot_nodes error: Unspecified error\n")
    assert refused("reboot") == "Missing node list. Specify ALL|<NodeList>\n"
    assert refused("reboot", "nextstate=x", "n1") == "Invalid state: x\nValid states: DOWN, RESUME\n"
    assert refused("reboot", "n1", "extra") == "too many arguments for keyword:reboot\n"
    assert "FORCE" in refused("reboot", "FORCE", "n1")
    assert refused("cancel_reboot") == "missing argument for keyword:cancel_reboot\n"
    assert refused("cancel_reboot", "n1") == "slurm_update error: Invalid node state specified\n"
    assert "POWER_DOWN" in refused("update", "NodeName=n1", "State=POWER_DOWN")

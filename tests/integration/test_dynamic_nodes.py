"""Dynamic nodes: slurmd -Z and scontrol create NodeName= add nodes that no slurm.conf has."""

import os
import signal

import pytest


@pytest.fixture
def dynamic(make_cluster):
    """n1 is in slurm.conf; ports of two more nodes are free."""
    cluster = make_cluster(start=False, nodes=3, extra="MaxNodeCount=3\n",
                           partitions="NodeSet=fast Feature=fast\nPartitionName=debug Nodes=ALL Default=YES\n"
                                      "PartitionName=fast Nodes=fast\nPartitionName=fixed Nodes=n1")
    cluster.nodes = ["n1"]
    cluster.write_config()
    cluster.checked = False
    cluster.start_controller()
    cluster.start_node("n1")
    yield cluster
    for name in ("d1", "d2"):
        if cluster.alive(name):
            cluster.kill(name, signal.SIGTERM)


def start_dynamic(cluster, name, port, conf="", wait=True):
    """slurmd -Z: the port must not be the one of another slurmd here."""
    number = cluster.ports.numbers[port]
    cluster.start_daemon(name, "slurmd", "-D", "-Z", "-N", name, "--conf", f"Port={number} CPUs=4 RealMemory=2000 {conf}")
    if wait:
        cluster.wait_for(lambda: cluster.node_state(name) in ("idle", "mix"), what=f"{name} to register")


def show(cluster, name):
    return cluster.run("scontrol", "show", "node", name, check=False).stdout


def test_a_node_registers_itself_and_takes_jobs(dynamic):
    cluster = dynamic
    start_dynamic(cluster, "d1", 2, "Feature=fast,new")
    text = show(cluster, "d1")
    assert "State=IDLE+DYNAMIC_NORM" in text and "AvailableFeatures=fast,new" in text and "CPUTot=4" in text
    assert cluster.run("sinfo", "-h", "-p", "debug", "-o", "%N").stdout in ("d1,n1\n", "n1,d1\n")
    assert cluster.run("sinfo", "-h", "-p", "fast", "-o", "%N").stdout == "d1\n"
    assert cluster.run("sinfo", "-h", "-p", "fixed", "-o", "%N").stdout == "n1\n"
    record, output = cluster.run_job("srun -N2 -n2 -l hostname >/dev/null && echo ran", "-N2")
    assert (record["JobState"], record["NumNodes"], output) == ("COMPLETED", "2", "ran\n")
    record, _ = cluster.run_job("srun true", "-C", "fast")
    assert (record["JobState"], record["NodeList"]) == ("COMPLETED", "d1")


def test_nodes_and_jobs_survive_restarts_and_reconfiguration(dynamic):
    cluster = dynamic
    start_dynamic(cluster, "d1", 2, "Feature=fast")
    job = cluster.submit("while [ ! -e go ]; do sleep 0.1; done", "-p", "fast")
    cluster.wait_state(job, "RUNNING")
    cluster.run("scontrol", "reconfigure")
    assert cluster.state(job) == "RUNNING" and "AvailableFeatures=fast" in show(cluster, "d1")
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.wait_for(lambda: cluster.node_state("d1") == "mix", what="d1 to be back")
    assert cluster.state(job) == "RUNNING" and "State=MIXED+DYNAMIC_NORM" in show(cluster, "d1")
    record, _ = cluster.run_job("true", "-p", "fast")
    assert (record["JobState"], record["NodeList"]) == ("COMPLETED", "d1")
    cluster.kill("d1")
    start_dynamic(cluster, "d1", 2, "Feature=fast")
    (cluster.dir / "work" / "go").touch()
    cluster.wait_state(job, "COMPLETED")


def test_nodes_are_created_and_deleted_with_scontrol(dynamic):
    cluster = dynamic

    def scontrol(*words):
        return cluster.run("scontrol", *words, check=False)

    port = cluster.ports.numbers[2]
    assert scontrol("create", "NodeName=d1", "CPUs=4", "RealMemory=2000", f"Port={port}", "Feature=fast",
                    "Reason=two words").returncode == 0
    assert "State=UNKNOWN+DYNAMIC_NORM+NOT_RESPONDING" in show(cluster, "d1")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert "AvailableFeatures=fast" in show(cluster, "d1")
    job = cluster.submit("sleep 300", "-p", "fast")
    assert cluster.state(job) == "PENDING"
    start_dynamic(cluster, "d1", 2)
    cluster.wait_state(job, "RUNNING")
    busy = scontrol("delete", "NodeName=d1")
    assert busy.returncode == 1 and "d1 has jobs" in busy.stderr
    fixed = scontrol("delete", "NodeName=n1")
    assert fixed.returncode == 1 and "n1 is in slurm.conf" in fixed.stderr
    cluster.run("scancel", job)
    cluster.wait_for(lambda: cluster.node_state("d1") == "idle", what="d1 to be idle")
    cluster.kill("d1", signal.SIGTERM)
    assert scontrol("delete", "NodeName=d1").returncode == 0
    assert cluster.run("sinfo", "-h", "-N", "-o", "%N").stdout.split() == ["n1", "n1"]
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert "not found" in cluster.run("scontrol", "show", "node", "d1", check=False).stdout + \
        cluster.run("scontrol", "show", "node", "d1", check=False).stderr
    gone = scontrol("delete", "NodeName=d1")
    assert gone.returncode == 1 and "d1" in gone.stderr


def test_what_is_refused(dynamic):
    cluster = dynamic

    def refused(*words, user=None):
        result = cluster.run("scontrol", *words, check=False, user=user)
        assert result.returncode == 1, words
        return result.stderr

    assert "n1 exists already" in refused("create", "NodeName=n1")
    assert "MaxNodeCount=3" in refused("create", "NodeName=d[1-3]")
    assert "CPUs=many" in refused("create", "NodeName=d1", "CPUs=many")
    assert "Colour" in refused("create", "NodeName=d1", "Colour=red")
    assert "NodeSet" in refused("create", "NodeName=fast")
    assert cluster.run("sinfo", "-h", "-N", "-p", "debug", "-o", "%N").stdout == "n1\n"
    if os.getuid() == 0:
        assert "permission" in refused("create", "NodeName=d1", user="nobody").lower()

    def log():
        return (cluster.dir / "log" / "slurmctld.log").read_text()

    start_dynamic(cluster, "d1", 2)
    cluster.run("scontrol", "create", "NodeName=x1")
    start_dynamic(cluster, "d2", 3, wait=False)
    cluster.wait_for(lambda: "MaxNodeCount=3" in log(), what="the refusal of d2")
    assert "d2" not in cluster.node_states()


def test_a_dynamic_node_with_a_name_of_slurm_conf(dynamic):
    cluster = dynamic
    result = cluster.run(f"{cluster.prefix}/sbin/slurmd", "-D", "-Z", "-N", "n1", check=False)
    assert result.returncode == 1 and "n1 is in slurm.conf" in result.stderr


@pytest.mark.parametrize("options, said", [(["-Z", "--conf", "CPUs=x"], "CPUs=x"), (["--conf", "CPUs=1"], "needs -Z"),
                                           (["-F"], "-F"), (["--conf-server", "host"], "--conf-server"),
                                           (["-Z", "--conf", "NodeName=y"], "-N")])
def test_options_of_slurmd(dynamic, options, said):
    cluster = dynamic
    result = cluster.run(f"{cluster.prefix}/sbin/slurmd", "-D", "-N", "d1", *options, check=False)
    assert result.returncode == 1 and said in result.stderr

"""HealthCheckProgram: before a node registers, and again and again."""

import pytest


def cluster_with(make_cluster, body, extra):
    cluster = make_cluster(start=False)
    program = cluster.dir / "health"
    program.write_text(f"#!/bin/sh\n{body.format(dir=cluster.dir)}\n")
    program.chmod(0o755)
    cluster.extra = f"HealthCheckProgram={program}\n{extra}"
    cluster.write_config()
    return cluster


def lines(cluster, name):
    path = cluster.dir / "work" / name
    return path.read_text().splitlines() if path.exists() else []


def test_the_program_runs_before_the_node_registers_and_again(make_cluster):
    body = """echo $SLURMD_NODENAME >> {dir}/work/checked
        while [ -e {dir}/work/wait ]; do sleep 0.05; done
        if [ -e {dir}/work/sick.$SLURMD_NODENAME ]; then
            scontrol update NodeName=$SLURMD_NODENAME State=DRAIN Reason=sick; fi"""
    cluster = cluster_with(make_cluster, body.replace("scontrol", "{dir}/scontrol"), "HealthCheckInterval=1")
    (cluster.dir / "scontrol").symlink_to(cluster.prefix / "bin" / "scontrol")
    (cluster.dir / "work" / "wait").touch()
    cluster.start_controller()
    cluster.start_node("n1", wait=False)
    cluster.start_node("n2", wait=False)
    cluster.wait_for(lambda: sorted(lines(cluster, "checked")) == ["n1", "n2"], what="the first checks")
    assert not {"idle"} & set(cluster.node_states().values())
    (cluster.dir / "work" / "wait").unlink()
    cluster.wait_for(lambda: cluster.node_states() == {"n1": "idle", "n2": "idle"}, what="the nodes")
    cluster.wait_for(lambda: lines(cluster, "checked").count("n1") >= 3, what="more checks")
    (cluster.dir / "work" / "sick.n2").touch()
    cluster.wait_for(lambda: cluster.node_states() == {"n1": "idle", "n2": "drain"}, what="n2 to be drained")


def test_a_program_that_hangs_is_killed(make_cluster):
    cluster = cluster_with(make_cluster, "echo $$ >> {dir}/work/pids; exec sleep 1000", "HealthCheckTimeout=1")
    cluster.start()
    pids = {int(line) for line in lines(cluster, "pids")}
    assert len(pids) == 2 and not pids & set(cluster.processes())


@pytest.mark.parametrize("words, wanted", [("REBOOT_ONLY", 1), ("START_ONLY", 2)])
def test_it_may_run_at_the_start_only(make_cluster, words, wanted):
    cluster = cluster_with(make_cluster, "[ $SLURMD_NODENAME = n2 ] || echo >> {dir}/work/checked",
                           f"HealthCheckInterval=1\nHealthCheckNodeState={words}")
    cluster.start()
    cluster.kill("n1")
    cluster.start_node("n1")
    assert len(lines(cluster, "checked")) == wanted
    assert cluster.run_job("true")[0]["JobState"] == "COMPLETED"
    assert len(lines(cluster, "checked")) == wanted

"""Power saving: SuspendProgram stops the slurmd of a node and ResumeProgram starts it, as if it were its machine."""

import json
import os
import signal
import time

import pytest

# Each writes its nodes into work/NAME; a file work/NAME.fail or work/NAME.hang says what goes wrong.
COMMON = """#!/bin/sh
export SLUICE_CLUSTER_DIR={dir}
echo "$1" >> {dir}/work/{name}
[ -e {dir}/work/{name}.hang ] && {{ sleep 300; exit 0; }}
[ -e {dir}/work/{name}.fail ] && exit 3
[ "$SLURM_RESUME_FILE" ] && cat $SLURM_RESUME_FILE >> {dir}/work/{name}.json
"""
SUSPEND = COMMON + """
for node in $({prefix}/bin/scontrol show hostnames $1); do
    [ -e {dir}/slurmd-$node.pid ] && kill $(cat {dir}/slurmd-$node.pid)
done
exit 0
"""
RESUME = COMMON + """
for node in $({prefix}/bin/scontrol show hostnames $1); do
    while [ -e {dir}/slurmd-$node.pid ]; do sleep 0.05; done
    while [ -e {dir}/work/$node.wait ]; do sleep 0.05; done
    [ -e {dir}/work/$node.broken ] || {prefix}/sbin/slurmd -b -N $node > {dir}/log/$node.boot 2>&1
done
exit 0
"""


class Power:
    """n1 is always on; the others are CLOUD nodes."""

    def __init__(self, cluster, lines, partitions=None, start=True):
        self.cluster, self.work = cluster, cluster.dir / "work"
        for name, text in (("suspend", SUSPEND), ("resume", RESUME), ("resumefail", COMMON)):
            path = cluster.dir / "etc" / name
            path.write_text(text.format(dir=cluster.dir, prefix=cluster.prefix, name=name))
            os.chmod(path, 0o755)
        etc = cluster.dir / "etc"
        self.programs = f"SuspendProgram={etc}/suspend\nResumeProgram={etc}/resume\nResumeFailProgram={etc}/resumefail\n"
        cluster.extra = (f"{self.programs}SlurmctldParameters=power_save_interval=1\n"
                         f"SuspendTimeout=1\nResumeTimeout=60\n{lines}\n")
        cluster.write_config()
        cluster.checked = False  # its nodes are started and stopped by the programs
        if start:
            cluster.start_controller()
            cluster.start_node("n1")

    def calls(self, program):
        path = self.work / program
        return path.read_text().splitlines() if path.exists() else []

    def wait_node(self, node, state):
        self.cluster.wait_for(lambda: self.cluster.node_state(node) == state, what=f"{node} to be {state}")

    def reconfigure(self, old, new):
        self.cluster.extra = self.cluster.extra.replace(old, new)
        self.cluster.write_config()
        self.cluster.run("scontrol", "reconfigure")

    def restart(self):
        self.cluster.kill("slurmctld")
        self.cluster.start_controller()

    def stop(self):
        """The slurmd that the programs have started."""
        for name in [*self.cluster.nodes, "d1", "d2"]:
            path = self.cluster.dir / f"slurmd-{name}.pid"
            if self.cluster.alive(name) or not path.exists():
                continue
            os.kill(int(path.read_text()), signal.SIGTERM)
            self.cluster.wait_for(lambda path=path: not path.exists(), what=f"{name} to end")


@pytest.fixture
def power(make_cluster):
    made = []

    def make(lines="", nodes=3, state="State=CLOUD", partitions=None, start=True):
        cluster = make_cluster(start=False, nodes=nodes, partitions=partitions,
                               node_extra={f"n{i}": state for i in range(2, nodes + 1)})
        made.append(Power(cluster, lines, start=start))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def show_node(power, name):
    return power.cluster.run("scontrol", "show", "node", name).stdout


def test_a_job_is_configuring_until_all_its_nodes_have_booted(power):
    power = power()
    cluster = power.cluster
    assert cluster.node_states() == {"n1": "idle", "n2": "idle~", "n3": "idle~"}
    assert "State=IDLE+CLOUD+POWERED_DOWN" in show_node(power, "n2")
    (power.work / "n3.wait").touch()
    job = cluster.submit("srun -N2 hostname; echo ran", "-N2", "-w", "n[2-3]", "-t", "1")
    cluster.wait_for(lambda: power.calls("resume"), what="ResumeProgram")
    power.wait_node("n2", "mix")
    assert cluster.run("squeue", "-h", "-o", "%t|%T|%N").stdout == "CF|CONFIGURING|n[2-3]\n"
    assert cluster.node_state("n3") == "mix#"
    assert "State=MIXED+CLOUD+NOT_RESPONDING+POWERING_UP" in show_node(power, "n3")
    booted = time.time()
    (power.work / "n3.wait").unlink()
    cluster.wait_state(job, "COMPLETED")
    assert cluster.output(job).endswith("ran\n")
    assert power.calls("resume") == ["n[2-3]"]
    started = cluster.run("squeue", "-h", "-t", "all", "-j", job, "--Format=StartTime:.30").stdout.strip()
    assert time.mktime(time.strptime(started, "%Y-%m-%dT%H:%M:%S")) >= int(booted)
    told = json.loads((power.work / "resume.json").read_text())
    assert told["all_nodes_resume"] == "n[2-3]"
    assert told["jobs"] == [{"extra": None, "job_id": int(job), "features": None, "nodes_alloc": "n[2-3]",
                             "nodes_resume": "n[2-3]", "oversubscribe": "NO", "partition": "debug",
                             "reservation": None}]


def test_idle_nodes_are_switched_off_and_on_again_for_jobs(power):
    power = power("SuspendTime=3\nSuspendExcNodes=n1")
    cluster = power.cluster
    cluster.run("scontrol", "update", "NodeName=n2", "State=POWER_UP")
    power.wait_node("n2", "idle")
    job = cluster.submit("sleep 5", "-w", "n2")
    cluster.wait_end(job)
    ended = time.time()
    power.wait_node("n2", "idle~")
    assert time.time() - ended >= 3
    assert power.calls("suspend") == ["n2"]  # n1 is excepted, n3 was never on
    assert cluster.node_state("n1") == "idle"
    record, _ = cluster.run_job("true", "-w", "n2")
    assert record["JobState"] == "COMPLETED"
    assert power.calls("resume") == ["n2", "n2"]


def test_states_that_administrators_ask_for(power):
    power = power(nodes=2)
    cluster = power.cluster

    def update(state, *more):
        return cluster.run("scontrol", "update", "NodeName=n2", f"State={state}", *more, check=False)

    assert update("POWER_UP").returncode == 0
    power.wait_node("n2", "idle")
    job = cluster.submit("sleep 300", "-w", "n2")
    cluster.wait_state(job, "RUNNING")
    assert update("POWER_DOWN").returncode == 0
    assert cluster.node_state("n2") == "mix!"
    assert "State=MIXED+CLOUD+POWER_DOWN" in show_node(power, "n2")
    assert update("RESUME").returncode == 0
    assert cluster.node_state("n2") == "mix"
    assert update("POWER_DOWN_ASAP", "Reason=later").returncode == 0
    assert "State=MIXED+CLOUD+DRAIN+POWER_DOWN+POWER_DRAIN" in show_node(power, "n2")
    assert power.calls("suspend") == []
    cluster.run("scancel", job)
    power.wait_node("n2", "idle~")
    assert "Reason=" not in show_node(power, "n2")
    assert power.calls("suspend") == ["n2"]
    assert update("POWER_UP").returncode == 0
    power.wait_node("n2", "idle")
    job = cluster.submit("trap '' TERM; sleep 300", "-w", "n2", "--no-requeue")
    cluster.wait_state(job, "RUNNING")
    assert update("POWER_DOWN_FORCE").returncode == 0
    cluster.wait_state(job, "NODE_FAIL")
    power.wait_node("n2", "idle~")
    assert power.calls("suspend") == ["n2", "n2"]
    assert cluster.run("sinfo", "-h", "-t", "powered_down", "-o", "%N").stdout == "n2\n"
    assert cluster.run("scontrol", "power", "up", "n2").returncode == 0
    power.wait_node("n2", "idle")
    assert cluster.run("scontrol", "power", "down", "asap", "n2", "Reason=later").returncode == 0
    power.wait_node("n2", "idle~")
    for words in (["sideways", "n2"], ["down"], ["down", "force"], ["up", "n2", "now"]):
        wrong = cluster.run("scontrol", "power", *words, check=False)
        assert wrong.returncode == 1 and wrong.stderr, words
    unknown = update("POWER_SAVE")
    assert unknown.returncode == 1 and "POWER_DOWN_ASAP" in unknown.stderr


def test_a_node_that_does_not_boot_is_down_and_its_job_runs_elsewhere(power):
    power = power("ResumeTimeout=3")
    cluster = power.cluster
    (power.work / "n2.broken").touch()
    job = cluster.submit("true", "-w", "n2")
    other = cluster.submit("true", "--exclude=n1", "-N1", "--begin=now")
    power.wait_node("n2", "down~")
    assert cluster.run("sinfo", "-h", "-n", "n2", "-o", "%E").stdout == "ResumeTimeout reached\n"
    assert cluster.wait_for(lambda: power.calls("resumefail"), what="ResumeFailProgram") == ["n2"]
    cluster.wait_end(other)
    assert cluster.job(other)["NodeList"] in ("n2", "n3")
    cluster.wait_for(lambda: cluster.job(job)["JobState"] == "PENDING", what="the requeued job")
    (power.work / "n2.broken").unlink()
    cluster.run("scontrol", "update", "NodeName=n2", "State=RESUME")
    cluster.wait_end(job)
    assert cluster.job(job)["JobState"] == "COMPLETED" and cluster.job(job)["Restarts"] == "1"


@pytest.mark.parametrize("trouble", ["fail", "hang", "missing"])
def test_a_resume_program_that_does_not_work(power, trouble):
    power = power("ResumeTimeout=3", nodes=2)
    cluster = power.cluster
    program = cluster.dir / "etc" / "resume"
    if trouble == "missing":
        program.rename(program.with_name("away"))
    else:
        (power.work / f"resume.{trouble}").touch()
    job = cluster.submit("true", "-w", "n2")
    cluster.wait_for(lambda: cluster.state(job) == "CONFIGURING", what="the job to wait")
    record, _ = cluster.run_job("true", "-w", "n1")  # the controller does not wait for the program
    assert record["JobState"] == "COMPLETED"
    power.wait_node("n2", "down~")
    log = (cluster.dir / "log" / "slurmctld.log").read_text()
    said = {"fail": "failed, wait status", "hang": "killed, it took too long", "missing": "No such file"}[trouble]
    cluster.wait_for(lambda: said in (cluster.dir / "log" / "slurmctld.log").read_text(), what=said)
    assert "ResumeProgram" in log
    if trouble == "hang":  # nothing of it is left
        cluster.wait_for(lambda: not any("sleep 300" in line for line in cluster.processes().values()),
                         what="the end of the program")


def test_everything_continues_when_the_controller_is_killed(power):
    power = power("SuspendTimeout=4\nSuspendTime=300", nodes=2)
    cluster = power.cluster
    (power.work / "n2.wait").touch()
    job = cluster.submit("sleep 2", "-w", "n2")
    cluster.wait_for(lambda: power.calls("resume"), what="ResumeProgram")
    cluster.wait_for(lambda: "ResumeProgram: " in (cluster.dir / "log" / "slurmctld.log").read_text(), what="the log")
    power.restart()
    assert cluster.node_state("n2") == "mix#"
    assert cluster.state(job) == "CONFIGURING"
    (power.work / "n2.wait").unlink()
    cluster.wait_state(job, "RUNNING")
    power.restart()
    cluster.wait_state(job, "COMPLETED")
    assert power.calls("resume") == ["n2"]
    cluster.run("scontrol", "update", "NodeName=n2", "State=POWER_DOWN")
    power.wait_node("n2", "idle%")
    cluster.wait_for(lambda: power.calls("suspend"), what="SuspendProgram")
    power.restart()
    assert cluster.node_state("n2") in ("idle%", "idle~")
    power.wait_node("n2", "idle~")
    power.restart()
    assert cluster.node_state("n2") == "idle~"
    assert power.calls("suspend") == ["n2"]


def test_rates_limit_how_many_nodes_a_program_gets(power):
    power = power("ResumeRate=2", nodes=4)
    cluster = power.cluster
    job = cluster.submit("true", "-N3", "-w", "n[2-4]")
    cluster.wait_for(lambda: power.calls("resume"), what="ResumeProgram")
    power.wait_node("n3", "mix")
    assert power.calls("resume") == ["n[2-3]"]
    assert cluster.node_state("n4") == "mix~"
    power.restart()  # the nodes of the last minute count
    time.sleep(2.5)  # nothing may happen during two rounds
    assert power.calls("resume") == ["n[2-3]"]
    power.reconfigure("ResumeRate=2", "ResumeRate=0")
    cluster.wait_state(job, "COMPLETED")
    assert power.calls("resume") == ["n[2-3]", "n4"]


def test_a_job_that_is_cancelled_during_the_boot_is_gone_at_once(power):
    power = power(nodes=2)
    cluster = power.cluster
    (power.work / "n2.wait").touch()
    job = cluster.submit("true", "-w", "n2")
    cluster.wait_for(lambda: power.calls("resume"), what="ResumeProgram")
    cluster.run("scancel", job)
    assert cluster.state(job) == "CANCELLED"
    assert cluster.node_state("n2") == "idle#"
    (power.work / "n2.wait").unlink()
    power.wait_node("n2", "idle")


def test_power_down_on_idle_and_the_keys_of_partitions(power):
    partitions = ("PartitionName=debug Nodes=ALL Default=YES\n"
                  "PartitionName=once Nodes=n2 PowerDownOnIdle=YES SuspendTime=600 ResumeTimeout=90 SuspendTimeout=2")
    power = power(nodes=2, partitions=partitions)
    cluster = power.cluster
    shown = cluster.run("scontrol", "show", "partition", "once").stdout
    assert "ResumeTimeout=90 SuspendTimeout=2 SuspendTime=600 PowerDownOnIdle=YES" in shown
    assert "PowerDownOnIdle" not in cluster.run("scontrol", "show", "partition", "debug").stdout
    assert "SuspendTime=INFINITE" in show_node(power, "n1")
    record, _ = cluster.run_job("true", "-p", "once")
    assert record["JobState"] == "COMPLETED"
    power.wait_node("n2", "idle~")
    assert power.calls("suspend") == ["n2"]


def test_a_node_is_resumed_after_a_time(power):
    power = power(nodes=2)
    cluster = power.cluster
    before = int(time.time())
    cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=check", "ResumeAfter=3")
    assert "ResumeAfterTime=2" in show_node(power, "n1")
    power.restart()
    assert cluster.node_state("n1") in ("drain", "drain*")
    power.wait_node("n1", "idle")
    assert time.time() - before >= 3
    assert "ResumeAfterTime=None" in show_node(power, "n1")
    wrong = cluster.run("scontrol", "update", "NodeName=n1", "ResumeAfter=soon", check=False)
    assert wrong.returncode == 1 and "ResumeAfter=soon" in wrong.stderr


def test_wrong_values_are_refused(power):
    power = power(nodes=2, start=False)
    cluster = power.cluster
    for line in ("SuspendExcNodes=n[1", "SuspendExcParts=nosuch", "SuspendExcStates=HAPPY", "SuspendRate=-1",
                 "SuspendTime=soon", "SlurmctldParameters=power_save_interval=0"):
        cluster.extra = f"{power.programs}{line}\n"
        cluster.write_config()
        result = cluster.run(f"{cluster.prefix}/sbin/slurmctld", "-D", check=False)
        assert result.returncode != 0 and line.split("=")[0] in result.stderr, (line, result.stderr)

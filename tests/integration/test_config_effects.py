"""Keys of slurm.conf by what they change, and what becomes of those that Sluice does not act on."""

import os
import re
import subprocess
from pathlib import Path
from socket import AF_UNIX, SOCK_DGRAM, create_connection, socket
from threading import Thread

import pytest

from cluster import Cluster, process_state, wait_for
from test_devices import OWN_DEV

SHELL_IN_A_STEP = """LaunchParameters=use_interactive_step
InteractiveStepOptions="--interactive --preserve-env /bin/sh"
"""


@pytest.fixture(scope="module")
def site():
    """Commands read slurm.conf themselves: tests of what they do only rewrite it."""
    cluster = Cluster()
    try:
        yield cluster.start()
    finally:
        cluster.extra = ""
        cluster.write_config()
        cluster.stop()


def rewrite(cluster, lines):
    cluster.extra = lines
    cluster.write_config()


# ---- keys that commands act on

def test_kill_on_bad_exit(site):
    body = "[ $SLURM_PROCID = 1 ] || exit 5; exec sleep 1000"
    rewrite(site, "KillOnBadExit=1")
    assert site.run("srun", "-n2", "sh", "-c", body, check=False).returncode != 0
    rewrite(site, "")
    step = site.popen("srun", "-n2", "-K0", "sh", "-c", f"echo up; {body}")
    assert step.stdout.readline() and step.stdout.readline()
    site.run("scancel", "-u", "root")
    step.communicate(timeout=60)


def test_wait_time(site):
    rewrite(site, "WaitTime=1")
    body = "[ $SLURM_PROCID = 1 ] || exit 0; exec sleep 1000"
    result = site.run("srun", "-n2", "sh", "-c", body, check=False)
    assert "First task exited 1s ago" in result.stderr


def test_job_file_append(site):
    for append, lines in (("1", ["one", "two"]), ("0", ["two"])):
        rewrite(site, f"JobFileAppend={append}")
        for word in ("one", "two"):
            site.wait_end(site.submit(f"echo {word}", "-o", f"append{append}.out"))
        assert site.output("", f"append{append}.out").split() == lines


def test_job_requeue(site):
    for requeue in ("0", "1"):
        rewrite(site, f"JobRequeue={requeue}")
        job = site.submit("true", "--hold")
        assert site.job(job)["Requeue"] == requeue
        site.run("scancel", job)


@pytest.mark.parametrize("lines, files, stack", [
    ("", "123", "4096"),
    ("PropagateResourceLimits=STACK", "other", "4096"),
    ("PropagateResourceLimitsExcept=STACK", "123", "other"),
    ("PropagateResourceLimits=NONE", "other", "other"),
])
def test_propagated_limits(site, lines, files, stack):
    rewrite(site, lines)
    command = "ulimit -Sn 123; ulimit -Ss 4096; exec sbatch --parsable --wait --wrap 'ulimit -Sn; ulimit -Ss'"
    job = site.run("sh", "-c", command).stdout.strip()
    found = [word if word == known else "other" for word, known in zip(site.output(job).split(), ("123", "4096"))]
    assert found == [files, stack]


def test_srun_epilog(site):
    program = site.dir / "srun_epilog"
    program.write_text(f"#!/bin/sh\necho $SLURM_SCRIPT_CONTEXT >> {site.dir}/work/srun_epilog.out\n")
    program.chmod(0o755)
    rewrite(site, f"SrunEpilog={program}")
    site.run("srun", "-n2", "true")
    assert site.output("", "srun_epilog.out") == "epilog_srun\n"


def test_salloc_runs_its_shell_on_the_first_node(site):
    rewrite(site, SHELL_IN_A_STEP)
    shell = "echo at $SLURMD_NODENAME $SLURM_NTASKS $SLURM_NNODES\nsrun -l sh -c 'echo $SLURMD_NODENAME'\nexit 3\n"
    result = site.run("salloc", "-N2", "-n2", input=shell, check=False)
    assert sorted(result.stdout.splitlines()) == ["0: n1", "1: n2", "at n1 2 2"], result.stderr
    assert result.returncode == 3
    # A command is run here, as ever.
    assert site.run("salloc", "sh", "-c", "echo at ${SLURMD_NODENAME-home}").stdout == "at home\n"


def test_salloc_without_the_parameter_stays(site):
    rewrite(site, "")
    result = site.run("salloc", input="echo at ${SLURMD_NODENAME-home}\n", env={"SHELL": "/bin/sh"})
    assert result.stdout == "at home\n"


def test_variables_that_no_option_table_walks(shared):
    record, output = shared.run_job("umask", env={"SLURM_UMASK": "0077"})
    assert output == "0077\n"
    assert shared.run("squeue", "--json", env={"SLURM_JSON": "compact"}).stdout.count("\n") <= 1
    assert shared.run("squeue", "--json").stdout.count("\n") > 1
    job = shared.submit("true", "--hold", "--qos=lab")
    for qos, found in (("lab", f"{job}\n"), ("other", "")):
        assert shared.run("squeue", "-h", "-o", "%i", env={"SQUEUE_QOS": qos}).stdout == found
    shared.run("scancel", job)
    shared.wait_end(job)
    shared.run("scontrol", "create", "PartitionName=secret", "Nodes=n1", "Hidden=YES")
    try:
        for command, variable in ((["sinfo", "-h", "-o", "%R"], "SINFO_ALL"),
                                  (["scontrol", "show", "partitions"], "SCONTROL_ALL")):
            assert "secret" not in shared.run(*command).stdout
            assert "secret" in shared.run(*command, env={variable: "1"}).stdout
        job = shared.submit("true", "--hold", "-p", "secret")
        assert shared.run("squeue", "-h", "-o", "%i").stdout == ""
        assert shared.run("squeue", "-h", "-o", "%i", env={"SQUEUE_ALL": "1"}).stdout == f"{job}\n"
        shared.run("scancel", job)
        shared.wait_end(job)
    finally:
        shared.run("scontrol", "delete", "PartitionName=secret", check=False)


# ---- keys that daemons act on

def test_requeue_exit(make_cluster):
    cluster = make_cluster(extra="RequeueExit=7\nRequeueExitHold=8\nSchedulerParameters=requeue_delay=0")
    record, _ = cluster.run_job('[ -n "$SLURM_RESTART_COUNT" ] || exit 7')
    assert (record["JobState"], record["Restarts"]) == ("COMPLETED", "1")
    rows = ("sacct", "-D", "-n", "-P", "-j", f"{record['JobId']}.batch", "-o", "state,exitcode")
    cluster.wait_for(lambda: cluster.run(*rows).stdout == "FAILED|7:0\nCOMPLETED|0:0\n", what="both runs of the script")
    assert cluster.run_job("exit 7", "--no-requeue")[0]["JobState"] == "FAILED"
    held = cluster.submit("exit 8")
    record = cluster.wait_for(lambda: cluster.job(held).get("Restarts") == "1" and cluster.job(held))
    assert (record["JobState"], record["Priority"]) == ("SPECIAL_EXIT", "0")
    cluster.run("scancel", held)


@pytest.mark.parametrize("kind", ["Prolog", "Epilog"])
@pytest.mark.parametrize("key", ["{}Timeout", "PrologEpilogTimeout"])
def test_programs_that_take_too_long(make_cluster, as_root, kind, key):
    cluster = make_cluster(start=False, nodes=1)
    program = cluster.dir / "hangs"
    # Also what it has started has to go.
    program.write_text(f"#!/bin/sh\nsh -c 'echo $$ >{cluster.dir}/work/child; exec sleep 1000' &\nwait\n")
    program.chmod(0o755)
    rewrite(cluster, f"{kind}={program}\n{key.format(kind)}=1")
    cluster.start()
    job = cluster.submit("true")
    shown = cluster.wait_for(lambda: [line for line in cluster.run("scontrol", "show", "node", "n1").stdout.split("\n")
                                      if f"Reason={kind} error" in line])
    assert shown
    child = Path("/proc") / cluster.wait_file("child").strip()
    cluster.wait_for(lambda: not child.exists() or process_state(child.name) == "Z", what="the child to be gone")
    cluster.run("scancel", job)


# ---- keys that nothing acts on

def start_controller(cluster):
    """What slurmctld says when it refuses to start."""
    cluster.checked = False
    result = subprocess.run([f"{cluster.prefix}/sbin/slurmctld", "-D"], env=cluster.environment(), timeout=60,
                            capture_output=True, text=True)
    assert result.returncode == 1
    return result.stderr


def test_what_changes_the_fate_of_jobs_is_refused(make_cluster):
    cluster = make_cluster(start=False, nodes=1, extra="JobSubmitPlugins=lua\nTaskPluginParam=SlurmdSpecOverride")
    said = start_controller(cluster)
    assert "JobSubmitPlugins=lua is not supported: " in said and "TaskPluginParam=SlurmdSpecOverride is not supported: " in said
    assert "slurm.conf line " in said and "SlurmctldParameters=ignore_unsupported" in said
    rewrite(cluster, cluster.extra + "\nSlurmctldParameters=ignore_unsupported")
    cluster.checked = True
    cluster.start()
    assert cluster.run("srun", "echo", "runs").stdout == "runs\n"
    for name in ("slurmctld", "n1"):
        log = (cluster.dir / "log" / f"{name}.log").read_text()
        assert log.count("warning: slurm.conf line") == 2, name
    # What was said once is not said again, and a node says what is new.
    rewrite(cluster, cluster.extra + "\nEioTimeout=20")
    cluster.run("scontrol", "reconfigure")
    for name in ("slurmctld", "n1"):
        path = cluster.dir / "log" / f"{name}.log"
        wait_for(lambda: "EioTimeout=20 has no effect" in path.read_text())
        assert path.read_text().count("warning: slurm.conf line") == 3, name


def test_reconfigure_refuses_it_too(make_cluster):
    cluster = make_cluster(nodes=1)
    rewrite(cluster, "UsePAM=1\nMaxJobCount=1")
    result = cluster.run("scontrol", "reconfigure", check=False)
    assert result.returncode == 1 and "UsePam=1 is not supported" in result.stderr
    # Commands and nodes go on, and nothing of the file has an effect.
    jobs = [cluster.submit("true", "--hold") for _ in range(2)]
    cluster.run("scancel", *jobs)
    assert cluster.run("srun", "echo", "runs").stdout == "runs\n"


@pytest.mark.parametrize("line, words", [
    ("SlurmctldHost=other", "backup controller other is not supported with StateSaveLocation"),
    ("AccountingStoreJobComment=YES", "use AccountingStoreFlags=job_comment"),
    ("FastSchedule=2", "use SlurmdParameters=config_overrides"),
])
def test_refused_with_a_hint(make_cluster, line, words):
    assert words in start_controller(make_cluster(start=False, extra=line))


def test_only_the_controllers_host_runs_it(make_cluster):
    cluster = make_cluster(start=False)
    path = cluster.dir / "etc" / "slurm.conf"
    lines = [("SlurmctldHost=no-such-host(127.0.0.1)" if line.startswith("SlurmctldHost=") else line)
             for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    assert "is not the controller" in start_controller(cluster)


# ---- a controller that does not answer

def test_commands_say_that_they_retry(make_cluster):
    cluster = make_cluster(nodes=1, extra="MessageTimeout=3")
    cluster.kill("slurmctld")
    result = cluster.run("squeue", check=False)
    assert result.returncode == 1
    assert result.stderr.count("squeue: slurmctld does not answer, retrying for 3 s\n") == 1
    assert "Unable to contact slurm controller" in result.stderr
    # At a terminal a person decides whether to wait.
    rewrite(cluster, "MessageTimeout=100")
    ours, theirs = os.openpty()
    command = cluster.popen("squeue", stderr=theirs)
    os.close(theirs)
    assert command.wait(timeout=60) == 1
    assert b"squeue: slurmctld does not answer, retrying for 5 s" in os.read(ours, 4096)
    os.close(ours)
    cluster.start_controller()


# ---- keys of slurmd

def test_slurmd_port_is_that_of_nodes_without_a_port(make_cluster):
    cluster = make_cluster(nodes=1, start=False)
    port = cluster.ports.numbers[1]
    text = cluster.conf.read_text()
    assert f" Port={port}" in text
    cluster.conf.write_text(text.replace(f" Port={port}", "") + f"SlurmdPort={port}\n")
    cluster.start()
    create_connection(("127.0.0.1", port), timeout=10).close()
    assert cluster.run("srun", "echo", "ran").stdout == "ran\n"


def test_the_disk_of_a_node_is_that_of_tmp_fs(make_cluster, as_root):
    for size, state in (("1m", "drain"), ("64m", "idle")):
        cluster = make_cluster(nodes=1, cpus=1, memory=50, node_extra="TmpDisk=32", start=False)
        disk = cluster.dir / "disk"
        disk.mkdir()
        text = cluster.conf.read_text().replace("SlurmdParameters=config_overrides\n", "")
        text = re.sub(r"^ScratchDir=.*$", f"TmpFS={disk}", text, flags=re.M)
        cluster.conf.write_text(text)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True)
        try:
            cluster.start_controller()
            cluster.start_node("n1", wait=False)
            cluster.wait_for(lambda: cluster.node_state("n1") == state, what=f"n1 to be {state}")
            reason = cluster.run("sinfo", "-h", "-n", "n1", "-o", "%E").stdout.strip()
            assert reason == ("Low TmpDisk" if state == "drain" else "none")
        finally:
            subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("level", ["info", "quiet"])
def test_the_level_of_what_goes_to_syslog(make_cluster, as_root, level):
    """The test is the syslog of the daemons, which have a /dev of their own."""
    cluster = make_cluster(nodes=1, start=False, extra=f"SlurmctldSyslogDebug={level}\nSlurmdSyslogDebug={level}")
    path = cluster.dir / "syslog"
    make = f"touch /dev/log && mount --bind {path} /dev/log &&"
    for name in ("slurmctld", "n1"):
        cluster.under[name] = ["unshare", "-m", "sh", "-c", OWN_DEV.format(dir=cluster.dir, make=make), "sh"]
    lines = []
    with socket(AF_UNIX, SOCK_DGRAM) as syslog, socket(AF_UNIX, SOCK_DGRAM) as end:
        syslog.bind(str(path))
        reader = Thread(target=lambda: lines.extend(iter(lambda: syslog.recv(65536), b"")), daemon=True)
        reader.start()
        cluster.start()
        end.sendto(b"", str(path))
        reader.join()
    lines = b"\n".join(lines)
    for said in (rb"slurmctld\[\d+\]: Node n1 now responding", rb"slurmd\[\d+\]: registered with 127.0.0.1 as node n1"):
        assert bool(re.search(said, lines)) == (level == "info"), lines

"""Jobs that are hard to end: files that block, frozen processes, hidden children, hung supervisors."""

import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import PATIENCE, is_frozen, wait_for

REPORT = "JobState", "ExitCode"


def fifo(cluster, name):
    path = cluster.dir / "work" / name
    os.mkfifo(path)
    path.chmod(0o666)
    return path


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def supervisors(cluster, job):
    """Without the copies of them that are still to become a script or a task."""
    found = {pid for pid, line in cluster.processes().items() if line.startswith(f"slurmstepd: [{job}.")}
    return [pid for pid in found if parent(pid) not in found]


def is_free(cluster, *nodes):
    return all(cluster.node_state(node) == "idle" for node in nodes)


@pytest.mark.parametrize("option", ["-o", "-e", "-i"])
def test_a_job_whose_file_is_a_fifo_without_a_peer_can_be_cancelled(shared, option):
    path = fifo(shared, f"lonely{option}")
    job = shared.submit("echo ran >ran", option, path)
    shared.wait_state(job, "RUNNING")
    shared.wait_for(lambda: supervisors(shared, job), what="its supervisor")
    shared.run("scancel", job)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"
    shared.wait_for(lambda: is_free(shared, *shared.nodes), what="free nodes")
    assert not (shared.dir / "work" / "ran").exists()


def test_it_starts_as_soon_as_the_fifo_has_a_reader(shared):
    path = fifo(shared, "read-later")
    job = shared.submit("echo through", "-o", path)
    shared.wait_state(job, "RUNNING")
    assert path.read_text() == "through\n"
    assert shared.wait_end(job)["JobState"] == "COMPLETED"


def test_a_full_fifo_does_not_keep_a_job_alive(shared):
    """Its own line about the end cannot be written: the reader holds the FIFO and reads nothing."""
    path = fifo(shared, "full")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        job = shared.submit("echo up >full-up; exec cat /dev/zero", "-o", path)
        shared.wait_file("full-up")
        shared.run("scancel", job)
        record = shared.wait_end(job)
        assert tuple(map(record.get, REPORT)) == ("CANCELLED", "0:15")
        shared.wait_for(lambda: is_free(shared, *shared.nodes), what="free nodes")
    finally:
        os.close(reader)


def test_a_step_whose_output_is_a_fifo_without_a_reader_can_be_cancelled(shared):
    for task in range(2):
        fifo(shared, f"step-fifo.{task}")
    srun = shared.popen("srun", "-N2", "-o", "step-fifo.%t", "echo", "never")
    job = shared.wait_for(lambda: shared.run("squeue", "-h", "-t", "R", "-o", "%A").stdout.strip(),
                          what="the job")
    shared.wait_for(lambda: len(supervisors(shared, job)) == 2, what="both supervisors")
    shared.run("scancel", job)
    srun.communicate(timeout=PATIENCE)
    assert srun.returncode != 0
    assert shared.wait_end(job)["JobState"] == "CANCELLED"
    shared.wait_for(lambda: is_free(shared, *shared.nodes), what="free nodes")


def test_a_start_that_is_stopped_by_its_user_can_be_cancelled(shared):
    """The process that is to become the script blocks at its FIFO, and is stopped there."""
    path = fifo(shared, "stopped-start")
    job = shared.submit("true", "-o", path)
    shared.wait_state(job, "RUNNING")
    [supervisor] = shared.wait_for(lambda: supervisors(shared, job), what="its supervisor")
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children")
    child = int(shared.wait_for(lambda: children.read_text().strip(), what="its child"))
    os.kill(child, signal.SIGSTOP)
    shared.run("scancel", job)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"


def test_a_suspended_job_is_frozen_and_hears_of_its_end(cluster, as_root):
    job = cluster.submit("trap 'echo heard; exit 0' TERM; echo $$ >shell.pid; echo up; "
                         "while :; do sleep 0.05; echo beat >>beats; done", user="nobody")
    pid = int(cluster.wait_file("shell.pid"))
    cluster.wait_file("beats")
    cluster.run("scontrol", "suspend", job)
    cluster.wait_for(lambda: is_frozen(pid), what="the job to be frozen")
    cluster.run("kill", "-CONT", str(pid), user="nobody")  # another process of the user
    assert is_frozen(pid)
    cluster.run("scontrol", "resume", job)
    cluster.wait_for(lambda: not is_frozen(pid), what="the job to go on")
    beats = (cluster.dir / "work" / "beats").read_text()
    cluster.wait_for(lambda: (cluster.dir / "work" / "beats").read_text() != beats, what="a beat")
    cluster.run("scontrol", "suspend", job)
    cluster.wait_for(lambda: is_frozen(pid), what="the job to be frozen again")
    cluster.run("scancel", job)
    record = cluster.wait_end(job)
    assert record["JobState"] == "CANCELLED"
    assert cluster.output(job).splitlines().count("heard") == 1


def test_a_suspended_job_without_cgroups_hears_of_its_end(make_cluster):
    cluster = make_cluster(nodes=1, extra="ProctrackType=proctrack/linuxproc")
    job = cluster.submit("trap 'echo heard; exit 0' TERM; echo $$ >shell.pid; while :; do sleep 0.05; done")
    pid = int(cluster.wait_file("shell.pid"))
    cluster.run("scontrol", "suspend", job)
    cluster.wait_for(lambda: is_frozen(pid), what="the job to be stopped")
    cluster.run("scancel", job)
    assert cluster.wait_end(job)["JobState"] == "CANCELLED"
    assert cluster.output(job).splitlines().count("heard") == 1


def freezer():
    found = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()
             if line.split()[2] == "cgroup" and line.split()[1].endswith("/freezer")]
    return found[0] if found else None


@pytest.mark.skipif(not freezer(), reason="needs the freezer of cgroup v1")
def test_a_job_that_made_a_cgroup_of_its_own_ends_and_leaves_none(cluster, as_root):
    script = (f"here={freezer()}$(sed -n 's/.*:freezer://p' /proc/self/cgroup)\n"
              "mkdir -p $here/made/inside\n"
              "setsid sleep 1000 &\n"
              "echo $! >$here/made/inside/cgroup.procs\n"
              "echo FROZEN >$here/made/freezer.state\n"
              "echo $here >made.txt")
    job = cluster.submit(script)
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    cluster.wait_for(lambda: is_free(cluster, *cluster.nodes), what="free nodes")
    assert not Path(cluster.wait_file("made.txt").strip()).exists()


def test_what_a_login_shell_leaves_behind_is_in_the_job_and_ends_with_it(cluster, as_root, tmp_path):
    """A profile that starts an agent, as those of ssh and gpg do."""
    home = Path(pwd.getpwnam("root").pw_dir)
    profile = home / ".bash_profile"
    if profile.exists() or pwd.getpwnam("root").pw_shell != "/bin/bash":
        pytest.skip("root has a profile of its own, or another shell")
    work = cluster.dir / "work"
    profile.write_text(f"setsid sh -c 'echo $$ >{work}/agent.pid; exec sleep 1000' </dev/null >/dev/null 2>&1 &\n"
                       f"while [ ! -s {work}/agent.pid ]; do sleep 0.01; done\nexport FROM_PROFILE=yes\n")
    try:
        job = cluster.submit("cp /proc/$(cat agent.pid)/cgroup agent.cgroup; cp /proc/$$/cgroup own.cgroup;"
                             " echo $FROM_PROFILE", "--get-user-env", "--export=NONE")
        record = cluster.wait_end(job)
    finally:
        profile.unlink()
    assert record["JobState"] == "COMPLETED"
    assert cluster.output(job) == "yes\n"
    assert (work / "agent.cgroup").read_text() == (work / "own.cgroup").read_text()
    agent = int((work / "agent.pid").read_text())
    assert not Path(f"/proc/{agent}").exists()
    cluster.wait_for(lambda: is_free(cluster, *cluster.nodes), what="free nodes")


@pytest.fixture
def impatient(make_cluster):
    cluster = make_cluster(start=False)
    program = cluster.dir / "unkillable"
    program.write_text(f"#!/bin/sh\necho $SLURM_JOB_ID $SLURM_STEP_ID $SLURMD_NODENAME >>{cluster.dir}/work/called\n")
    program.chmod(0o755)
    cluster.extra = f"UnkillableStepTimeout=1\nUnkillableStepProgram={program}\nKillWait=1"
    cluster.write_config()
    return cluster.start()


def test_a_supervisor_that_does_not_answer_is_given_up_and_its_node_drained(impatient):
    cluster = impatient
    job = cluster.submit("sleep 1000 & echo $! >child.pid; wait", "-w", "n1")
    child = int(cluster.wait_file("child.pid"))
    other = cluster.submit("sleep 1000", "-w", "n2")
    cluster.wait_state(other, "RUNNING")
    [supervisor] = supervisors(cluster, job)
    os.kill(supervisor, signal.SIGSTOP)
    cluster.run("scancel", job)
    record = cluster.wait_end(job)
    assert tuple(map(record.get, REPORT)) == ("CANCELLED", "0:9")
    cluster.wait_for(lambda: child not in cluster.processes(), what="the end of its processes")
    assert cluster.wait_file("called") == f"{job} batch n1\n"
    shown = cluster.run("sinfo", "-h", "-n", "n1", "-o", "%t %E").stdout.strip()
    assert shown == "drain Kill task failed"
    assert cluster.state(other) == "RUNNING" and cluster.node_state("n2") == "mix"
    cluster.wait_for(lambda: supervisor not in cluster.processes(), what="the supervisor's end")


def test_a_job_that_ends_in_time_drains_nothing(impatient):
    job = impatient.submit("trap '' TERM; echo up; while :; do sleep 0.1; done", "-w", "n1")
    impatient.wait_file(f"slurm-{job}.out")
    impatient.run("scancel", job)
    assert impatient.wait_end(job)["JobState"] == "CANCELLED"
    impatient.wait_for(lambda: is_free(impatient, "n1"), what="a free node")
    assert not (impatient.dir / "work" / "called").exists()


def test_nobody_else_gives_orders_to_a_supervisor(cluster, as_root):
    """Its socket has no file, so every local user may connect: strangers are cut off."""
    job = cluster.submit("echo up; while :; do sleep 0.05; done", "-w", "n1")
    cluster.wait_file(f"slurm-{job}.out")
    [mark] = (cluster.dir / "spool" / "n1" / f"job{int(job):05}").glob("batch.0.*")
    place = mark.name.split(".")[2]
    # StepCommand{terminate{run{job}, grace_seconds 0}}, in a frame.
    terminate = bytes([0x12, 0x04, 0x0a, 0x02, 0x08, int(job)])
    frame = len(terminate).to_bytes(4, "little") + terminate
    client = ("import socket\ns = socket.socket(socket.AF_UNIX)\n"
              f"s.connect('\\0sluice.step.{place}')\n"
              f"try:\n    s.sendall({frame!r})\n    print(len(s.recv(1000)))\nexcept ConnectionError:\n    print(0)\n")

    def call(user):
        return cluster.run(sys.executable, "-c", client, user=user).stdout.strip()
    assert call("nobody") == "0"
    assert cluster.state(job) == "RUNNING"
    assert call("root") != "0"  # so the order itself is a good one
    cluster.wait_for(lambda: cluster.state(job) != "RUNNING", what="the end of the job")


def test_every_job_has_a_keyring_of_its_own(cluster):
    ask = (f"{sys.executable} -c 'import ctypes; "
           "print(ctypes.CDLL(None, use_errno=True).syscall(250, 0, -3, 0))'")  # KEYCTL_GET_KEYRING_ID
    if os.uname().machine != "x86_64" or int(subprocess.check_output(ask, shell=True)) < 0:
        pytest.skip("no keyrings here")
    seen = {cluster.run_job(ask)[1].strip() for _ in range(2)}
    seen |= {subprocess.check_output(ask, shell=True, text=True).strip()}
    assert len(seen) == 3


def test_slurmd_logs_the_life_of_jobs_and_steps(cluster):
    job, output = cluster.run_job("srun -n1 true; srun -n1 sh -c 'exit 3'; exit 5", "-w", "n1")
    number = job["JobId"]
    cancelled = cluster.submit("echo up; exec sleep 1000", "-w", "n1")
    cluster.wait_file(f"slurm-{cancelled}.out")
    cluster.run("scancel", cancelled)
    cluster.wait_end(cancelled)
    wait_for(lambda: is_free(cluster, "n1"))
    log = (cluster.dir / "log" / "n1.log").read_text()
    uid = os.getuid()
    for line in (f"launch batch job {number} for UID:{uid}", f"launch task StepId={number}.0 request from UID:{uid}",
                 f"[{number}.0] done with step, exit code 0", f"[{number}.1] done with step, exit code 3",
                 f"[{number}.batch] done with job, exit code 5", f"job {cancelled} is told to end",
                 f"[{cancelled}.batch] done with job, signal 15"):
        assert log.count(line) == 1, line

"""pam_slurm_adopt.so: a login belongs to a job of its user on the node, or is refused."""

import os
import signal
from pathlib import Path

import pytest

from test_cgroup import mounts
from test_extern import HOLD, go, running, wait_nothing_left

pytestmark = pytest.mark.usefixtures("as_root")
USER = "nobody"
# A login: the module is asked as sshd asks it; then the session stays until it is told to end.
LOGIN = """
import ctypes, os, sys, time
service, conf_dir, command = sys.argv[1:]
pam = ctypes.CDLL("libpam.so.0")
handle = ctypes.c_void_p()
class Conversation(ctypes.Structure):
    _fields_ = [("function", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
                ("data", ctypes.c_void_p)]
class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]
def converse(count, messages, responses, data):
    for message in ctypes.cast(messages, ctypes.POINTER(ctypes.POINTER(Message)))[:count]:
        print(message.contents.text.decode(), file=sys.stderr)
    return 0
conversation = Conversation(Conversation._fields_[0][1](converse), None)
assert pam.pam_start_confdir(service.encode(), b"nobody", ctypes.byref(conversation), conf_dir.encode(),
                             ctypes.byref(handle)) == 0
code = pam.pam_acct_mgmt(handle, 0)
print("result", code, flush=True)
if code == 0 and command:
    os.execvp("sh", ["sh", "-c", command])
"""
SUCCESS, DENIED, SYSTEM_ERROR = 0, 6, 4


def cgroups_of(generation):
    return f"CgroupPlugin=cgroup/{generation}\nCgroupMountpoint={mounts()[generation]}\n"


@pytest.fixture
def login(make_cluster, request):
    """A cluster, and a function that logs in on its node with options of the module: the process."""
    cluster = make_cluster(start=False, nodes=1, extra="PrologFlags=Contain\nKillWait=20")
    if hasattr(request, "param"):
        cluster.files["cgroup.conf"] = cgroups_of(request.param)
    cluster.nodes = [f"adopt{os.getpid()}"]  # the module finds slurmd by the name of its node
    cluster.write_config()
    cluster.start()
    modules = list(cluster.prefix.rglob("pam_slurm_adopt.so"))
    if not modules:
        pytest.skip("built without PAM")
    services = cluster.dir / "pam.d"
    services.mkdir()

    def log_in(command="", *options):
        words = " ".join([f"nodename={cluster.nodes[0]}", *options])
        (services / "test").write_text(f"account required {modules[0]} {words}\n")
        return cluster.popen("/usr/bin/python3", "-c", LOGIN, "test", str(services), command)
    return cluster, log_in


def result(process):
    out, err = process.communicate()
    return int(out.split()[1]), err


def in_container(pid, job):
    return f"/job_{job}/step_extern" in Path(f"/proc/{pid}/cgroup").read_text()


def test_without_a_job_there_is_no_login(login):
    cluster, log_in = login
    code, text = result(log_in())
    assert code == DENIED and "Access denied by pam_slurm_adopt: you have no active jobs on this node" in text
    assert result(log_in("", "action_no_jobs=deny"))[0] == DENIED
    # The module has nothing to say then: another one decides, here none.
    assert result(log_in("", "action_no_jobs=ignore"))[0] != SUCCESS


@pytest.mark.parametrize("login", sorted(mounts()), indirect=True)
def test_a_login_is_part_of_the_job_and_ends_with_it(login):
    cluster, log_in = login
    job = cluster.submit(HOLD, user=USER)
    running(cluster, job, 1)
    # A shell that ignores SIGTERM, and a process that has left its session and its parents.
    session = log_in("trap '' TERM; (setsid sleep 1001 &); echo $$; sleep 1002; sleep 1003")
    assert session.stdout.readline() == "result 0\n"
    pid = int(session.stdout.readline())
    assert in_container(pid, job)
    escaped = cluster.wait_for(lambda: [p for p, line in cluster.processes().items() if line == "sleep 1001"], what="sleep")
    assert in_container(escaped[0], job)
    listed = cluster.run("scontrol", "listpids", f"{job}.extern", cluster.nodes[0]).stdout
    assert str(pid) in listed and str(escaped[0]) in listed
    go(cluster)
    ended = cluster.wait_end(job, timeout=15)  # not delayed by KillWait
    assert ended["JobState"] == "COMPLETED"
    session.communicate()
    wait_nothing_left(cluster, job)


def test_what_a_login_uses_is_counted(login):
    cluster, log_in = login
    job = cluster.submit(HOLD, user=USER)
    running(cluster, job, 1)
    session = log_in("python3 -c 'x = bytearray(80 << 20); sum(range(100000000)); print(1, flush=True); input()'")
    assert session.stdout.readline() == "result 0\n" and session.stdout.readline() == "1\n"
    go(cluster)
    cluster.wait_end(job)
    session.communicate()

    def used():
        line = cluster.run("sacct", "-nP", "-j", f"{job}.extern", "-o", "MaxRSS,TotalCPU,State").stdout.strip()
        memory, cpu, state = line.split("|") if line else ("", "", "")
        return memory.endswith("K") and int(memory[:-1]) > 80 << 10 and cpu > "00:00.2" and state == "COMPLETED"
    cluster.wait_for(used, what="the usage of the container")


def test_of_several_jobs_the_newest_is_chosen_or_none(login):
    cluster, log_in = login
    first, second = (cluster.submit(HOLD, user=USER) for _ in range(2))
    for job in (first, second):
        running(cluster, job, 1)
    session = log_in("echo $$; sleep 1001")
    assert session.stdout.readline() == "result 0\n"
    assert in_container(int(session.stdout.readline()), second)
    code, text = result(log_in("", "action_unknown=deny"))
    assert code == DENIED and "2 jobs" in text
    session = log_in("echo $$; exec sleep 1001", "action_unknown=allow")
    assert session.stdout.readline() == "result 0\n"
    pid = int(session.stdout.readline())
    assert not in_container(pid, first) and not in_container(pid, second)
    os.kill(pid, signal.SIGKILL)
    go(cluster)
    for job in (first, second):
        cluster.wait_end(job)


def test_options_that_are_not_known_are_refused(login):
    cluster, log_in = login
    for option in ("action_generic_failure=ignore", "action_unknown=user", "log_level=loud", "disable_x11=1"):
        assert result(log_in("", option))[0] == SYSTEM_ERROR, option
    assert result(log_in("", "log_level=debug5"))[0] == DENIED


def test_a_slurmd_that_is_not_there_lets_nobody_in(login):
    cluster, log_in = login
    cluster.kill(cluster.nodes[0])
    assert result(log_in())[0] == SYSTEM_ERROR
    cluster.start_node(cluster.nodes[0])


def test_after_a_restart_of_slurmd_logins_go_on_and_are_possible(login):
    cluster, log_in = login
    job = cluster.submit(HOLD, user=USER)
    running(cluster, job, 1)
    session = log_in("echo $$; sleep 1001")
    session.stdout.readline()
    pid = int(session.stdout.readline())
    cluster.kill(cluster.nodes[0])
    cluster.start_node(cluster.nodes[0])
    assert in_container(pid, job)
    other = log_in("echo $$; sleep 1002")
    assert other.stdout.readline() == "result 0\n"
    assert in_container(int(other.stdout.readline()), job)
    cluster.run("scancel", job)
    cluster.wait_end(job)
    for each in (session, other):
        each.communicate()
    wait_nothing_left(cluster, job)


def test_a_login_dies_with_the_supervisor_of_its_container(login):
    cluster, log_in = login
    job = cluster.submit(HOLD, user=USER)
    supervisor = running(cluster, job, 1)[0]
    session = log_in("echo $$; sleep 1001")
    session.stdout.readline()
    os.kill(supervisor, signal.SIGKILL)
    session.communicate()
    cluster.wait_for(lambda: "extern" not in cluster.run("squeue", "-hs", "-j", job).stdout, what="its end")
    assert result(log_in())[0] == DENIED  # there is nothing to join
    go(cluster)
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    wait_nothing_left(cluster, job)


def test_only_root_may_ask(login):
    cluster, log_in = login
    job = cluster.submit(HOLD)
    running(cluster, job, 1)
    asks = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0sluice.adopt.{cluster.nodes[0]}');" \
           "s.send(b'adopt 0 newest\\n'); print(s.recv(100))"
    done = cluster.run("/usr/bin/python3", "-c", asks, user=USER, check=False)
    assert done.returncode != 0 or done.stdout.strip() == "b''"
    go(cluster)
    cluster.wait_end(job)

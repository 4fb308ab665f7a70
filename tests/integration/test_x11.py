"""srun --x11: X clients of tasks reach the X server of srun's host."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from test_extern import wait_nothing_left

NEEDED = ("Xvfb", "xauth", "xdpyinfo")


@pytest.fixture
def server(tmp_path):
    """The variables of an X server that lets only clients with its cookie in."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        pytest.skip(f"needs {missing}")
    authority = tmp_path / "authority"

    def allow(number):  # the server looks at the cookie alone
        subprocess.run(["xauth", "-f", str(authority), "add", f":{number}", ".", "00112233445566778899aabbccddeeff"],
                       check=True, stderr=subprocess.DEVNULL)

    allow(0)
    reading, writing = os.pipe()
    # Without -noreset it turns clients away for a moment when the last one before them has left.
    display = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-auth", str(authority), "-nolisten", "tcp", "-noreset"],
                               pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    number = os.read(reading, 20).decode().strip()
    allow(number)
    yield {"DISPLAY": f":{number}", "XAUTHORITY": str(authority)}
    display.kill()
    display.wait()
    os.close(reading)


@pytest.fixture
def forwarding(make_cluster):
    return make_cluster(extra="PrologFlags=X11")


def test_a_task_sees_the_display_of_srun(forwarding, server):
    done = forwarding.run("srun", "--x11", "sh", "-c", "echo $DISPLAY $XAUTHORITY; stat -c %a $XAUTHORITY; xdpyinfo", env=server)
    first, mode, *rest = done.stdout.splitlines()
    name, authority = first.split()
    assert name.startswith("localhost:") and name != server["DISPLAY"] and mode == "600"
    assert any("X.Org" in line or "vendor" in line for line in rest)
    assert not Path(authority).exists()
    job = forwarding.run("squeue", "-h", "-t", "all", "-o", "%i").stdout.split()[0]
    wait_nothing_left(forwarding, job)


def test_clients_without_the_cookie_are_refused_by_the_x_server(forwarding, server):
    done = forwarding.run("srun", "--x11", "sh", "-c", "XAUTHORITY=/dev/null xdpyinfo", env=server, check=False)
    assert done.returncode != 0 and "unable to open display" in done.stderr


@pytest.mark.parametrize("where, with_display", [("all", ["n1", "n2"]), ("first", ["n1"]), ("batch", ["n1"]), ("last", ["n2"])])
def test_the_nodes_can_be_chosen(forwarding, server, where, with_display):
    script = "xdpyinfo > /dev/null 2>&1 && echo $SLURMD_NODENAME"
    done = forwarding.run("srun", f"--x11={where}", "--export=PATH", "-N2", "-n2", "sh", "-c", f"{script}; true", env=server)
    assert sorted(done.stdout.split()) == with_display


def test_many_clients_and_large_transfers(forwarding, server):
    script = "for i in 1 2 3 4 5 6; do xdpyinfo -queryExtensions > out.$i & done; wait; cat out.* | grep -c 'name of display'"
    assert forwarding.run("srun", "--x11", "sh", "-c", script, env=server).stdout.strip() == "6"


def test_steps_in_an_allocation_of_salloc_have_it(forwarding, server):
    done = forwarding.run("salloc", "--x11", "srun", "xdpyinfo", env=server)
    assert "name of display:    localhost:" in done.stdout


def test_the_shell_of_salloc_on_a_node_has_it_and_its_steps(make_cluster, server):
    cluster = make_cluster(extra="PrologFlags=X11\nLaunchParameters=use_interactive_step\n"
                                 "InteractiveStepOptions=\"--interactive --preserve-env /bin/sh\"")
    script = "xdpyinfo | grep 'name of display'; srun -n1 xdpyinfo | grep 'name of display'; exit\n"
    shown = cluster.run("salloc", "--x11", env=server, input=script).stdout.split("\n")
    names = {line.split()[-1] for line in shown if line}
    assert len(names) == 2 and all(name.startswith("localhost:") for name in names)


def test_another_user_gets_a_file_of_its_own(forwarding, server, as_root):
    os.chmod(server["XAUTHORITY"], 0o644)
    for parent in Path(server["XAUTHORITY"]).parents:
        if str(parent).startswith("/tmp/"):
            os.chmod(parent, 0o755)
    done = forwarding.run("srun", "--x11", "sh", "-c", "xdpyinfo > /dev/null && stat -c '%U %a' $XAUTHORITY", env=server, user="nobody")
    assert done.stdout.strip() == "nobody 600"


def test_what_is_missing_is_named(make_cluster, forwarding, server):
    def refusal(cluster, *words, env=server):
        done = cluster.run(*words, env=env, check=False)
        assert done.returncode != 0
        return done.stderr
    without = make_cluster(nodes=1)
    for tool in (["srun", "--x11", "true"], ["salloc", "--x11", "true"]):
        assert "X11 forwarding not available" in refusal(without, *tool)
        assert "No DISPLAY variable set" in refusal(forwarding, *tool, env={})
        assert "magic cookie" in refusal(forwarding, *tool, env={**server, "XAUTHORITY": "/dev/null"})
        assert "DISPLAY=nonsense" in refusal(forwarding, *tool, env={**server, "DISPLAY": "nonsense"})
    assert "--x11=some" in refusal(forwarding, "srun", "--x11=some", "true")
    assert "DISPLAY=" in refusal(forwarding, "sbatch", "--x11", "--wrap", "true")


def test_a_job_that_ends_while_a_client_runs_leaves_nothing(forwarding, server):
    client = "import socket, os; d = os.environ['DISPLAY'].split(':')[1].split('.')[0];" \
             "s = socket.create_connection(('127.0.0.1', 6000 + int(d))); print(os.environ['SLURM_JOB_ID'], flush=True); s.recv(1)"
    srun = forwarding.popen("srun", "--x11", "/usr/bin/python3", "-c", client, env=server)
    job = srun.stdout.readline().strip()
    forwarding.run("scancel", job)
    srun.communicate()
    assert forwarding.wait_end(job)["JobState"] == "CANCELLED"
    wait_nothing_left(forwarding, job)


def test_the_end_of_the_x_server_is_the_end_of_its_clients_alone(forwarding, server):
    client = "import socket, os; d = os.environ['DISPLAY'].split(':')[1].split('.')[0];" \
             "s = socket.create_connection(('127.0.0.1', 6000 + int(d))); print('in', flush=True); s.recv(1); print('out')"
    env = {**server, "DISPLAY": ":4711"}
    subprocess.run(["xauth", "-f", server["XAUTHORITY"], "add", ":4711", ".", "00112233445566778899aabbccddeeff"],
                   check=True, stderr=subprocess.DEVNULL)
    done = forwarding.run("srun", "--x11", "/usr/bin/python3", "-c", client, env=env)
    assert done.stdout == "in\nout\n"


@pytest.fixture
def listening_server(tmp_path):
    """The variables of something that takes X connections by TCP, as the host's name, and what it has read."""
    with socket.socket() as listener:
        for number in range(300, 400):
            try:
                listener.bind(("", 6000 + number))
                break
            except OSError:
                continue
        listener.listen()
        name = f"{socket.gethostname()}:{number}"
        authority = tmp_path / "authority"
        cookie = bytes(range(16))
        fields = [b"", str(number).encode(), b"MIT-MAGIC-COOKIE-1", cookie]
        authority.write_bytes(b"\xff\xff" + b"".join(len(field).to_bytes(2, "big") + field for field in fields))
        yield {"DISPLAY": name, "XAUTHORITY": str(authority)}, listener, cookie


def test_a_batch_script_reaches_a_display_by_tcp(forwarding, listening_server):
    variables, listener, cookie = listening_server
    script = ("stat -c %a $XAUTHORITY; echo $DISPLAY ${SLURM_X11:-none}; od -An -tx1 $XAUTHORITY | tr -d ' \\n'; echo\n"
              "python3 -c \"import os,socket; h,n=os.environ['DISPLAY'].split(':'); "
              "socket.create_connection((h, 6000+int(float(n)))).sendall(b'hello')\"; echo $XAUTHORITY\n")
    job = forwarding.submit(script, "--x11", env=variables)
    client, _ = listener.accept()
    with client:
        assert client.recv(5) == b"hello"
    forwarding.wait_end(job)
    mode, display, authority, path = forwarding.output(job).splitlines()
    assert mode == "600" and display == f"{variables['DISPLAY']}.0 none"
    assert authority.endswith(cookie.hex()) and not Path(path).exists()
    assert cookie.hex() not in forwarding.run("scontrol", "show", "job", job).stdout


def test_steps_of_a_batch_script_have_the_display_where_it_was_asked_for(forwarding, listening_server):
    variables, _, _ = listening_server
    job = forwarding.submit("srun -N2 -n2 sh -c 'echo $SLURM_NODEID ${DISPLAY%%:*}'", "-N2", "--x11=last", env=variables)
    forwarding.wait_end(job)
    assert sorted(forwarding.output(job).splitlines())[1] == "1 localhost"


@pytest.mark.parametrize("display", [":1", "localhost:10.0", "127.0.0.1:1"])
def test_a_batch_script_cannot_have_a_display_of_one_host(forwarding, tmp_path, display):
    number = display.split(":")[1].split(".")[0].encode()
    fields = [b"", number, b"MIT-MAGIC-COOKIE-1", b"x" * 16]
    authority = tmp_path / "authority"
    authority.write_bytes(b"\xff\xff" + b"".join(len(field).to_bytes(2, "big") + field for field in fields))
    refused = forwarding.run("sbatch", "--x11", "--wrap", "true", check=False,
                             env={"DISPLAY": display, "XAUTHORITY": str(authority)})
    assert refused.returncode != 0 and "only this host can reach" in refused.stderr

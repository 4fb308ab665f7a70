"""sattach: the input and output of the tasks of a running step, for several readers at once."""

import os
import pty
import re
import signal
import subprocess

import pytest

READER = "echo up $SLURM_PROCID; while read line; do echo $SLURM_PROCID got $line; [ $line != end ] || exit 3; done"


def start_step(cluster, *options, body=READER):
    """srun whose input is ours, and the id of its step."""
    srun = cluster.popen("srun", *options, "sh", "-c", body)
    found = cluster.wait_for(lambda: cluster.run("squeue", "-h", "-s", "-o", "%i").stdout.split(), what="the step")
    for _ in range(int(re.search(r"-n(\d+)", " ".join(options) + " -n1").group(1))):
        assert srun.stdout.readline().startswith("up")
    return srun, found[-1]


def attach(cluster, *words, **options):
    """An sattach that is attached."""
    client = cluster.popen("sattach", "-v", *words, **options)
    line = client.stderr.readline()
    assert "attached to StepId=" in line, line
    return client


def lines(text):
    """Without what the tasks wrote before the test began."""
    return sorted(line for line in text.splitlines() if not re.fullmatch(r"(\d+: )?up \d", line))


@pytest.fixture
def step(shared):
    srun, name = start_step(shared, "-N2", "-n2")
    yield srun, name
    srun.kill()
    srun.communicate()
    shared.wait_for(lambda: not shared.run("squeue", "-h").stdout, what="its end")


def test_several_see_the_output_and_exit_with_the_step(shared, step):
    srun, name = step
    clients = [attach(shared, name), attach(shared, "-l", name), attach(shared, "--output-filter=1", name)]
    srun.stdin.write("hello\nend\n")
    srun.stdin.flush()
    seen = [client.communicate(timeout=30) for client in clients]
    said, _ = srun.communicate(timeout=30)
    assert lines(said) == lines(seen[0][0]) == ["0 got end", "0 got hello", "1 got end", "1 got hello"]
    assert lines(seen[1][0]) == ["0: 0 got end", "0: 0 got hello", "1: 1 got end", "1: 1 got hello"]
    assert lines(seen[2][0]) == ["1 got end", "1 got hello"]
    assert [client.returncode for client in clients] == [3, 3, 3]
    assert "Exited with exit code 3" in seen[0][1]


def test_its_input_goes_to_the_tasks(shared, step):
    srun, name = step
    one = attach(shared, "--input-filter", "1", name)
    one.stdin.write("only\n")
    one.stdin.flush()
    seen = one.stdout.readline()
    while seen.startswith("up"):
        seen = one.stdout.readline()
    assert seen == "1 got only\n"
    every = attach(shared, name)
    every.stdin.write("end\n")
    every.stdin.flush()
    assert every.wait(timeout=30) == 3
    assert srun.wait(timeout=30) == 3
    said = srun.stdout.read()
    assert "1 got only\n" in said and "0 got only" not in said and "0 got end\n" in said
    one.communicate(timeout=30)


def test_its_end_is_not_the_end_of_the_step(shared, step):
    srun, name = step
    closed = attach(shared, name, stdin=subprocess.DEVNULL)
    interrupted = attach(shared, name)
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(timeout=30) == 128 + signal.SIGINT
    assert f"detached; StepId={name} goes on" in interrupted.stderr.read()
    srun.stdin.write("still\nend\n")
    srun.stdin.flush()
    assert "0 got still\n" in closed.communicate(timeout=30)[0]
    assert srun.wait(timeout=30) == 3


def test_one_that_does_not_read_is_disconnected(shared):
    """The step goes on."""
    srun, name = start_step(shared, body="echo up; read line; seq 1 3000000 | sha256sum; seq 1 3000000; echo done")
    client = attach(shared, name)
    client.send_signal(signal.SIGSTOP)
    srun.stdin.write("\n")
    srun.stdin.flush()
    said, _ = srun.communicate(timeout=60)
    assert srun.returncode == 0 and said.endswith("3000000\ndone\n") and said.count("\n") == 3000002
    client.kill()
    client.communicate()


def test_layout(shared):
    srun, name = start_step(shared, "-N2", "-n3")
    said = shared.run("sattach", "--layout", name).stdout
    nodes = re.search(r"\t3 tasks, 2 nodes \((.*)\)\n\n", said)
    assert said.startswith("Job step layout:\n") and nodes
    assert re.search(r"\tNode 0 \(n\d\), 2 task\(s\): 0 1 \n\tNode 1 \(n\d\), 1 task\(s\): 2 \n$", said)
    srun.kill()
    srun.communicate()


def test_a_terminal(shared):
    ours, theirs = pty.openpty()
    srun = shared.popen("srun", "--pty", "sh", "-c", "echo ready; read word; echo word is $word; exit 4",
                        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(ours, 1000)
    name = shared.run("squeue", "-h", "-s", "-o", "%i").stdout.split()[-1]
    mine, its = pty.openpty()
    client = shared.popen("sattach", "--pty", name, stdin=its, stdout=its, stderr=subprocess.PIPE, start_new_session=True)
    shared.wait_for(lambda: "attached by" in (shared.dir / "log" / "n1.log").read_text()
                    if (shared.dir / "log" / "n1.log").exists() else True, what="sattach")
    os.write(mine, b"blue\r")
    seen = b""
    while b"word is blue" not in seen:
        seen += os.read(mine, 1000)
    assert client.wait(timeout=30) == 4 and srun.wait(timeout=30) == 4
    for fd in (ours, theirs, mine, its):
        os.close(fd)


def test_pty_needs_a_terminal_of_srun(shared, step):
    result = shared.run("sattach", "--pty", step[1], check=False)
    assert result.returncode == 1 and f"StepId={step[1]} was not started with srun --pty" in result.stderr


def test_only_the_owner_and_administrators(make_cluster, as_root):
    cluster = make_cluster()
    job = cluster.submit("srun sh -c 'echo up; sleep 1000'", user="nobody")
    assert cluster.wait_file(f"slurm-{job}.out") == "up\n"
    for layout in ([], ["--layout"]):
        refused = cluster.run("sattach", *layout, f"{job}.0", user="daemon", check=False)
        assert refused.returncode == 1 and "Access/permission denied" in refused.stderr and not refused.stdout
    for user in ("nobody", "root"):
        assert "1 tasks, 1 nodes" in cluster.run("sattach", "--layout", f"{job}.0", user=user).stdout


@pytest.mark.parametrize("words, text", [
    ([], "No job step was named"), (["12"], "12: this is no job step"), (["x.0"], "x.0: this is no job step"),
    (["999999.0"], "StepId=999999.0: Invalid job"), (["1.0", "2.0"], "One job step can be named"),
    (["--output-filter=x", "1.0"], "--output-filter=x: this is no task number"),
    (["--pty", "-l", "1.0"], "--pty and --label exclude each other"),
    (["1.batch"], "the streams of a batch script are files"),
])
def test_what_it_refuses(shared, words, text):
    result = shared.run("sattach", *words, check=False, env={"SLURM_EXIT_ERROR": "77"})
    assert result.returncode == 77 and text in result.stderr


def test_it_shows_what_was_written_before(shared):
    """The last 128 messages of a node (each holds a line or more), in their order, then what comes."""
    script = "for i in $(seq 300); do echo line $i; sleep 0.002; done; echo yes > written; while [ ! -e go ]; do sleep 0.05; done; echo last"
    for name in ("written", "go"):
        (shared.dir / "work" / name).unlink(missing_ok=True)
    process = shared.popen("srun", "sh", "-c", script, stdout=subprocess.PIPE, text=True)
    shared.wait_file("written")
    step = shared.run("squeue", "-h", "-s", "-o", "%i").stdout.split()[0]
    attached = shared.popen("sattach", step, stdout=subprocess.PIPE, text=True)
    first = attached.stdout.readline()
    (shared.dir / "work" / "go").touch()
    # Not communicate(): it does not see what readline() has put into the buffer of the stream.
    seen = [first.strip(), *attached.stdout.read().splitlines()]
    assert attached.wait(timeout=60) == 0 and process.wait(timeout=60) == 0
    count = len(seen) - 1
    assert 128 <= count <= 300 and seen == [f"line {i}" for i in range(301 - count, 301)] + ["last"]

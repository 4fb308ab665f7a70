"""What goes through srun under stress: much, binary, slow, endless; and its own terminal."""

import fcntl
import hashlib
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import pytest

LONG = bool(os.environ.get("SLUICE_LONG"))
MEGABYTES = 1024 if LONG else 48


def resident_kb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1))


def test_much_output_of_two_nodes_is_complete(shared):
    line = "0123456789012345678901234567890123456789012345678901234567890"
    count = (MEGABYTES << 20) // (len(line) + 3)
    step = shared.popen("srun", "-N2", "-n2", "-l", "sh", "-c", f"yes ${{SLURM_PROCID}}{line} | head -n {count}", text=False)
    counts = {b"0": 0, b"1": 0}
    for each in step.stdout:
        task, text = each.split(b": ", 1)
        assert text == task + line.encode() + b"\n"
        counts[task] += 1
    assert step.wait(timeout=60) == 0
    assert counts == {b"0": count, b"1": count}


def test_binary_input_and_output_are_as_they_were(shared):
    data = bytes(range(256)) * 4096 + os.urandom(3_000_001)
    step = shared.popen("srun", "cat", text=False)
    out, _ = step.communicate(data, timeout=60)
    assert step.returncode == 0
    assert hashlib.sha256(out).hexdigest() == hashlib.sha256(data).hexdigest()


def test_a_slow_reader_makes_the_tasks_wait(shared):
    """Nothing grows meanwhile, and nothing is lost."""
    size = MEGABYTES << 20
    step = shared.popen("srun", "-u", "sh", "-c", f"head -c {size} /dev/zero; echo over >&2", text=False)
    first = step.stdout.read(4096)
    before = None
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:  # until the buffers are full: the size stays the same
        now = resident_kb(step.pid)
        if before == now:
            break
        before = now
        shared.run("squeue", "-h")
    assert resident_kb(step.pid) < 40_000
    rest = step.stdout.read()
    assert step.wait(timeout=60) == 0 and len(first) + len(rest) == size
    assert step.stderr.read() == b"over\n"


def test_a_task_that_closes_its_output_runs_on(shared, tmp_path):
    result = shared.run("srun", "sh", "-c", f"echo before; exec >&- 2>&-; sleep 0.3; echo late > {tmp_path}/late; exit 7", check=False)
    assert (result.stdout, result.returncode) == ("before\n", 7)
    assert (tmp_path / "late").read_text() == "late\n"


@pytest.mark.parametrize("option, expected", [
    ("--input=0", {"0": "abc", "1": ""}), ("--input=1", {"0": "", "1": "abc"}), ("--input=none", {"0": "", "1": ""}),
    ("--input=all", {"0": "abc", "1": "abc"}), ("--input=in-%t", {"0": "zero", "1": "one"}),
    ("--input=in-0", {"0": "zero", "1": "zero"}),
])
def test_where_input_goes(shared, option, expected):
    for name, text in (("in-0", "zero"), ("in-1", "one")):
        (shared.dir / "work" / name).write_text(text)
    result = shared.run("srun", "-N2", "-n2", option, "sh", "-c", "echo $SLURM_PROCID=$(cat)", input="abc")
    assert dict(line.split("=") for line in result.stdout.split()) == expected


def test_output_of_one_task(shared):
    """A number is that of a task; the output of the others is dropped. One that no task has is a file."""
    write = ["sh", "-c", "echo out $SLURM_PROCID; echo err $SLURM_PROCID >&2"]
    for options, out, err in [(["-o1"], "out 1\n", "err 1\n"), (["-e1"], "out 0\nout 1\nout 2\n", "err 1\n"),
                              (["-o2", "-e", "2"], "out 2\n", "err 2\n"), (["-o0", "-e", "1"], "out 0\n", "err 1\n")]:
        done = shared.run("srun", "-N2", "-n3", *options, *write)
        assert "".join(sorted(done.stdout.splitlines(True))) == out and done.stderr == err, options
    shared.run("srun", "-n3", "-o", "3", *write)
    assert len((shared.dir / "work" / "3").read_text().splitlines()) == 6


def test_missing_directories_of_output_are_made(shared):
    for pattern in ("made/%j/all.out", "made/%j/%t.out"):
        shared.run("srun", "-n1", "-o", pattern, "echo", pattern)
    found = sorted((shared.dir / "work" / "made").glob("*/*.out"))
    assert [path.read_text() for path in found] == ["made/%j/all.out\n", "made/%j/%t.out\n"]


def test_patterns_of_nodes_and_tasks(shared):
    work = shared.dir / "work"
    shared.run("srun", "-N2", "-n4", "--ntasks-per-node=2", "-w", "n[1-2]", "-o", "out-%N-%n-%2t-%s", "-e", "err-%t", "sh", "-c",
               "echo $SLURM_PROCID; echo e$SLURM_PROCID >&2")
    assert sorted(path.name for path in work.glob("out-*")) == [
        f"out-n{1 + task // 2}-{task // 2}-0{task}-0" for task in range(4)]
    assert [(work / f"err-{task}").read_text() for task in range(4)] == [f"e{task}\n" for task in range(4)]
    for task in range(4):
        assert (work / f"out-n{1 + task // 2}-{task // 2}-0{task}-0").read_text() == f"{task}\n"


def test_open_mode(shared):
    path = shared.dir / "work" / "mode"
    for mode, text in (("truncate", "a\n"), ("append", "a\na\n"), ("truncate", "a\n")):
        shared.run("srun", f"--open-mode={mode}", "-o", "mode", "echo", "a")
        assert path.read_text() == text


def test_unbuffered_output_comes_without_the_end_of_its_line(shared):
    step = shared.popen("srun", "-u", "sh", "-c", "printf 'name: '; read name; echo hello $name", text=False)
    assert step.stdout.read(6) == b"name: "
    step.stdin.write(b"x\n")
    step.stdin.flush()
    assert step.communicate(timeout=30)[0] == b"hello x\n"


def test_input_that_never_ends_does_not_keep_srun(shared):
    ours, theirs = os.pipe()
    step = shared.popen("srun", "-N2", "-n2", "sh", "-c", "exit $SLURM_PROCID", stdin=ours)
    os.close(ours)
    assert step.wait(timeout=30) == 1
    os.close(theirs)
    result = shared.run("bash", "-c", "yes | srun true; echo ${PIPESTATUS[1]}")
    assert result.stdout == "0\n"


@pytest.mark.parametrize("option", ["--quit-on-interrupt", "-X"])
def test_one_interrupt_is_enough_where_asked_for(shared, option):
    step = shared.popen("srun", option, "sh", "-c", "echo up; exec sleep 1000", start_new_session=True)
    assert step.stdout.readline() == "up\n"
    step.send_signal(signal.SIGINT)
    _, said = step.communicate(timeout=30)
    assert step.returncode == 128 + signal.SIGINT
    assert "one more within 1 sec" not in said and "sending Ctrl-C to StepId=" in said


@pytest.mark.parametrize("body, code", [("exit $((SLURM_PROCID * 40))", 120), ("[ $SLURM_PROCID = 2 ] && kill -9 $$; exit 5", 137),
                                        ("kill -15 $$", 143)])
def test_the_highest_code_or_the_signal(shared, body, code):
    assert shared.run("srun", "-N2", "-n4", "sh", "-c", body, check=False).returncode == code


def process_state(pid):
    return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]


def test_it_can_be_stopped_and_continued(shared):
    """Its tasks wait when their output is full, and nothing is lost."""
    step = shared.popen("srun", "sh", "-c", "echo up; seq 1 400000", preexec_fn=os.setpgrp)
    assert step.stdout.readline() == "up\n"
    step.send_signal(signal.SIGTSTP)
    shared.wait_for(lambda: process_state(step.pid) in "TZ", what="srun to stop")
    assert shared.run("squeue", "-h", "-o", "%T").stdout.split() == ["RUNNING"]
    step.send_signal(signal.SIGCONT)
    assert step.stdout.read().splitlines() == [str(i) for i in range(1, 400001)]
    assert step.wait(timeout=60) == 0 and "got SIGCONT" in step.stderr.read()


def set_size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read_until(fd, word):
    seen = b""
    while word not in seen:
        seen += os.read(fd, 1000)
    return seen


def test_the_size_of_the_window_and_the_terminal_afterwards(shared):
    ours, theirs = pty.openpty()
    set_size(ours, 30, 100)
    before = termios.tcgetattr(theirs)
    body = "trap 'stty size' WINCH; stty size; while :; do sleep 0.1; done"
    step = shared.popen("srun", "--pty", "bash", "-c", body, stdin=theirs, stdout=theirs, stderr=theirs,
                        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
    read_until(ours, b"30 100")
    assert termios.tcgetattr(theirs)[3] != before[3]  # raw
    set_size(ours, 40, 120)  # the kernel sends SIGWINCH to srun
    read_until(ours, b"40 120")
    step.send_signal(signal.SIGSTOP)
    shared.wait_for(lambda: process_state(step.pid) in "TZ", what="srun to stop")
    termios.tcsetattr(theirs, termios.TCSANOW, before)  # as a shell does with a stopped job
    set_size(ours, 50, 130)
    step.send_signal(signal.SIGCONT)
    read_until(ours, b"50 130")
    assert termios.tcgetattr(theirs)[3] != before[3]
    step.send_signal(signal.SIGTERM)
    read_until(ours, b"forcing job termination")
    step.wait(timeout=60)
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_input_that_ranks_do_not_read_does_not_block_others(shared):
    """One task reads nothing: the others get theirs up to what the buffers hold."""
    data = b"x" * 200_000
    step = shared.popen("srun", "-N2", "-n2", "sh", "-c", "[ $SLURM_PROCID = 0 ] && exec wc -c; sleep 1", text=False,
                        stdin=subprocess.PIPE)
    out, _ = step.communicate(data, timeout=60)
    assert out.split() == [b"200000"] and step.returncode == 0

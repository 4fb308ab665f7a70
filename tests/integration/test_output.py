"""Where a job's output goes: patterns, modes, directories, and paths that cannot be written."""

import os

import pytest


@pytest.mark.parametrize("pattern, expected", [
    ("plain.txt", "plain.txt"), ("%x-%j.log", "named-{job}.log"), ("%5j.log", "{job:0>5}.log"),
    ("%u-%N.log", "{user}-{node}.log"), ("new/%j/deep.log", "new/{job}/deep.log"),
    ("100%%.log", "100%.log")])
def test_output_pattern(shared, pattern, expected):
    job = shared.submit("echo here", "-J", "named", "-o", pattern)
    record = shared.wait_end(job)
    name = expected.format(job=job, user=shared.user, node=record["BatchHost"])
    assert (shared.dir / "work" / name).read_text() == "here\n"
    assert record["JobState"] == "COMPLETED"


def test_stderr_of_its_own(shared):
    job = shared.submit("echo out; echo err >&2", "-o", "%j.o", "-e", "%j.e")
    shared.wait_end(job)
    assert shared.output(job, "{}.o") == "out\n" and shared.output(job, "{}.e") == "err\n"


@pytest.mark.parametrize("mode, expected", [("append", "old\nnew\n"), ("truncate", "new\n")])
def test_open_mode(shared, mode, expected):
    path = shared.dir / "work" / f"{mode}.txt"
    path.write_text("old\n")
    shared.wait_end(shared.submit("echo new", "-o", path, f"--open-mode={mode}"))
    assert path.read_text() == expected


def test_input_file(shared):
    (shared.dir / "work" / "in.txt").write_text("from a file\n")
    script = shared.dir / "work" / "cat.sh"
    script.write_text("#!/bin/sh\ncat\n")
    job = shared.run("sbatch", "--parsable", "-i", "in.txt", script).stdout.strip()
    shared.wait_end(job)
    assert shared.output(job) == "from a file\n"


def test_steps_open_their_files_as_their_job_does(shared):
    body = "echo old >mode.txt; srun -o mode.txt echo new; echo $SLURM_OPEN_MODE; cat mode.txt"
    _, output = shared.run_job(f"#!/bin/sh\n#SBATCH --open-mode=append\n{body}\n")
    assert output == "a\nold\nnew\n"
    _, output = shared.run_job(body, "--open-mode=truncate")
    assert output == "t\nnew\n"


def test_working_directory(shared):
    _, output = shared.run_job("pwd", "-D", "/usr/share", "-o", f"{shared.dir}/work/slurm-%j.out")
    assert output == "/usr/share\n"


def test_missing_working_directory_becomes_tmp(shared):
    _, output = shared.run_job("pwd", "-D", "/does/not/exist", "-o",
                               f"{shared.dir}/work/slurm-%j.out")
    assert "couldn't chdir to `/does/not/exist': No such file or directory" in output
    assert output.endswith("/tmp\n")


def test_missing_working_directory_is_not_made(shared):
    """Also for root, who could: the output would be there, and the job would seem to have run there."""
    missing = shared.dir / "work" / "missing"
    for options in ([], ["-o", "sub/%j.out"], ["-o", missing / "sub" / "%j.out"]):
        record = shared.wait_end(shared.submit("true", "-D", missing, *options))
        assert (record["JobState"], record["ExitCode"]) == ("FAILED", "0:53")
        assert f"could_not_open_stdout_file_{record['StdOut']}:_No_such_file_or_directory" in record["Reason"]
    shared.run("srun", "-D", missing, "-o", f"{missing}/%t.out", "true", check=False)
    assert not missing.exists()


def test_unwritable_output_fails_the_job_not_the_node(shared):
    target = "/proc/no-such/%j.out" if os.getuid() == 0 else "/root/%j.out"
    job = shared.submit("echo lost", "-o", target)
    record = shared.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "0:53")
    record, output = shared.run_job("echo fine")
    assert record["JobState"] == "COMPLETED" and output == "fine\n"


def test_much_output_arrives_whole(shared):
    _, output = shared.run_job("seq 200000")
    assert output.splitlines()[-1] == "200000" and len(output.splitlines()) == 200000

"""What users type wrong: every refusal names the option and the value, and nothing breaks."""

import os

import pytest

# options, exit code (None: any but 0), words of the message
BAD_VALUES = [
    (["--time=abc"], 255, "Invalid --time specification"),
    (["-N", "x"], 255, '"x" is not a valid node count'),
    (["-n", "0"], 1, 'Invalid numeric value "0" for --ntasks.'),
    (["-n", "-5"], 1, 'Invalid numeric value "-5" for --ntasks.'),
    (["-c", "many"], 1, 'Invalid numeric value "many" for --cpus-per-task.'),
    (["--mem=x"], 255, "Invalid --mem specification"),
    (["--begin=never"], 255, "Invalid --begin specification"),
    (["--array=5-1"], 1, "Invalid job array specification"),
    (["--array=1-100000000"], 1, "Invalid job array specification"),
    (["--array=x"], 1, "Invalid job array specification"),
    (["--mem=4X"], 255, "sbatch: --mem=4X: expected megabytes"),
    (["--time=abc"], 255, "sbatch: --time=abc: expected minutes"),
    (["-ntasks=2"], 1, "-ntasks=2 is -n with the value tasks=2; did you mean --ntasks=2?"),
    (["--dependency=afterok:99999"], 1, "job 99999 is not known"),
    (["--no-such-option"], 255, "unrecognized option '--no-such-option'"),
    (["--nice=10000000000000"], None, "nice"),
    (["--signal=NOSUCH"], None, "signal"),
    (["--open-mode=sideways"], None, "open-mode"),
    (["--mail-type=SOMETIMES"], None, "mail-type"),
    (["--exclude=n[1-"], None, ""),
    (["-w", "n[1-99999999999]"], None, ""),
    (["-p", "x" * 100000], None, ""),
]


@pytest.mark.parametrize("options, code, words", BAD_VALUES, ids=lambda v: str(v)[:30])
def test_bad_option_values(shared, options, code, words):
    result = shared.run("sbatch", *options, "--wrap", "true", check=False)
    assert result.returncode == code if code else result.returncode > 0
    assert words in result.stderr and "sbatch: " in result.stderr
    assert result.stdout == ""


BAD_SCRIPTS = [
    (b"", "Batch script is empty!"),
    (b"echo no interpreter\n", "This does not look like a batch script"),
    (b"#!/bin/sh\r\necho\r\n", "Batch script contains DOS line breaks"),
    (b"#!/bin/sh\n\0\1\2\3", "contain a NULL character"),
    (bytes(range(256)) * 100, "sbatch: error:"),
    (b"#!/bin/sh\n#SBATCH --no-such-option\n", "unrecognized option '--no-such-option'"),
    (b"#!/bin/sh\n#SBATCH --time=abc\n", "Invalid --time specification"),
    (b"#!/bin/sh\n\n#SBATCH --gress=gpu:1\n", "bad.sh line 3: #SBATCH --gress=gpu:1\nsbatch: did you mean --gres?"),
    (b"\n#!/bin/sh\n", "#! is in line 2: remove the empty lines before it"),
    (b"\xef\xbb\xbf#!/bin/sh\n", "begins with a UTF-8 byte order mark"),
    (b"#!/bin/sh\n" + b"# a long line\n" * 7_700_000, "sbatch: error:"),  # more than 100 MB
]


@pytest.mark.parametrize("script, words", BAD_SCRIPTS, ids=lambda v: repr(v[:24]))
def test_bad_scripts(shared, script, words):
    path = shared.dir / "work" / "bad.sh"
    path.write_bytes(script)
    result = shared.run("sbatch", path, check=False)
    path.unlink()
    assert result.returncode != 0 and words in result.stderr
    assert shared.run("scontrol", "ping").returncode == 0


def test_a_script_that_is_not_there(shared):
    result = shared.run("sbatch", "/no/such/script", check=False)
    assert result.returncode == 1 and "Unable to open file /no/such/script" in result.stderr
    assert "sbatch: /no/such/script: No such file or directory\n" in result.stderr
    assert "sbatch: /tmp: Is a directory\n" in shared.run("sbatch", "/tmp", check=False).stderr


def test_an_interpreter_that_is_not_there_fails_the_job(shared):
    job = shared.submit("#!/no/such/interpreter\n")
    assert shared.wait_end(job)["JobState"] == "FAILED"


def test_a_large_environment(shared):
    job = shared.submit("echo ${#BIG}", env={"BIG": "x" * 100_000})
    assert shared.wait_end(job)["JobState"] == "COMPLETED"
    assert shared.output(job) == "100000\n"


def test_odd_names_come_back_as_they_were(shared):
    name = "näme with 'quotes' and $dollars"
    job = shared.submit("true", "--hold", "-J", name)
    assert shared.run("squeue", "-h", "-j", job, "-o", "%j").stdout == f"{name}\n"
    shared.run("scancel", job)


@pytest.mark.parametrize("argv", [
    ["squeue", "--no-such"], ["squeue", "-t", "NOSUCH"],
    ["sinfo", "--no-such"], ["scancel"], ["scancel", "abc"], ["scontrol", "nonsense"],
    ["scontrol", "show", "job", "abc"], ["scontrol", "show", "node", "nosuch"],
    ["scontrol", "show", "partition", "nosuch"], ["scontrol", "update", "JobId=99999999", "Name=x"],
    ["scontrol", "update", "NodeName=n1", "State=NONSENSE"], ["scontrol", "update", "Nonsense=1"],
    ["scontrol", "hold", "99999999"], ["srun", "-N", "x", "true"], ["srun"], ["srun", "--jobid=99999999", "true"],
    ["salloc", "-N", "x"]], ids=" ".join)
def test_bad_commands(shared, argv):
    result = shared.run(*argv, check=False)
    assert result.returncode not in (0, -6, -11, 134, 139), result
    assert result.stderr + result.stdout


# What is changed, the field, and the first line of the answer: Slurm's.
BAD_CHANGES = [
    ("job", "Foo=1", "Update of this parameter is not supported: Foo=1"),
    ("job", "timelimit=abc", "scontrol: error: Invalid TimeLimit value"),
    ("job", "timelimit+=abc", "scontrol: error: Invalid TimeLimit value"),
    ("job", "TimeMin=abc", "scontrol: error: Invalid TimeMin value"),
    ("job", "priority=abc", "scontrol: error: Invalid Priority value: abc"),
    ("job", "requeue=abc", "scontrol: error: Invalid Requeue value: abc"),
    ("job", "numnodes=abc", 'scontrol: error: Invalid numeric value "abc" for requested node count.'),
    ("job", "reqprocs=abc", "scontrol: error: Invalid NumTasks value: abc"),
    ("job", "shared=abc", "scontrol: error: Invalid OverSubscribe value: abc"),
    ("job", "minmemorynode=abc", "scontrol: error: Invalid MinMemoryNode value: abc"),
    ("job", "contiguous=abc", "scontrol: error: Invalid Contiguous value: abc"),
    ("job", "starttime=2030-13-01", "Invalid time specification (pos=5): 2030-13-01"),
    ("job", "deadline=abc", "Invalid time specification (pos=0): abc"),
    ("job", "deadline=now-1", "Invalid time specified for job {}"),
    ("nodename=n1", "foo=1", "Update of this parameter is not supported: foo=1"),
    ("nodename=n1", "state=FOO", "Invalid input: state=FOO"),
    ("nodename=n1", "weight=abc", "scontrol: error: Weight value (abc) is not a valid number"),
    ("partition=debug", "foo=1", "scontrol: error: Update of this parameter is not supported: foo=1"),
    ("partition=debug", "state=FOO", "scontrol: error: Invalid input: state=FOO"),
    ("partition=debug", "maxtime=abc", "scontrol: error: Invalid input maxtime=abc"),
    ("partition=debug", "maxnodes=abc", 'scontrol: error: Invalid numeric value "abc" for MaxNodes.'),
    ("partition=debug", "gracetime=abc", "scontrol: error: Invalid GraceTime value: abc"),
]


def test_bad_changes_are_refused_in_slurms_words(shared):
    job = shared.submit("true", "--hold")
    for entity, field, line in BAD_CHANGES:
        named = f"JobId={job}" if entity == "job" else entity
        result = shared.run("scontrol", "update", named, field, check=False)
        assert result.returncode == 1, (entity, field)
        assert result.stderr.splitlines()[0] == line.format(job), (entity, field)
        assert shared.run("scontrol", "-Q", "update", named, field, check=False).stderr == ""
    shared.run("scancel", job)
    wrong = shared.run("scontrol", "update", "NodeName=n1", "State=FOO", check=False).stderr
    assert "RESUME or UNDRAIN is needed" in wrong  # and what would be right


def test_an_unknown_user_is_named(shared):
    result = shared.run("squeue", "-u", "nosuchuser", check=False)
    assert "squeue: error: Invalid user: nosuchuser" in result.stderr


@pytest.mark.parametrize("tool", ["sbatch", "srun", "salloc", "scancel", "squeue", "sinfo",
                                  "scontrol", "sacct", "sreport", "gpu_usage", "slurmctld", "slurmd"])
def test_version(shared, tool):
    assert shared.run(tool, "-V").stdout == "slurm 26.05.3\n"


@pytest.mark.parametrize("option", ["--help", "--usage"])
@pytest.mark.parametrize("tool", ["sbatch", "srun", "salloc", "scancel", "squeue", "sinfo", "sprio", "scontrol",
                                  "sacctmgr", "sacct", "sreport", "gpu_usage", "swhy", "sluice", "ssim", "slurmctld",
                                  "slurmd"])
def test_help_and_usage(shared, tool, option):
    assert tool in shared.run(tool, option).stdout


@pytest.mark.parametrize("config, words", [
    ("/no/such.conf", "fatal: /no/such.conf: No such file or directory\n"),
    ("bad.conf", "fatal: bad.conf line 2: unrecognized key 'FooBar'\n")])
@pytest.mark.parametrize("command", [["sbatch", "--wrap", "true"], ["srun", "true"], ["squeue"], ["sinfo"]])
def test_all_commands_name_the_configuration_alike(shared, config, words, command):
    (shared.dir / "work" / "bad.conf").write_text("ClusterName=x\nFooBar=1\n")
    result = shared.run(*command, check=False, env={"SLURM_CONF": str(shared.dir / "work" / config)})
    assert result.stderr == f"{command[0]}: {words}"


@pytest.mark.parametrize("line, words", [
    ("NoSuchKey=1", "NoSuchKey"), ("SlurmctldPort=many", "SlurmctldPort"),
    ("NodeName=n9 CPUs=-1", "CPUs"), ("PartitionName=p Nodes=nosuch", "nosuch"),
    ("SlurmUser=nosuchuser", "nosuchuser")])
def test_bad_configuration_names_line_key_and_value(make_cluster, line, words):
    cluster = make_cluster(start=False, extra=line)
    cluster.checked = False
    result = cluster.run("slurmctld", "-D", check=False, timeout=30)
    log = cluster.dir / "log" / "slurmctld.log"
    said = result.stderr + (log.read_text() if log.exists() else "")
    assert result.returncode != 0 and words in said


def test_a_node_that_slurm_conf_does_not_know(shared):
    result = shared.run("slurmd", "-D", "-N", "stranger", check=False, timeout=30)
    assert result.returncode != 0 and "stranger" in result.stderr
    assert os.path.exists(shared.conf)

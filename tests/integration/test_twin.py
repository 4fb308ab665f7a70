"""Tools that are linked statically, and what makes them become their dynamic twins."""

import os
import shutil

import pytest
from cluster import wait_for


@pytest.fixture
def lone(shared, tmp_path):
    """A directory with the static tools and without their twins."""
    if not (shared.prefix / "lib/sluice/squeue").exists():
        pytest.skip("the tools of this build are dynamic")
    (tmp_path / "bin").mkdir()
    for tool in ("sbatch", "squeue", "scancel", "scontrol", "sinfo"):
        shutil.copy(shared.prefix / "bin" / tool, tmp_path / "bin")
    tmp_path.chmod(0o755)
    return tmp_path / "bin"


def test_questions_on_the_controllers_host_need_no_twin(shared, lone):
    job = shared.run(lone / "sbatch", "-H", "--parsable", "--wrap", "true").stdout.strip()
    assert shared.run(lone / "squeue", "-h", "-u", "root,nobody", "-o", "%u").returncode == 0
    assert f"JobId={job} " in shared.run(lone / "scontrol", "show", "job", job).stdout
    assert "debug" in shared.run(lone / "sinfo").stdout
    shared.run(lone / "scancel", job)


@pytest.mark.parametrize("command", [
    ["squeue", "-u", "no-such-user"],
    ["scancel", "-u", "no-such-user"],
    ["sbatch", "--uid", "no-such-user", "--wrap", "true"],
    ["sbatch", "--wait", "--wrap", "true"],
    ["squeue", "-i", "1"],
    ["scontrol"],
], ids=" ".join)
def test_what_needs_the_twin_says_so_where_there_is_none(shared, lone, command):
    result = shared.run(lone / command[0], *command[1:], check=False)
    assert result.returncode == 1 and result.stdout == ""
    assert f"{lone.parent}/lib/sluice/{command[0]}" in result.stderr


def test_a_user_that_the_password_file_does_not_know(shared):
    result = shared.run("squeue", "-h", "-u", "no-such-user", check=False)
    assert "squeue: error: Invalid user: no-such-user\n" in result.stderr


def test_the_twin_reads_the_script_that_was_read_already(shared):
    script = "#!/bin/sh\n#SBATCH -o twin.out\necho from standard input\n"
    shared.run("sbatch", "--wait", input=script)
    assert (shared.dir / "work/twin.out").read_text() == "from standard input\n"


def test_what_is_wrong_is_said_once(shared):
    result = shared.run("squeue", "-u", "no-such-user", "-o", "%i %!", check=False)
    assert result.stderr.count("Invalid job format specification") == 1
    assert result.stderr.count("Invalid user") == 1


def test_the_twin_waits_for_a_controller_that_comes_back(cluster):
    if not (cluster.prefix / "lib/sluice/sbatch").exists():
        pytest.skip("the tools of this build are dynamic")
    cluster.kill("slurmctld")
    waiting = cluster.popen("sbatch", "-H", "--wrap", "true")
    wait_for(lambda: "/lib/sluice/" in os.readlink(f"/proc/{waiting.pid}/exe"),
             what="sbatch to become its twin")
    cluster.start_controller()
    assert waiting.wait(timeout=30) == 0


def test_the_static_supervisor_is_for_scripts_of_known_users(cluster):
    """The first one on a node asks who the user is, and steps are connected to an srun."""
    if not (cluster.prefix / "lib/sluice/slurmstepd").exists():
        pytest.skip("the programs of this build are dynamic")
    look = "readlink /proc/$PPID/exe"
    programs = [cluster.run_job(look, "-w", "n1")[1].strip() for _ in range(2)]
    programs.append(cluster.run("srun", "-w", "n1", "sh", "-c", look).stdout.strip())
    twin, static = "lib/sluice/slurmstepd", "sbin/slurmstepd"
    assert [program.removeprefix(f"{cluster.prefix}/") for program in programs] == [twin, static, twin]

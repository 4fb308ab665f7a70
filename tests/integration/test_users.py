"""Jobs of another user: who they run as, and who may touch them."""

import os

import pytest

pytestmark = pytest.mark.usefixtures("as_root")
USER = "nobody"


def submit(cluster, body, *options):
    return cluster.submit(body, *options, user=USER)


def test_runs_as_the_user_with_umask_and_directory(shared):
    work = shared.dir / "work" / "of-nobody"
    work.mkdir()
    os.chown(work, 65534, 65534)
    command = ("umask 027; exec sbatch --parsable -o out --wrap "
               "'id -un; id -Gn; umask; pwd; touch made'")
    job = shared.run("sh", "-c", command, user=USER, cwd=work).stdout.strip()
    assert shared.wait_end(job)["JobState"] == "COMPLETED"
    assert (work / "out").read_text().split() == ["nobody", "nogroup", "0027", str(work)]
    for name in ("out", "made"):
        assert (work / name).stat().st_uid == 65534
    assert (work / "made").stat().st_mode & 0o777 == 0o640


def test_no_capability_of_the_daemon_is_left(shared):
    job = submit(shared, "grep -E '^Cap(Eff|Prm|Inh)' /proc/self/status; ulimit -c")
    shared.wait_end(job)
    lines = shared.output(job).splitlines()
    assert [line.split()[1].strip("0") for line in lines[:3]] == ["", "", ""]


def test_files_are_opened_as_the_user(shared):
    secret = shared.dir / "work" / "secret"
    secret.write_text("root only\n")
    secret.chmod(0o600)
    for option in ("-o", "-e", "-i"):
        job = submit(shared, "cat", option, secret)
        assert shared.wait_end(job)["JobState"] == "FAILED"
    assert secret.read_text() == "root only\n"


def test_one_user_cannot_touch_the_jobs_of_another(shared):
    job = shared.submit("sleep 1000")
    shared.wait_state(job, "RUNNING")
    for command in (["scancel", job], ["scontrol", "hold", job], ["scontrol", "requeue", job],
                    ["scontrol", "update", f"JobId={job}", "Name=taken"],
                    ["srun", f"--jobid={job}", "id"]):
        result = shared.run(*command, user=USER, check=False)
        assert result.returncode != 0, command
    assert shared.job(job)["JobName"] != "taken" and shared.state(job) == "RUNNING"
    script = shared.run("scontrol", "write", "batch_script", job, "-", user=USER, check=False)
    assert "sleep" not in script.stdout and script.stderr
    shared.run("scancel", job)


@pytest.mark.parametrize("command", [
    ["update", "NodeName=n1", "State=DRAIN", "Reason=mine"], ["reconfigure"], ["shutdown"],
    ["update", "PartitionName=debug", "State=DOWN"]])
def test_the_administrators_verbs_are_refused(shared, command):
    result = shared.run("scontrol", *command, user=USER, check=False)
    assert result.returncode != 0
    assert "Access/permission denied" in result.stderr + result.stdout \
        or "Invalid user id" in result.stderr + result.stdout
    assert shared.run("scontrol", "ping").returncode == 0


def test_nobody_may_submit_for_somebody_else(shared):
    assert shared.run("sbatch", "--uid=root", "--wrap", "id", user=USER, check=False).returncode


def test_a_user_who_may_not_raise_priority(shared):
    job = submit(shared, "true", "--hold")
    assert shared.run("scontrol", "update", f"JobId={job}", "Nice=-100", user=USER,
                      check=False).returncode
    shared.run("scontrol", "hold", job)
    assert shared.run("scontrol", "release", job, user=USER, check=False).returncode
    shared.run("scancel", job, user=USER)


def test_a_user_unknown_to_the_controller_is_refused(shared):
    """No node would know the user either: each that is given the job would be drained."""
    as_ghost = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    for command in (["sbatch", "--wrap", "touch ran"], ["srun", "touch", "ran"],
                    ["sbatch", "--test-only", "--wrap", "true"]):
        refused = shared.run(*as_ghost, *command, check=False)
        assert refused.returncode != 0 and "Invalid user id" in refused.stderr, command
    assert not shared.run("squeue", "-h", "-u", "54321").stdout
    assert all(not state.startswith("drain") for state in shared.node_states().values())
    assert not (shared.dir / "work" / "ran").exists()

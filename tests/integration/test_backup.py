"""sluice backup and sluice restore: a file of one moment, for a state in a directory and in PostgreSQL; and the steps of
the administrator's guide, executed as they are written there."""

import signal
import stat

import pytest
from guide import do, steps_of
from sql_server import Postgresql


def stop(cluster):
    cluster.kill("slurmctld", signal.SIGTERM)


def queue(cluster):
    return cluster.run("squeue", "-h", "-S", "i", "-o", "%i").stdout.split()


def restore(cluster, *words, check=False):
    return cluster.run("sluice", "restore", *map(str, words), check=check)


@pytest.fixture
def backup(cluster):
    """A file with two held jobs and one that has ended; the cluster runs."""
    path = cluster.dir / "work" / "backup"
    cluster.held = [cluster.submit("echo restored", "--hold") for _ in range(2)]
    ended = cluster.submit("true")
    cluster.wait_end(ended)
    cluster.ended = ended
    cluster.run("sluice", "backup", str(path))
    return path


def test_a_backup_made_while_the_controller_runs_is_restored(cluster, backup):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    later = cluster.submit("true", "--hold")
    stop(cluster)
    assert "sluice.db.before-restore." in restore(cluster, "--force", backup, check=True).stdout
    cluster.start_controller()
    assert queue(cluster) == cluster.held
    assert cluster.submit("true", "--hold") == later, "the number was not given to another job"
    shown = cluster.run("sacct", "-nPX", "-o", "JobID,State", "-j", cluster.ended).stdout
    assert shown == f"{cluster.ended}|COMPLETED\n"
    cluster.run("scontrol", "release", cluster.held[0])  # its script and the key of launches are there
    assert cluster.wait_end(cluster.held[0])["JobState"] == "COMPLETED"
    assert cluster.output(cluster.held[0]) == "restored\n"


def test_restore_changes_nothing_when_it_refuses(cluster, backup):
    running = restore(cluster, "--force", backup)
    assert running.returncode == 1 and "is in use by process" in running.stderr
    later = cluster.submit("true", "--hold")
    stop(cluster)
    content = backup.read_bytes()
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 1
    for name, bad, why in [("damaged", bytes(damaged), "the backup is damaged"), ("cut", content[:-1], "it is cut off"),
                           ("more", content + b"x", "bytes follow its end"), ("none", b"x" * 100, "this is no backup"),
                           ("newer", content.replace(b"backup 1", b"backup 2", 1), "written by a newer version")]:
        path = backup.with_name(name)
        path.write_bytes(bad)
        refused = restore(cluster, "--force", path)
        assert refused.returncode == 1 and why in refused.stderr, name
    exists = restore(cluster, backup)
    assert exists.returncode == 1 and "--force puts it aside" in exists.stderr
    old = cluster.conf.read_text()
    cluster.conf.write_text(old.replace("ClusterName=test", "ClusterName=other"))
    other = restore(cluster, "--force", backup)
    assert other.returncode == 1 and "the backup is of cluster test" in other.stderr
    cluster.conf.write_text(old)
    cluster.start_controller()
    assert queue(cluster) == [*cluster.held, later]


def test_a_state_moves_to_postgresql_and_back(cluster, backup):
    stop(cluster)
    server = Postgresql()
    try:
        old = cluster.conf.read_text()
        shared = f"postgresql://sluice@/postgres?host={server.socket}"
        cluster.conf.write_text(old.replace(f"StateSaveLocation={cluster.dir}/state", f"StateSaveLocation={shared}"))
        restore(cluster, backup, check=True)
        exists = restore(cluster, backup)
        assert exists.returncode == 1 and "--force puts it aside" in exists.stderr
        assert "schema sluice_test_state_" in restore(cluster, "--force", backup, check=True).stdout
        copy = backup.with_name("copy")
        cluster.run("sluice", "backup", str(copy))
        cluster.conf.write_text(old)
        restore(cluster, "--force", copy, check=True)
    finally:
        server.stop()
    cluster.start_controller()
    assert queue(cluster) == cluster.held


def test_bad_command_lines_are_refused(cluster):
    for words, why in [((), "needs one file"), (("--force", "x"), "--force is for restore"), (("-q", "x"), "unknown option"),
                       (("x", "y"), "needs one file")]:
        result = cluster.run("sluice", "backup", *words, check=False)
        assert result.returncode == 1 and why in result.stderr, words
    missing = cluster.run("sluice", "backup", "/nowhere/file", check=False)
    assert missing.returncode == 1 and "/nowhere/file" in missing.stderr


# ---- the guide

def test_the_steps_of_the_guide_work_while_a_job_runs(cluster):
    steps = steps_of("Backup and restore")
    assert len(steps) >= 4 and steps[0].startswith("sluice backup")
    running = cluster.submit("echo run >>runs; while [ ! -e go ]; do sleep 0.05; done; echo finished")
    cluster.wait_state(running, "RUNNING")
    held = cluster.submit("true", "--hold")
    for step in steps:
        do(cluster, step)
    assert queue(cluster) == [running, held]
    (cluster.dir / "work" / "go").touch()
    assert cluster.wait_end(running)["JobState"] == "COMPLETED"
    assert (cluster.dir / "work" / "runs").read_text() == "run\n"

"""One controller with its state in PostgreSQL: restarts, a server that is killed under submissions, and accounting in the same
database. Several controllers: test_failover.py."""

import pytest
from sql_server import Postgresql


@pytest.fixture
def server():
    server = Postgresql()
    yield server
    server.stop()


@pytest.fixture
def cluster(server, make_cluster):
    return make_cluster(extra=f"StateSaveLocation=postgresql://sluice@/postgres?host={server.socket}")


def queue(cluster):
    return cluster.run("squeue", "-h", "-S", "i", "-o", "%i").stdout.split()


def test_jobs_survive_a_killed_controller(cluster):
    running = cluster.submit("echo run >>runs; while [ ! -e go ]; do sleep 0.05; done")
    cluster.wait_state(running, "RUNNING")
    held = cluster.submit("echo script", "--hold")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert queue(cluster) == [running, held]
    (cluster.dir / "work" / "go").touch()
    assert cluster.wait_end(running)["JobState"] == "COMPLETED"
    assert (cluster.dir / "work" / "runs").read_text() == "run\n"
    cluster.run("scontrol", "release", held)
    cluster.wait_end(held)
    assert cluster.output(held) == "script\n"
    shown = lambda: cluster.run("sacct", "-nPX", "-o", "JobID,State").stdout.split()  # noqa: E731
    cluster.wait_for(lambda: shown() == [f"{running}|COMPLETED", f"{held}|COMPLETED"], what="sacct")
    assert not list((cluster.dir / "state").iterdir()), "nothing is in a directory"


def test_no_acknowledged_job_is_lost_when_the_server_is_killed(cluster, server):
    told = []
    for round in range(3):
        for i in range(10):
            told.append(cluster.submit("true", "--hold"))
            if i == 5:
                server.kill()
                server.start()
    assert queue(cluster) == told
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert queue(cluster) == told


def test_the_doctor_does_not_look_for_a_directory(cluster):
    shown = cluster.run("sluice", "doctor", "--json", check=False, env={"HOME": "/tmp"}).stdout
    assert '"findings"' in shown and "StateSaveLocation" not in shown and "postgresql://" not in shown

"""One controller with its state in PostgreSQL: restarts, a server that is killed under submissions, and accounting in the same
database. Several controllers: test_failover.py."""

import signal

import pytest
from secure_server import PASSWORD, SecureServer, make_certificate
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


# ---- TLS, a password file, several hosts

@pytest.fixture
def secure():
    server = SecureServer()
    yield server
    server.stop()


def secure_location(server, password_file, certificate=None):
    """The first of its hosts is not there."""
    return (f"postgresql://sluice@127.0.0.1:1,127.0.0.1:{server.port}/sluice?sslmode=verify-full"
            f"&sslrootcert={certificate or server.certificate}&passfile={password_file}")


def password_file(cluster, password):
    path = cluster.dir / "etc" / "pgpass"
    path.write_text(f"*:*:*:*:{password}\n".replace("pass:word", "pass\\:word"))
    path.chmod(0o600)
    return path


def point_at(cluster, where):
    lines = [line for line in cluster.config_text().splitlines() if not line.startswith("StateSaveLocation=")]
    cluster.conf.write_text("\n".join([*lines, f"StateSaveLocation={where}"]) + "\n")


def test_a_state_behind_tls_and_a_password(make_cluster, secure):
    cluster = make_cluster(start=False)
    point_at(cluster, secure_location(secure, password_file(cluster, PASSWORD)))
    cluster.start()
    record, output = cluster.run_job("echo done")
    assert (record["JobState"], output) == ("COMPLETED", "done\n")
    connections = secure.psql("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'sluice'")
    assert connections and set(connections.split()) == {"t"}
    cluster.run("sluice", "backup", str(cluster.dir / "work" / "copy"))


def test_a_database_that_cannot_be_used_is_explained_and_no_password_is_shown(make_cluster, secure):
    cluster = make_cluster(start=False)
    cluster.checked = False
    good = password_file(cluster, PASSWORD)
    wrong = good.with_name("wrong")
    wrong.write_text("*:*:*:*:nonsense\n")
    wrong.chmod(0o600)
    stranger = make_certificate(cluster.dir, "stranger")
    visible = secure_location(secure, good).replace("sluice@", f"sluice:{PASSWORD.replace('pass:', 'wrong')}@")
    for where, why in ((secure_location(secure, wrong), "password authentication failed"),
                       (secure_location(secure, good, stranger), "certificate verify failed"),
                       (visible, "password authentication failed")):
        point_at(cluster, where)
        cluster.start_controller(wait=False)
        cluster.wait_for(lambda: why in cluster.run("squeue", check=False).stderr, what=why)
        log = (cluster.dir / "log" / "slurmctld.log").read_text()
        assert f"the state in the database cannot be used: {without_password(where)}: " in log and why in log
        assert "wrongword" not in log
        assert cluster.kill("slurmctld", signal.SIGTERM) == 0


def without_password(where):
    return where.replace(":wrongword@", ":***@")


def test_a_connection_string_that_libpq_does_not_know_is_refused(make_cluster):
    cluster = make_cluster(start=False)
    cluster.checked = False
    point_at(cluster, "postgresql://sluice:secret@127.0.0.1/sluice?nosuchoption=1")
    refused = cluster.run("timeout", "30", "slurmctld", "-D", check=False)
    assert refused.returncode == 1
    assert ('fatal: StateSaveLocation=postgresql://sluice:***@127.0.0.1/sluice?nosuchoption=1: invalid URI query parameter: '
            '"nosuchoption"') in refused.stderr

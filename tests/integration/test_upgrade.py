"""Upgrades while jobs run. The programs of the next version (tools/next/CMakeLists.txt) speak one more version of the protocol
and have one more schema of the state. The installed programs are those of the previous version for them: both work
together in any mixture, jobs survive the upgrade of every daemon, and programs that are too old for a state say so."""

import contextlib
import shutil
import signal
import socket
import sqlite3

import pytest
from cluster import ROOT, default_prefix
from fault_load import Load, start_cluster
from guide import do, steps_of
from shared_state import StateServer
from wire import CLIENT, STEP, frame, hello, parse, read_frame

NEXT = ROOT / "build" / "next"
THIS, LATER = 2, 3  # versions of the protocol
SCHEMA = 6  # of the state, in this version
TOO_OLD = f"written by a newer version (schema {SCHEMA + 1}, this one knows {SCHEMA}): upgrade this program"

pytestmark = pytest.mark.skipif(not NEXT.exists(), reason="needs the programs for developers: cmake --build build")


class Installation:
    """Where the programs of a host are: first those of this version, then those of the next one, in place."""

    def __init__(self, path):
        self.old = default_prefix()
        self.path = shutil.copytree(self.old, path, symlinks=True)

    def upgrade(self):
        """Each program gets a new file, as packages do it: what runs goes on with the old one."""
        for program in NEXT.rglob("*"):
            if not program.is_file():
                continue
            place = self.path / program.relative_to(NEXT)
            assert place.exists(), f"{program} is not a program that is installed"
            fresh = place.with_name(f".{place.name}.new")
            shutil.copy2(program, fresh)
            fresh.rename(place)


@contextlib.contextmanager
def programs_of(cluster, prefix):
    """Daemons and tools of a cluster come from another installation."""
    before, cluster.prefix = cluster.prefix, prefix
    try:
        yield
    finally:
        cluster.prefix = before


def version_of(cluster, daemon):
    """The newest version of the protocol that a daemon on this host speaks."""
    place = ["slurmctld", *cluster.nodes].index(daemon)
    kind = "slurmd" if place else "slurmctld"
    with socket.socket(socket.AF_UNIX) as peer:
        address = f"\0sluice.{kind}.{cluster.ports.numbers[place]}"
        cluster.wait_for(lambda: peer.connect_ex(address) == 0, what=f"{daemon} to listen")
        peer.sendall(frame(hello("", STEP if place else CLIENT, most=99)))
        return parse(read_frame(peer))[1][0]


class Steady:
    """A batch job with a step on all nodes, and an srun beside it: they run until they are told to end, each once."""

    SCRIPT = ("echo $SLURMD_NODENAME >>began.{0}; while [ ! -e go ]; do sleep 0.05; done;"
              " echo $SLURMD_NODENAME >>ended.{0}; echo end $SLURMD_NODENAME")

    def __init__(self, cluster):
        self.cluster, width = cluster, len(cluster.nodes)
        self.all = sorted(cluster.nodes)
        self.job = cluster.submit(f"echo run >>runs\nsrun -N{width} sh -c '{self.SCRIPT.format('batch')}'\necho left $?",
                                  f"-N{width}")
        self.srun = cluster.popen("srun", f"-N{width}", "sh", "-c", self.SCRIPT.format("srun"))
        for kind in ("batch", "srun"):
            cluster.wait_for(lambda: self.lines(f"began.{kind}") == self.all, what=f"the tasks of {kind}")

    def lines(self, name):
        path = self.cluster.dir / "work" / name
        return sorted(path.read_text().split()) if path.exists() else []

    def end(self):
        (self.cluster.dir / "work" / "go").touch()
        out, err = self.srun.communicate(timeout=120)
        ends = [f"end {node}" for node in self.all]
        assert (self.srun.returncode, sorted(out.splitlines())) == (0, ends), err
        record = self.cluster.wait_end(self.job)
        assert (record["JobState"], record["Restarts"], record["ExitCode"]) == ("COMPLETED", "0", "0:0")
        assert sorted(self.cluster.output(self.job).splitlines()) == [*ends, "left 0"]
        assert self.lines("runs") == ["run"]
        for kind in ("batch", "srun"):
            assert self.lines(f"began.{kind}") == self.lines(f"ended.{kind}") == self.all


def check_tools(cluster, prefix):
    """What users do, with the tools of an installation: the job in it also uses them."""
    with programs_of(cluster, prefix):
        width = len(cluster.nodes)
        record, output = cluster.run_job(f"srun -N{width} sh -c 'echo $SLURMD_NODENAME'", f"-N{width}")
        assert (record["JobState"], sorted(output.split())) == ("COMPLETED", sorted(cluster.nodes))
        direct = cluster.run("srun", f"-N{width}", "sh", "-c", "echo $SLURMD_NODENAME")
        assert sorted(direct.stdout.split()) == sorted(cluster.nodes)
        inside = cluster.run("salloc", "-Q", f"-N{width}", "srun", "hostname")
        assert len(inside.stdout.split()) == width
        job = cluster.submit("srun sleep 1000", "-n1")
        cluster.wait_state(job, "RUNNING")
        cluster.wait_for(lambda: f"{job}.0" in cluster.run("squeue", "-h", "-s", "-o", "%i").stdout.split(), what="a step")
        cluster.wait_for(lambda: f"{job}.0" in cluster.run("sstat", "-n", "-a", "-o", "JobID", "-j", job).stdout,
                         what="the step in sstat")
        cluster.run("scontrol", "update", f"JobId={job}", "Comment=changed")
        assert cluster.job(job)["Comment"] == "changed"
        cluster.run("scancel", job)
        assert cluster.wait_end(job)["JobState"] == "CANCELLED"
        cluster.wait_for(lambda: cluster.run("sacct", "-nXP", "-o", "State", "-j", job).stdout.startswith("CANCELLED"),
                         what="the end in sacct")


def check_mixture(cluster, installation, expected):
    """Daemons of these versions, and the tools of both."""
    assert {name: version_of(cluster, name) for name in expected} == expected
    for prefix in (installation.old, installation.path):
        check_tools(cluster, prefix)
    assert cluster.run("scontrol", "show", "damaged").stdout == "No damaged records\n"


def restart_node(cluster, name):
    cluster.kill(name, signal.SIGTERM)
    cluster.start_node(name)


def schema_of(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0]


@pytest.fixture
def installed(make_cluster, request):
    """A cluster with an installation of its own."""
    cluster = make_cluster(start=False, cpus=8, **getattr(request, "param", {}))
    cluster.installation = Installation(cluster.dir / "prefix")
    cluster.prefix = cluster.installation.path
    return cluster


@pytest.mark.parametrize("order", [["slurmctld", "n1", "n2"], ["n1", "slurmctld", "n2"]])
def test_each_daemon_is_upgraded_while_jobs_run(installed, order):
    cluster = installed.start()
    versions = dict.fromkeys(order, THIS)
    held = cluster.submit("echo held", "--hold")
    steady = Steady(cluster)
    cluster.installation.upgrade()
    check_mixture(cluster, cluster.installation, versions)  # old daemons start new slurmstepd processes
    for daemon in order:
        if daemon == "slurmctld":
            cluster.kill("slurmctld", signal.SIGTERM)
            cluster.start_controller()
            cluster.wait_for(lambda: set(cluster.node_states().values()) <= {"idle", "mix", "alloc"}, what="all nodes")
        else:
            restart_node(cluster, daemon)
        versions[daemon] = LATER
        check_mixture(cluster, cluster.installation, versions)
    steady.end()
    cluster.run("scontrol", "release", held)
    assert cluster.wait_end(held)["JobState"] == "COMPLETED"
    assert cluster.output(held) == "held\n"


def test_an_upgraded_state_has_all_rows_and_is_refused_by_the_old_controller(installed):
    cluster = installed.start()
    held = [cluster.submit(f"echo {number}", "--hold", "--comment", f"c{number}") for number in range(3)]
    node = "reason of the administrator"
    cluster.run("scontrol", "update", "NodeName=n2", "State=DRAIN", f"Reason={node}")
    saved = cluster.dir / "work" / "before-upgrade.backup"
    cluster.run("sluice", "backup", str(saved))
    cluster.installation.upgrade()
    cluster.kill("slurmctld", signal.SIGTERM)
    cluster.start_controller()
    state = cluster.dir / "state" / "sluice.db"
    assert (schema_of(state), schema_of(f"{state}.v{SCHEMA}")) == (SCHEMA + 1, SCHEMA)
    with contextlib.closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as database:
        assert [str(row[0]) for row in database.execute("SELECT id FROM found_by_next ORDER BY id")] == held
    assert cluster.run("squeue", "-h", "-S", "i", "-o", "%i %k").stdout.splitlines() == \
        [f"{job} c{number}" for number, job in enumerate(held)]
    assert node in cluster.run("scontrol", "show", "node", "n2").stdout
    later = cluster.submit("echo later", "--hold")
    assert cluster.run("scontrol", "show", "damaged").stdout == "No damaged records\n"

    cluster.kill("slurmctld", signal.SIGTERM)
    with programs_of(cluster, cluster.installation.old):
        refused = cluster.run("slurmctld", "-D", check=False)
        assert refused.returncode == 1 and TOO_OLD in refused.stderr, refused.stderr
        copied = cluster.run("sluice", "backup", str(saved.with_name("other")), check=False)
        assert copied.returncode == 1 and f"the state has schema {SCHEMA + 1}, this version copies {SCHEMA}" in copied.stderr
    cluster.start_controller()  # the refused program has changed nothing
    assert cluster.run("squeue", "-h", "-S", "i", "-o", "%i").stdout.split() == [*held, later]

    newer = saved.with_name("newer.backup")
    cluster.run("sluice", "backup", str(newer))
    cluster.kill("slurmctld", signal.SIGTERM)
    with programs_of(cluster, cluster.installation.old):  # the way back
        wrong = cluster.run("sluice", "restore", "--force", str(newer), check=False)
        assert wrong.returncode == 1 and f"the backup has schema {SCHEMA + 1}" in wrong.stderr
        cluster.run("sluice", "restore", "--force", str(saved))
        cluster.start_controller()
        assert cluster.run("squeue", "-h", "-S", "i", "-o", "%i").stdout.split() == held
    cluster.run("scontrol", "update", "NodeName=n2", "State=RESUME")


@pytest.mark.parametrize("installed", [{"dbd": ""}], indirect=True)
def test_slurmdbd_is_upgraded_before_the_controller(installed):
    cluster, jobs = installed.start(), []

    def check():
        jobs.append(cluster.submit("true"))
        cluster.wait_end(jobs[-1])
        for prefix in (cluster.installation.old, cluster.installation.path):
            with programs_of(cluster, prefix):
                shown = lambda: cluster.run("sacct", "-nPX", "-o", "JobID,State").stdout.split()  # noqa: E731
                cluster.wait_for(lambda: shown() == [f"{job}|COMPLETED" for job in jobs], what="all jobs in sacct")
    check()
    cluster.installation.upgrade()
    for restart in (cluster.start_dbd, cluster.start_controller):
        cluster.kill("slurmdbd" if restart == cluster.start_dbd else "slurmctld", signal.SIGTERM)
        restart()
        check()


def test_the_steps_of_the_guide_upgrade_a_cluster_while_jobs_run(installed):
    cluster = installed.start()
    steady = Steady(cluster)
    held = cluster.submit("true", "--hold")
    steps = steps_of("Upgrade")
    assert steps[0].startswith("sluice backup") and "cmake --install build" in steps
    for step in steps:
        result = do(cluster, step, **{"cmake --install build": cluster.installation.upgrade})
        if step == "scontrol show damaged":
            assert result.stdout == "No damaged records\n"
    assert {name: version_of(cluster, name) for name in ("slurmctld", "n1", "n2")} == \
        dict.fromkeys(("slurmctld", "n1", "n2"), LATER)
    steady.end()
    assert cluster.run("squeue", "-h", "-o", "%i").stdout.split() == [held]


# ---- several controllers

@pytest.fixture
def pair(module_hosts, module_munged):
    server = StateServer(module_hosts.database).make_database()
    cluster = start_cluster(module_hosts, module_munged, server)
    cluster.installation = Installation(cluster.dir / "prefix")
    cluster.server = server
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        server.stop()


def shared_schema(cluster):
    return int(cluster.server.psql("SELECT value FROM sluice_test_state.meta WHERE key = 'schema'", "sluice"))


def lease(cluster, what):
    return cluster.server.psql(f"SELECT {what} FROM sluice_test_state.lease", "sluice")


def log_of(cluster, name):
    return (cluster.dir / "log" / f"{name}.log").read_text()


def restart_controller(cluster, name):
    cluster.kill(name, signal.SIGTERM)
    cluster.start_controller(name=name)


def restart_active(cluster, name):
    """Only when the other one has taken over: whichever asks first gets a lease that is given back."""
    cluster.kill(name, signal.SIGTERM)
    cluster.wait_active(cluster.other(name))
    cluster.start_controller(name=name)


def test_controllers_and_nodes_are_upgraded_one_after_the_other_under_load(pair):
    """The standby first, then the active one, then the nodes; commands of both versions are used all the time."""
    pair.installation.upgrade()
    load = Load(pair, "upgrade")
    first, second = pair.active(), pair.other(pair.active())
    with programs_of(pair, pair.installation.path):
        restart_controller(pair, second)
        assert (pair.active(), shared_schema(pair)) == (first, SCHEMA)
        load.progress()
        restart_active(pair, first)
        assert pair.active() == second
        assert shared_schema(pair) == SCHEMA + 1
        load.progress()
        for node in pair.nodes:
            restart_node(pair, node)
            load.progress()
        pair.run("scontrol", "takeover", str(pair.controllers.index(first)))
        pair.wait_active(first)
        check_tools(pair, pair.installation.path)
    load.progress()
    load.end()


def test_the_steps_of_the_guide_upgrade_several_controllers_under_load(pair):
    load = Load(pair, "guide")
    pair.prefix = pair.installation.path
    names = {"marvin": pair.active(), "vicki": pair.other(pair.active())}
    assert list(names.values()) == pair.controllers
    services = {f"systemctl restart slurmctld # on {host}": lambda name=name: restart_controller(pair, name)
                for host, name in names.items()}
    steps = steps_of("Upgrade of several controllers")
    assert steps[0].startswith("sluice backup") and len([step for step in steps if " # on " in step]) == 3
    for step in steps:
        result = do(pair, step, **services, **{"cmake --install build": pair.installation.upgrade})
        if step == "scontrol ping":
            assert pair.ping() == {"c1": "UP", "c2": "UP", "active": "c1"}
        elif step == "scontrol show damaged":
            assert result.stdout == "No damaged records\n"
        load.progress()
    assert shared_schema(pair) == SCHEMA + 1
    load.end()


def test_an_old_standby_refuses_the_state_and_a_takeover(pair):
    pair.installation.upgrade()
    new, old = pair.active(), pair.other(pair.active())
    held = pair.submit("true", "--hold")
    with programs_of(pair, pair.installation.path):
        restart_active(pair, new)
        pair.run("scontrol", "takeover", str(pair.controllers.index(new)))
        pair.wait_active(new)
    # The old program has become a standby again: it runs, and says why it cannot do more.
    pair.wait_for(lambda: f"{old} cannot take over: " in pair.run("scontrol", "ping", check=False).stdout, what="the reason")
    assert TOO_OLD in pair.run("scontrol", "ping").stdout
    refused = pair.run("scontrol", "takeover", str(pair.controllers.index(old)), check=False)
    assert refused.returncode == 1 and TOO_OLD in refused.stderr
    assert pair.active() == new
    pair.kill(new)
    pair.wait_for(lambda: lease(pair, "expires < clock_timestamp() - interval '3 seconds'") == "t", what="the end of the lease")
    assert lease(pair, "holder") == new, "nobody has taken it"
    # Started again, it ends at once.
    assert pair.kill(old, signal.SIGTERM) == 0
    pair.start_daemon(old, "slurmctld", "-D", "-f", str(pair.dir / "etc" / f"{old}.conf"))
    assert pair.daemons.pop(old).wait(timeout=60) == 1
    assert f"fatal: the state in the database was {TOO_OLD}" in log_of(pair, old)
    with programs_of(pair, pair.installation.path):
        pair.start_controller()
        assert pair.run("squeue", "-h", "-o", "%i").stdout.split() == [held]
    pair.prefix = pair.installation.path

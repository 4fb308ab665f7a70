"""Two controllers of one state: whatever happens to the active one, to the database or to the network between them, no
acknowledged submission is lost, no job runs twice, and no running job ends.

Each fault happens while jobs are submitted, start and end. The tests report how long no submission was answered."""

import contextlib
import glob
import os
import shutil
import signal
import statistics
import time

import pytest
from cluster import process_state, wait_for
from fault_load import Load, start_cluster
from shared_state import StateServer

ROUNDS = int(os.environ.get("SLUICE_FAULT_ROUNDS", "3"))  # of each fault
LONG = ROUNDS > 3
SHORT_OUTAGE, LONG_OUTAGE = 8, 130  # seconds without a database: more than a lease in any case


@pytest.fixture
def report(record_property):
    gaps = []
    yield gaps
    if gaps:
        record_property("without answers", f"median {statistics.median(gaps):.1f} s, worst {max(gaps):.1f} s of {len(gaps)}")


def stop_process(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: process_state(pid) == "T", what="the controller to stop")


def log_of(cluster, name):
    return (cluster.dir / "log" / f"{name}.log").read_text()


def test_the_active_controller_is_killed(pair, report):
    for number in range(ROUNDS):
        active = pair.active()
        load = Load(pair, f"kill{number}")
        pair.kill(active)
        load.progress()
        pair.wait_active(pair.other(active))
        pair.start_controller(name=active)
        report.append(load.end())
        assert pair.ping() == {"c1": "UP", "c2": "UP", "active": pair.other(active)}


def test_the_active_controller_stands_still_beyond_its_lease(pair, report):
    for number in range(ROUNDS):
        active = pair.active()
        load = Load(pair, f"stop{number}")
        pid = pair.daemons[active].pid
        stop_process(pid)
        pair.wait_active(pair.other(active))
        load.progress()
        os.kill(pid, signal.SIGCONT)
        pair.wait_for(lambda: pair.ping().get(active) == "UP", what="the old controller to be a standby")
        load.progress()
        assert pair.active() == pair.other(active)
        report.append(load.end())


def test_the_active_controller_is_cut_off_from_the_database(pair, report, module_hosts):
    for number in range(ROUNDS):
        active = pair.active()
        load = Load(pair, f"cutdb{number}")
        pair.cut(active, module_hosts.database)
        try:
            pair.wait_active(pair.other(active))
            load.progress()
        finally:
            pair.cut(active, module_hosts.database, undo=True)
        pair.wait_for(lambda: pair.ping().get(active) == "UP", what="the old controller to be a standby")
        report.append(load.end())


def test_the_active_controller_is_cut_off_from_the_nodes(pair, report, module_hosts):
    """It stays the active one; jobs go on, and what ends meanwhile is reported later."""
    nodes = [module_hosts.by_name[name][1] for name in pair.nodes]
    for number in range(ROUNDS):
        active = pair.active()
        load = Load(pair, f"cutnodes{number}")
        pair.cut(active, *nodes)
        try:
            load.progress(20)
            assert pair.active() == active
        finally:
            pair.cut(active, *nodes, undo=True)
        report.append(load.end())


def test_the_database_is_away_for_longer_than_a_lease(pair, report, database):
    for number in range(ROUNDS):
        load = Load(pair, f"nodb{number}")
        database.kill()
        pair.wait_for(lambda: "active" not in pair.ping() or pair.ping()["active"] == "none",
                      what="no controller to be active")
        time.sleep(LONG_OUTAGE if LONG and number % 10 == 0 else SHORT_OUTAGE)  # the fault itself
        assert pair.active() is None
        database.start()
        pair.wait_for(pair.active, what="a controller to be active")
        load.progress()
        report.append(load.end())


@contextlib.contextmanager
def replicated(hosts, munged):
    """A cluster whose state is on a primary and a synchronous replica, and these two servers."""
    primary = StateServer(hosts.database).make_database()
    replica = StateServer(hosts.database, of=primary)
    primary.make_synchronous()
    cluster = start_cluster(hosts, munged, primary, replica)
    try:
        yield cluster.start(), primary, replica
    finally:
        cluster.stop()
        replica.stop()
        primary.signal_all(signal.SIGCONT)
        primary.stop()


def test_a_replica_of_the_database_is_promoted(module_hosts, module_munged, report):
    for number in range(ROUNDS):
        with replicated(module_hosts, module_munged) as (cluster, primary, replica):
            load = Load(cluster, f"promote{number}")
            primary.kill()
            replica.promote()
            cluster.wait_for(cluster.active, what="a controller to be active")
            load.progress()
            report.append(load.end())


def test_the_database_is_started_again_while_the_active_controller_is_gone(pair, report, database):
    """As after a power cut, when of several controllers only a backup comes back."""
    for number in range(ROUNDS):
        active = pair.active()
        load = Load(pair, f"bothdie{number}")
        pair.kill(active)
        database.kill()
        database.start()
        pair.wait_active(pair.other(active))
        load.progress()
        pair.start_controller(name=active)
        report.append(load.end())


def test_the_active_controller_dies_with_the_primary_of_the_database(module_hosts, module_munged, report):
    for number in range(ROUNDS):
        with replicated(module_hosts, module_munged) as (cluster, primary, replica):
            active = cluster.active()
            load = Load(cluster, f"onehost{number}")
            cluster.kill(active)
            primary.kill()
            replica.promote()
            cluster.wait_active(cluster.other(active))
            load.progress()
            cluster.start_controller(name=active)
            report.append(load.end())


def test_the_active_controller_dies_and_the_primary_of_the_database_is_silent(module_hosts, module_munged, report):
    """Connections to the primary are made, and nothing is answered on them."""
    for number in range(ROUNDS):
        with replicated(module_hosts, module_munged) as (cluster, primary, replica):
            active = cluster.active()
            load = Load(cluster, f"silent{number}")
            cluster.kill(active)
            primary.signal_all(signal.SIGSTOP)
            replica.promote()
            start = time.monotonic()
            cluster.wait_active(cluster.other(active))
            assert time.monotonic() - start < 25
            load.progress()
            cluster.start_controller(name=active)
            report.append(load.end())


def test_clocks_that_differ_by_an_hour(module_hosts, module_munged, database, report):
    """The clock of one controller is that of the nodes, the clock of the other is an hour ahead."""
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not library:
        pytest.skip("libfaketime is not installed")
    if any(name.endswith("SAN_OPTIONS") for name in os.environ):
        pytest.skip("sanitizers and libfaketime replace the same functions")
    database.psql("CREATE DATABASE clocks")
    cluster = start_cluster(module_hosts, module_munged, database)
    cluster.database = cluster.database.replace("/sluice?", "/clocks?")
    cluster.write_config()
    cluster.under["c2"] = ["env", f"LD_PRELOAD={library[0]}", "FAKETIME=+3600", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
    try:
        cluster.start()
        cluster.wait_active("c1")
        for number in range(ROUNDS):
            load = Load(cluster, f"clocks{number}")
            limit = cluster.submit("while [ ! -e enough ]; do sleep 0.1; done", "-t", "30", "-J", "limited")
            cluster.wait_state(limit, "RUNNING")
            cluster.kill("c1")
            cluster.wait_active("c2")
            load.progress()
            assert cluster.state(limit) == "RUNNING"
            cluster.start_controller(name="c1")
            cluster.kill("c2")  # back to the other clock
            cluster.wait_active("c1")
            load.progress()
            assert cluster.state(limit) == "RUNNING"
            cluster.start_controller(name="c2")
            cluster.run("scancel", limit)
            report.append(load.end())
    finally:
        cluster.stop()
        database.psql("DROP DATABASE clocks WITH (FORCE)")


def test_a_reconfiguration_is_a_line_with_the_uid_at_each_controller(pair):
    pair.active()
    pair.run("scontrol", "reconfigure")
    for name in ("c1", "c2"):
        pair.wait_for(lambda: "audit: uid 0: reconfigure" in log_of(pair, name), what=f"the line of {name}")


def test_a_planned_takeover(pair, report):
    """In both directions, under load; it takes less than a second."""
    places = {"c1": "0", "c2": "1"}
    times = []
    for number in range(ROUNDS):
        successor = pair.other(pair.active())
        load = Load(pair, f"planned{number}")
        start = time.monotonic()
        pair.run("scontrol", "takeover", places[successor])
        times.append(time.monotonic() - start)
        assert pair.active() == successor
        load.progress()
        report.append(load.end())
    print(f"\nscontrol takeover: {sorted(times)}")
    assert statistics.median(times) < 1.25


def test_a_controller_that_is_told_to_stop_hands_over_at_once(pair):
    active = pair.active()
    load = Load(pair, "sigterm")
    assert pair.kill(active, signal.SIGTERM) == 0
    pair.wait_active(pair.other(active))
    load.progress()
    pair.start_controller(name=active)
    assert load.end() < 3


def test_a_standby_says_so_and_refuses_everything_else(pair):
    active = pair.active()
    standby = pair.other(active)
    only = pair.dir / "etc" / "only.conf"
    lines = [line for line in pair.conf.read_text().splitlines() if not line.startswith(f"SlurmctldHost={active}")]
    only.write_text("\n".join(lines) + "\n")
    env = {"SLURM_CONF": only}
    for words in (["sbatch", "--wrap", "true"], ["squeue"], ["scancel", "1"], ["scontrol", "hold", "1"]):
        refused = pair.run(*words, env=env, check=False)
        assert refused.returncode != 0
        assert "Slurm backup controller in standby mode" in refused.stderr
        assert f"{active} is the active controller" in refused.stderr
    assert pair.run("scontrol", "ping", env=env).stdout == f"Slurmctld(primary) at {standby} is UP\n"


def test_programs_of_the_site_run_when_a_controller_begins_and_ends_to_be_active(module_hosts, module_munged, database):
    database.psql("CREATE DATABASE programs")
    cluster = start_cluster(module_hosts, module_munged, database)
    cluster.database = cluster.database.replace("/sluice?", "/programs?")
    for word in ("on", "off"):
        program = cluster.dir / "etc" / word
        program.write_text(f"#!/bin/sh\necho {word} $(ip -br addr show uplink | cut -d/ -f1) >>{cluster.dir}/work/told\n")
        program.chmod(0o755)
    cluster.extra += (f"\nSlurmctldPrimaryOnProg={cluster.dir}/etc/on\n"
                      f"SlurmctldPrimaryOffProg={cluster.dir}/etc/off")
    cluster.write_config()
    told = cluster.dir / "work" / "told"
    try:
        cluster.start()
        cluster.wait_for(lambda: told.exists() and told.read_text().count("\n") == 1, what="the first program")
        cluster.run("scontrol", "takeover")
        cluster.wait_for(lambda: told.read_text().count("\n") == 3, what="two more programs")
        said = [(line.split()[0], line.split()[-1]) for line in told.read_text().splitlines()]
        first, second = (cluster.hosts[name][1] for name in ("c1", "c2"))
        assert said[0] == ("on", first)
        assert sorted(said[1:]) == [("off", first), ("on", second)]
    finally:
        cluster.stop()
        database.psql("DROP DATABASE programs WITH (FORCE)")


def test_a_controller_whose_program_was_replaced_hands_over(pair):
    """An installation puts a new file in the place of the program while it runs."""
    own = pair.dir / "sbin"
    own.mkdir()
    shutil.copy(pair.prefix / "sbin" / "slurmctld", own)
    active = pair.active()
    pair.kill(active)
    pair.wait_active(pair.other(active))
    prefix, pair.prefix = pair.prefix, pair.dir
    pair.start_daemon(active, "slurmctld", "-D", "-f", str(pair.dir / "etc" / f"{active}.conf"))
    pair.prefix = prefix
    pair.wait_for(lambda: pair.ping().get(active) == "UP", what=f"{active} to be a standby")
    places = {"c1": "0", "c2": "1"}
    pair.run("scontrol", "takeover", places[active])
    pair.wait_active(active)
    shutil.copy(prefix / "sbin" / "slurmctld", own / "new")
    (own / "new").rename(own / "slurmctld")
    pair.run("scontrol", "takeover", places[pair.other(active)])
    pair.wait_active(pair.other(active))
    pair.wait_for(lambda: pair.ping().get(active) == "UP", what="the new program to be a standby")

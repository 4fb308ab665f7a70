#!/usr/bin/python3
"""How long no submission is answered when the active controller is killed, or hands over, with many waiting jobs.

    tools/failover_bench.py [--jobs 100000] [--rounds 20] [--takeovers 5]

As root: makes network hosts for two controllers and two nodes, and a PostgreSQL server. Each round kills the active
controller with SIGKILL and then calls sbatch until one is answered; the killed controller is started again afterwards.
Needs the programs for developers: cmake --build build --target sluice-submit-load."""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "integration"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from cluster import ROOT, SharedCluster  # noqa: E402
from conftest import Hosts, running_munged  # noqa: E402
from shared_state import StateServer, location  # noqa: E402


def fill(cluster, jobs):
    """Waiting jobs, each with a record of its own."""
    program = ROOT / "build" / "tools" / "sluice-submit-load"
    subprocess.run([*cluster.on_host(cluster.active()), program, "-n", str(jobs), "-p", str(cluster.ports.numbers[0])], check=True)


def time_until_answered(cluster):
    start = time.monotonic()
    while cluster.run("sbatch", "-H", "-o", "/dev/null", "--wrap", "true", check=False, timeout=120).returncode != 0:
        pass
    return time.monotonic() - start


def wait_for_both(cluster):
    cluster.wait_for(lambda: sorted(key for key, value in cluster.ping().items() if value == "UP") == ["c1", "c2"],
                     120, "both controllers")


def measure(cluster, rounds, takeovers):
    kills, plans = [], []
    for number in range(rounds):
        active = cluster.active()
        cluster.kill(active)
        kills.append(time_until_answered(cluster))
        print(f"{number + 1}/{rounds}: {kills[-1]:.2f} s", file=sys.stderr, flush=True)
        cluster.start_controller(name=active)
        wait_for_both(cluster)
    for _ in range(takeovers):
        place = {"c1": "0", "c2": "1"}[cluster.other(cluster.active())]
        start = time.monotonic()
        cluster.run("scontrol", "takeover", place, timeout=120)
        time_until_answered(cluster)
        plans.append(time.monotonic() - start)
        wait_for_both(cluster)
    return kills, plans


def show(what, times):
    if times:
        print(f"{what}: median {statistics.median(times):.2f} s, range {min(times):.2f} to {max(times):.2f} s, {len(times)} runs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--takeovers", type=int, default=5)
    options = parser.parse_args()
    hosts = Hosts(["c1", "c2", "n1", "n2"])
    with running_munged() as munged:
        database = StateServer(hosts.database).make_database()
        cluster = SharedCluster(location(database), hosts.by_name, address=hosts.address, cpus=8,
                                extra=f"AuthType=auth/munge\nAuthInfo=socket={munged[0]}\n"
                                      f"MaxJobCount={options.jobs + 10000}\nMaxArraySize=10001")
        try:
            cluster.start()
            fill(cluster, options.jobs)
            kills, plans = measure(cluster, options.rounds, options.takeovers)
        finally:
            cluster.stop()
            database.stop()
            hosts.remove()
    print(f"{options.jobs} waiting jobs, from the fault to the first answered sbatch")
    show("SIGKILL of the active controller", kills)
    show("scontrol takeover", plans)


if __name__ == "__main__":
    main()

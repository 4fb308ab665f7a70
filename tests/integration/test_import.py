"""sluice import on real daemons: the accounts and the history of a cluster of Slurm 22.05, as its own sacctmgr dump, sacct
and sshare printed them."""

from pathlib import Path

import pytest
from cluster import wait_for

DATA = Path(__file__).resolve().parents[1] / "data" / "slurm"
# Columns that say the same before and after. TRES of steps have no billing here and there.
COLUMNS = ("JobID,JobIDRaw,JobName,User,UID,GID,Account,Partition,QOS,State,Submit,Start,End,Elapsed,Timelimit,AllocCPUS,"
           "NNodes,NodeList,NTasks,ExitCode,AllocTRES,ReqTRES,MaxRSS,MaxRSSNode,AveRSS,WorkDir,SubmitLine,Priority,Layout")
GPUS = {"a40": ["n1"]}  # a limit of the accounts names GPUs
FAIR_SHARE = "PriorityType=priority/multifactor\nPriorityDecayHalfLife=0\nPriorityWeightFairShare=1000\n"


def rows(text, delimiter="|"):
    """The lines below the header as dictionaries."""
    header, *lines = text.splitlines()
    return [dict(zip(header.split(delimiter), line.split(delimiter), strict=True)) for line in lines]


def history(cluster, *options, file=DATA / "history.txt", check=True):
    # The history names the cluster that it comes from. A submit line has a |.
    return cluster.run("sluice", "import", "history", f"--cluster={cluster_name(cluster)}", "--delimiter=^", *options,
                       str(file), check=check)


def with_short_run(cluster):
    """Job 15 was requeued a minute after its script had ended: fair share had counted until then, sacct has both times."""
    path = cluster.dir / "history"
    lines = (DATA / "history.txt").read_text().splitlines()
    changed = [line.replace("^2026-11-18T12:41:16^", "^2026-11-18T12:40:23^").replace("^00:01:13^", "^00:00:20^")
               if "^REQUEUED^" in line else line for line in lines]
    path.write_text("\n".join(changed) + "\n")
    return path


def cluster_name(cluster):
    return cluster.run("scontrol", "show", "config").stdout.split("ClusterName")[1].split("=")[1].split()[0]


def load_accounts(cluster):
    """The dump, for the cluster of the test."""
    text = (DATA / "policy.cfg").read_text().replace("'oracle'", f"'{cluster_name(cluster)}'")
    for qos in ("high", "scavenger"):
        cluster.run("sacctmgr", "-i", "add", "qos", qos)
    path = cluster.dir / "policy.cfg"
    path.write_text(text)
    wait_for(lambda: "gres" in cluster.run("sacctmgr", "-nP", "show", "tres").stdout, what="the resources of the cluster")
    cluster.run("sluice", "import", "dump", "-i", str(path))


def sacct(cluster, *options):
    return rows(cluster.run("sacct", "-a", "-D", "-P", "--delimiter=^", "-S", "2026-11-18", "-E", "2026-11-19",
                            *options).stdout, "^")


@pytest.mark.parametrize("dbd", [None, "DebugLevel=info"], ids=["own", "slurmdbd"])
@pytest.mark.parametrize("flags, golden", [("", "fair_tree"), ("PriorityFlags=NO_FAIR_TREE", "classic")])
def test_history_counts_for_fair_share_as_it_did(make_cluster, dbd, flags, golden):
    cluster = make_cluster(nodes=1, gpus=GPUS, extra=FAIR_SHARE + flags, dbd=dbd)
    load_accounts(cluster)
    file = with_short_run(cluster)
    said = history(cluster, file=file)
    assert "20 runs with 33 steps\n20 added, 0 already in the database\n" in said.stdout
    expected = rows((DATA / f"sshare_{golden}.txt").read_text())
    shown = lambda: rows(cluster.run("sshare", "-a", "-P", "-o", ",".join(expected[0])).stdout)
    wait_for(lambda: shown()[0]["RawUsage"] != "0", what="the usage")
    for before, after in zip(expected, shown(), strict=True):
        assert before.keys() == after.keys()
        for column, value in before.items():
            # The original's usage had decayed a little while the jobs ran.
            if column == "RawUsage":
                assert abs(int(value) - int(after[column])) <= 1
            elif "." in value:
                assert float(after[column]) == pytest.approx(float(value), rel=1e-4, abs=2e-6), (before, after)
            else:
                assert after[column] == value, (before, after)
    again = history(cluster, file=file)
    assert "0 added, 20 already in the database" in again.stdout
    cluster.kill("slurmctld")
    cluster.start_controller()
    wait_for(lambda: shown()[0]["RawUsage"] == "739", what="the same usage after a restart")


def test_history_reads_as_it_was_written(make_cluster):
    cluster = make_cluster(nodes=1, gpus=GPUS)
    load_accounts(cluster)
    said = history(cluster)
    assert "columns that are not imported: AveCPUFreq, AveDiskRead" in said.stderr
    wanted = COLUMNS.split(",")
    before = [{name: row[name] for name in wanted} for row in rows((DATA / "history.txt").read_text(), "^")]
    after = sacct(cluster, "-o", COLUMNS)
    key = lambda row: (row["JobIDRaw"].split(".")[0], row["Start"])
    assert sorted(after, key=key) == sorted((row for row in before if row["End"] != "Unknown"), key=key)
    times = {row["JobID"]: row["TotalCPU"] for row in sacct(cluster, "-o", "JobID,TotalCPU")}
    assert times["1.batch"] == "00:00.011" and times["18"] == "00:00:00"
    hour = "2026-11-18T12:00:00", "2026-11-18T13:00:00"
    report = lambda: cluster.run("sreport", "-nP", "-t", "seconds", "cluster", "AccountUtilizationByUser",
                                 f"start={hour[0]}", f"end={hour[1]}", "format=account,login,used").stdout.splitlines()
    wait_for(lambda: "physics|daemon|106" in report(), what="the report")
    assert "root||792" in report() and "vision|root|251" in report()  # as sreport counted them


def test_bad_lines_are_named_and_nothing_is_imported(make_cluster):
    cluster = make_cluster(nodes=1, gpus=GPUS)
    load_accounts(cluster)
    good = "1|daemon|physics|2026-11-18T10:00:00|2026-11-18T11:00:00|COMPLETED|2"
    bad = ["2|daemon|physics|2026-11-18T10:00:00|2026-11-18T09:00:00|COMPLETED|2",
           "3|nosuchuser|physics|2026-11-18T10:00:00|2026-11-18T11:00:00|COMPLETED|2",
           "4_2|daemon|physics|2026-11-18T10:00:00|2026-11-18T11:00:00|COMPLETED|2",
           "5|daemon|physics|2026-11-18T10:00:00|2026-11-18T11:00:00|EXPLODED|2",
           "6|daemon|physics|2026-11-18T10:00:00|2026-11-18T11:00:00|COMPLETED|-2",
           "7|daemon|phy|sics|2026-11-18T10:00:00|2026-11-18T11:00:00|COMPLETED|2",
           "8.0|daemon|physics|2026-11-18T10:00:00|2026-11-18T11:00:00|COMPLETED|2"]
    file = cluster.dir / "history"
    file.write_text("\n".join(["JobID|User|Account|Start|End|State|NCPUS", good, *bad]) + "\n")
    refused = cluster.run("sluice", "import", "history", str(file), check=False)
    assert refused.returncode == 1 and "7 bad lines: nothing was imported" in refused.stderr
    for number, what in enumerate(["End is before Start", "user 'nosuchuser' is not known", "column JobIDRaw", "EXPLODED",
                                   "(NCPUS): '-2': a number", "8 columns: the header line has 7", "a step without"], 3):
        assert f"{file}:{number}: " in refused.stderr and what in refused.stderr
    assert sacct(cluster) == []
    cluster.run("sluice", "import", "history", "--dry-run", "--skip-bad", str(file))
    assert sacct(cluster) == []
    skipped = cluster.run("sluice", "import", "history", "--skip-bad", str(file))
    assert "1 added" in skipped.stdout and "7 bad lines and runs left out" in skipped.stdout
    assert [row["JobID"] for row in sacct(cluster)] == ["1"]


def test_a_number_that_another_job_has_is_refused(make_cluster):
    cluster = make_cluster(nodes=1, gpus=GPUS)
    job = cluster.submit("true")
    cluster.wait_end(job)
    wait_for(lambda: cluster.run("sacct", "-nX", "-o", "State%20").stdout.split() == ["COMPLETED"], what="the fact")
    refused = history(cluster, check=False)
    assert refused.returncode == 1 and f"another job in the database: {job} " in refused.stderr
    kept = history(cluster, "--skip-bad")
    assert "19 added" in kept.stdout and "20 runs have no association" in kept.stdout
    denied = cluster.run("sluice", "import", "history", "--delimiter=^", "--skip-bad", "--cluster=" + cluster_name(cluster),
                         str(DATA / "history.txt"), user="nobody", check=False)
    assert denied.returncode == 1 and "only administrators" in denied.stderr


# What a cluster of Slurm showed to a user, to the coordinator of physics, and to an operator, with everything private.
SEEN = {
    "daemon": {"sacct": "1 2 6", "sshare": "chem/daemon physics/daemon", "users": "daemon", "accounts": "",
               "assoc": "root/ science/ chem/ chem/daemon physics/ physics/daemon",
               "sreport": "chem/daemon/21 physics/daemon/106"},
    "bin": {"sacct": "1 2 3 4", "sshare": "physics/ physics/bin physics/daemon physics/sys", "users": "bin",
            "accounts": "physics", "assoc": "root/ science/ physics/ physics/bin physics/daemon physics/sys",
            "sreport": "physics/bin/124 physics/daemon/106 physics/sys/36"},
    "news": {"sacct": 20, "sshare": 23, "users": 11, "accounts": 9, "assoc": 23, "sreport": 11},
    "lp": {"sacct": "8", "sshare": "music/lp", "users": "lp", "accounts": "", "assoc": "root/ arts/ music/ music/lp",
           "sreport": "music/lp/46"},
}


def seen_by(cluster, user):
    def words(*argv):
        shown = cluster.run(*argv, user=user, check=False).stdout
        return ["/".join(cell.strip() for cell in line.split("|")) for line in shown.splitlines() if line.strip()]

    day = "start=2026-11-18", "end=2026-11-19"
    usage = words("sreport", "-nP", "-t", "seconds", "cluster", "AccountUtilizationByUser", *day, "format=account,login,used")
    return {"sacct": sorted(words("sacct", "-anXPD", "-S", "2026-11-18", "-E", "2026-11-19", "-o", "JobID"), key=len),
            "sshare": words("sshare", "-anP", "-o", "account,user"),
            "users": words("sacctmgr", "-nP", "show", "user", "format=user"),
            "accounts": words("sacctmgr", "-nP", "show", "account", "format=account"),
            "assoc": words("sacctmgr", "-nP", "show", "assoc", "format=account,user"),
            "sreport": [line for line in usage if line.split("/")[1]]}


@pytest.mark.parametrize("dbd", [None, "PrivateData=accounts,events,jobs,usage,users"], ids=["own", "slurmdbd"])
def test_private_data_leaves_what_belongs_to_the_viewer(make_cluster, dbd):
    cluster = make_cluster(nodes=1, gpus=GPUS, extra=FAIR_SHARE + "PrivateData=accounts,events,jobs,usage,users", dbd=dbd)
    load_accounts(cluster)
    history(cluster)
    cluster.run("sacctmgr", "-i", "add", "coordinator", "account=physics", "names=bin")
    cluster.run("sacctmgr", "-i", "modify", "user", "news", "set", "adminlevel=operator")
    wait_for(lambda: len(seen_by(cluster, "news")["sreport"]) == 11, timeout=90, what="the roll-up")
    for user, expected in SEEN.items():
        for what, shown in seen_by(cluster, user).items():
            wanted = expected[what]
            assert (len(shown) if isinstance(wanted, int) else " ".join(shown)) == wanted, (user, what)
        events = cluster.run("sacctmgr", "-nP", "show", "event", user=user, check=False)
        assert (events.returncode == 0) == (user == "news")

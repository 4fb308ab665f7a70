"""slurmdbd with servers of SQL, its orders by sacctmgr, and what happens when a server goes away."""

import re

import pytest
from cluster import wait_for
from sql_server import ENGINES

USER = "nobody"


def ended(cluster):
    """Ids of the jobs that accounting knows as completed, each run once."""
    return [line.split("|")[0] for line in cluster.run(
        "sacct", "-nPXD", "-S", "now-1day", "-E", "now", "-s", "CD", "-o", "JobID").stdout.splitlines()]


@pytest.fixture(params=ENGINES)
def server(request):
    server = ENGINES[request.param]()
    yield server
    server.stop()


def test_jobs_and_accounts_outlive_a_server_that_is_killed(server, make_cluster):
    cluster = make_cluster(dbd=server.conf())
    cluster.run("sacctmgr", "-i", "add", "account", "vision", "description=it's 100% \"quoted\"; DROP")
    cluster.run("sacctmgr", "-i", "add", "user", "root", "account=vision")
    jobs = [cluster.submit("true", "-A", "vision") for _ in range(5)]
    server.kill()
    jobs += [cluster.submit("true") for _ in range(5)]
    for job in jobs:
        cluster.wait_end(job)
    failed = cluster.run("sacctmgr", "-i", "add", "account", "nlp", check=False)
    assert failed.returncode == 1
    server.start()
    wait_for(lambda: ended(cluster) == jobs, timeout=60, what="each job once in sacct")
    accounts = cluster.run("sacctmgr", "-nP", "show", "account", "format=account,description").stdout
    assert "vision|it's 100% \"quoted\"; DROP" in accounts and "nlp" not in accounts
    assert "vision|root" in cluster.run("sacctmgr", "-nP", "show", "assoc", "format=account,user").stdout


def test_its_orders_are_for_administrators(make_cluster):
    cluster = make_cluster(dbd="DebugLevel=info")
    assert re.fullmatch(r"accounting at \S+ is UP\n", cluster.run("sacctmgr", "ping").stdout)
    log = cluster.dir / "log" / "slurmdbd.log"
    for order in ("reconfigure", "shutdown"):
        refused = cluster.run("sacctmgr", order, user=USER, check=False)
        assert refused.returncode == 1 and "only administrators" in refused.stderr
    conf = cluster.dir / "etc" / "slurmdbd.conf"
    conf.write_text(conf.read_text() + "PrivateData=users\n")
    cluster.run("sacctmgr", "-i", "add", "account", "lab")
    cluster.run("sacctmgr", "-i", "add", "user", "root", "account=lab")
    seen = lambda: cluster.run("sacctmgr", "-nP", "show", "user", "format=user", user=USER).stdout
    assert seen() == "root\n"
    cluster.run("sacctmgr", "reconfigure")
    wait_for(lambda: log.read_text().count("serves on port") == 2, what="slurmdbd to serve again")
    assert seen() == ""
    conf.write_text(conf.read_text() + "Nonsense=1\n")
    cluster.run("sacctmgr", "reconfigure")
    wait_for(lambda: "the old configuration stays" in log.read_text(), what="the wrong file to be refused")
    assert cluster.run("sacctmgr", "-nP", "show", "user", "format=user").stdout == "root\n"
    cluster.run("sacctmgr", "shutdown")
    assert cluster.daemons["slurmdbd"].wait(timeout=60) == 0


def test_a_change_has_its_effect_when_sacctmgr_returns(make_cluster):
    cluster = make_cluster(dbd="", extra="AccountingStorageEnforce=associations,limits")
    cluster.run("sacctmgr", "-i", "add", "account", "lab")
    for number in range(10):
        name = f"lab{number}"
        cluster.run("sacctmgr", "-i", "add", "account", name)
        cluster.run("sacctmgr", "-i", "add", "user", "root", f"account={name}")
        cluster.submit("true", "-A", name)


def test_old_rows_leave_the_database_and_young_ones_stay(make_cluster):
    cluster = make_cluster(dbd="")
    cluster.wait_end(cluster.submit("true"))
    wait_for(lambda: len(ended(cluster)) == 1, what="the job in sacct")
    archive = cluster.dir / "archive"
    archive.mkdir()
    order = ("sacctmgr", "-i", "archive", "dump", f"Directory={archive}", "Jobs")
    for words, problem in (((*order, "PurgeJobAfter=x"), "Invalid value: PurgeJobAfter=x"),
                           (order, "no Purge...After= is given"),
                           (("sacctmgr", "archive", "load", "File=/nonexistent"), "/nonexistent")):
        wrong = cluster.run(*words, check=False)
        assert wrong.returncode == 1 and problem in wrong.stderr
    refused = cluster.run(*order, "PurgeJobAfter=1hour", user=USER, check=False)
    assert refused.returncode == 1 and "only administrators" in refused.stderr
    cluster.run(*order, "PurgeJobAfter=1hour")
    assert len(ended(cluster)) == 1 and not list(archive.iterdir())


def test_the_backup_is_asked_when_the_first_host_does_not_answer(make_cluster):
    """One database, on a host that has two names; the first of them is not there."""
    cluster = make_cluster(dbd="", start=False)
    conf = cluster.conf.read_text()
    cluster.conf.write_text(conf.replace("AccountingStorageHost=127.0.0.1", "AccountingStorageHost=127.0.0.99")
                            + "AccountingStorageBackupHost=localhost\nMessageTimeout=2\n")
    dbd_conf = cluster.dir / "etc" / "slurmdbd.conf"
    dbd_conf.write_text(dbd_conf.read_text() + "DbdAddr=127.0.0.1\n")
    cluster.start()
    job = cluster.submit("true")
    cluster.wait_end(job)
    wait_for(lambda: ended(cluster) == [job], what="the job in sacct")


def test_statistics_are_shown_to_operators_and_cleared_by_administrators(make_cluster):
    cluster = make_cluster(dbd="")
    for number in range(3):
        cluster.run("sacctmgr", "-n", "show", "account")
    show = lambda *words: cluster.run("sacctmgr", "show", "stats", *words).stdout
    wait_for(lambda: "Internal DBD rollup last ran" in show(), what="the first roll-up")
    shown = show()
    assert re.search(r"^\tASK_ACCOUNTING +\(20060\) count:\d+ +ave_time:\d+ +total_time:\d+$", shown, re.M), shown
    assert re.search(r"^\troot +\( +0\) count:\d+ +ave_time:\d+ +total_time:\d+$", shown, re.M), shown
    times = [int(each) for each in re.findall(r"total_time:(\d+)", show("total_time").split("by user")[0])]
    assert times == sorted(times, reverse=True)
    for words in ("show stats", "clear stats"):
        denied = cluster.run("sacctmgr", *words.split(), user=USER, check=False)
        assert denied.returncode == 1 and "may do this" in denied.stderr
    assert cluster.run("sacctmgr", "show", "stats", "frob", check=False).returncode == 1
    cluster.run("sacctmgr", "clear", "stats")
    assert "count:1 " in re.search(r"^\tACCOUNTING_ORDER .*$", show(), re.M)[0]
    assert "audit: uid 0: reset statistics" in (cluster.dir / "log" / "slurmdbd.log").read_text()


def test_clusters_tell_whether_jobs_of_a_qos_can_be_suspended(make_cluster):
    suspend = ("sacctmgr", "-i", "modify", "qos", "normal", "set", "PreemptMode=suspend")
    without = make_cluster(nodes=1, dbd="")
    wait_for(lambda: "test" in without.run("sacctmgr", "-nP", "show", "cluster").stdout, what="the registration")
    refused = without.run(*suspend, check=False)
    assert refused.returncode == 1 and "GANG in slurm.conf of cluster test" in refused.stderr
    without.extra = "PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG"
    without.write_config()
    without.run("scontrol", "reconfigure")
    wait_for(lambda: without.run(*suspend, check=False).returncode == 0, what="the changed configuration")

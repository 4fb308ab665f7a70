"""Command lines of programs that read accounting, as they call them, and the shape of the answers that they parse."""

import re

import pytest
from cluster import Cluster, wait_for

USER = "daemon"


@pytest.fixture(scope="module")
def site():
    """A job that has ended with a step, a failed array, and a job that was cancelled while it waited."""
    cluster = Cluster(nodes=2, gpus={"a40": ["n1"]}, extra="AccountingStorageTRES=gres/gpu,gres/gpu:a40\nAccountingStorageEnforce=associations,limits,qos\n"
                      "PriorityType=priority/multifactor\nPriorityWeightFairShare=100")
    try:
        cluster.start()
        for words in ("add account vision grptres=gres/gpu=2", f"add user {USER} account=vision",
                      "add user root account=vision"):
            cluster.run("sacctmgr", "-i", *words.split())
        cluster.done = cluster.submit("srun -n2 true", "-N1", "-n2", "-J", "uuid-1", "--comment", "rule_x", "-A", "vision",
                                      "--gres=gpu:1", user=USER)
        cluster.wait_end(cluster.done)
        cluster.array = cluster.submit("exit 3", "--array=0-1", "-A", "vision", user=USER)
        cluster.wait_end(cluster.array)
        cluster.held = cluster.submit("true", "-H", "-A", "vision", user=USER)
        cluster.run("scancel", cluster.held, user=USER)
        wait_for(lambda: cluster.run("sacct", "-anX", "-S", "now-1hour", "-o", "State").stdout.split().count("FAILED") == 2,
                 what="all jobs in accounting")
        yield cluster
    finally:
        cluster.stop()


def lines(cluster, *argv, user=USER, **options):
    return cluster.run(*argv, user=user, **options).stdout.splitlines()


def test_submitit(site):
    header, *rows = lines(site, "sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", site.done, "-j", site.array)
    assert header == "JobID|State|NodeList"
    assert f"{site.done}|COMPLETED|n1" in rows and f"{site.done}.batch|COMPLETED|n1" in rows
    assert {row.split("|")[0] for row in rows if "." not in row.split("|")[0]} == {
        site.done, f"{site.array}_0", f"{site.array}_1"}
    assert lines(site, "sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", "9999999") == [header]


def test_snakemake(site):
    rows = lines(site, "sacct", "-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State",
                 "--starttime", "2026-01-01T00:00", "--endtime", "now", "--name", "uuid-1")
    assert rows == [f"{site.done}|COMPLETED"]
    assert lines(site, "sacct", "-j", site.done, "-n", "-X", "-o", "nodelist%-256") == ["n1".ljust(256) + " "]
    assert lines(site, "sacct", "-j", f"{site.done}.0", "--format=Reason", "--noheader") == [" " * 22 + " "]
    assert [row.strip() for row in lines(site, "sacctmgr", "-n", "-s", "list", "user", USER, "format=account%256")] == ["vision"]
    assert [row.strip() for row in lines(site, "sshare", "-U", "--format", "Account%256", "--noheader")] == ["vision"]
    wrong = site.run("sacct", "-nu", USER, "-o", "Account%256", "|", "tail", "-1", user=USER, check=False)
    assert wrong.returncode == 1 and "invalid option -- '1'" in wrong.stderr
    rows = [row.split("|") for row in lines(
        site, "sacct", "--name=uuid-1", "--parsable2", "--noheader",
        "--format=JobID,JobName,Comment,Elapsed,TotalCPU,NNodes,NCPUS,MaxRSS,ReqMem")]
    assert [row[0] for row in rows] == [site.done, f"{site.done}.batch", f"{site.done}.0"]
    assert rows[0][2] == "rule_x" and all(re.fullmatch(r"[\d.]+[KMG]?|", row[7]) for row in rows)
    assert re.fullmatch(r"\d+(\.\d+)?[KMG]", rows[0][8]), rows[0]
    # 7.x
    states = dict(row.split("|") for row in lines(site, "sacct", "-P", "-n", "--format=JobIdRaw,State", "-j", site.done))
    assert states[site.done] == "COMPLETED"


def test_parsl(site):
    assert site.run("sacct", "-X", user=USER).returncode == 0
    rows = [row.split()[:2] for row in lines(site, "sacct", "-X", "--noheader", "--format=jobid,state", "--job",
                                             f"{site.done},{site.array}_1")]
    assert sorted(rows) == [[site.done, "COMPLETED"], [f"{site.array}_1", "FAILED"]]


def test_open_ondemand(site):
    fields = ("User,Group,JobId,JobName,Elapsed,ReqMem,AllocCPUS,ReqCPUS,Timelimit,State,TotalCPU,MaxRSS,Partition,Submit,"
              "Start,End,ReqTRES")
    rows = [row.split("\x1f") for row in lines(site, "sacct", "-P", "--delimiter", "\x1f", "-n", "--units", "G",
                                               "--allocations", "-o", fields, "-j", site.done)]
    assert len(rows) == 1 and len(rows[0]) == 17 and rows[0][2] == site.done and rows[0][9] == "COMPLETED"
    assert lines(site, "sacctmgr", "-nP", "show", "users", "withassoc", "format=account,qos", "where", f"user={USER}",
                 "cluster=test") == ["vision|normal"]


def test_aiida_feeds_every_field_back(site):
    names = site.run("sacct", "--helpformat").stdout.split()
    assert len(names) > 100
    header, *rows = lines(site, "sacct", f"--format={','.join(names)}", "--parsable", f"--jobs={site.done}")
    assert header.rstrip("|").split("|") == names and header.endswith("|")
    assert dict(zip(names, rows[0].split("|")))["State"] == "COMPLETED"


def test_reportseff(site):
    rows = site.run("sacct", "--parsable", "-n", "--delimiter=^|^", "--allusers", f"--jobs={site.done}",
                    "--format=AdminComment,AllocCPUS,Elapsed,JobID,JobIDRaw,MaxRSS,NNodes,REQMEM,State,TotalCPU,TRESUsageOutAve",
                    user=USER).stdout.split("^|^\n")
    assert rows.pop() == "" and [row.split("^|^")[3] for row in rows] == [site.done, f"{site.done}.batch", f"{site.done}.0"]
    assert all(len(row.split("^|^")) == 11 for row in rows)


def test_reframe_and_jobstats_want_seconds(site):
    rows = lines(site, "sacct", "-S", "2026-01-01", "-P", "-j", f"{site.done},{site.array}", "-o",
                 "jobid,state,exitcode,end,nodelist", env={"SLURM_TIME_FORMAT": "%s"})[1:]
    assert all(re.fullmatch(r"[\d_.a-z]+\|[A-Z]+\|\d+:\d+\|\d{10}\|n[12]", row) for row in rows), rows
    fields = ("jobidraw,start,end,cluster,alloctres,admincomment,user,account,state,nnodes,ncpus,reqmem,qos,partition,"
              "timelimitraw,jobname")
    [row] = lines(site, "sacct", "-P", "-X", "-o", fields, "-j", site.done, env={"SLURM_TIME_FORMAT": "%s"})[1:]
    cells = dict(zip(fields.split(","), row.split("|"), strict=True))
    assert cells["alloctres"].startswith("billing=2,cpu=2,gres/gpu:a40=1,gres/gpu=1,mem=")
    assert cells["start"].isdigit() and cells["cluster"] == "test" and cells["timelimitraw"] == "UNLIMITED"
    assert lines(site, "sacct", "-V")[0].startswith("slurm ")


def test_seff_prints_its_ten_lines(site):
    shown = site.run("seff", site.done, user=USER).stdout
    for label in ("Job ID:", "Cluster:", "User/Group:", "State: COMPLETED (exit code 0)", "CPU Utilized:", "CPU Efficiency:",
                  "Job Wall-clock time:", "Memory Utilized:", "Memory Efficiency:"):
        assert label in shown, shown


def test_slurm_usage_utils_counts_columns(site):
    rows = lines(site, "sacctmgr", "-nop", "show", "assoc", "format=account,user,grptres")
    assert "vision||gres/gpu=2|" in rows and f"vision|{USER}||" in rows
    job = site.submit("sleep 600", "--gres=gpu:1", "-A", "vision", user=USER)
    site.wait_state(job, "RUNNING")
    [row] = lines(site, "squeue", "-O", "UserName,StateCompact,QOS,tres-alloc:1000,Account,Partition,tres-per-node,NodeList", "-h")
    assert re.fullmatch(USER + r" R normal cpu=1,mem=\d+M?G?,node=1,billing=1,gres/gpu=1,gres/gpu:a40=1 vision debug "
                        r"gres/gpu:1 n1", " ".join(row.split())), row
    assert [" ".join(row.split()) for row in lines(site, "squeue", "-o", "G> %N %P [%t] %b %q %C", "-h")] == [
        "G> n1 debug [R] gres/gpu:1 normal 1"]
    site.run("scancel", job)
    site.wait_end(job)


def test_exporters(site):
    top = [row for row in lines(site, "sshare", "-n", "-P", "-o", "account,fairshare") if len(row) - len(row.lstrip()) < 2]
    assert [row.split("|")[0].strip() for row in top][:1] == ["root"] and any("vision" in row for row in top)
    gone = site.run("sacct", "-a", "-X", "--format=Allocgres", "--state=RUNNING", check=False)
    assert gone.returncode == 1 and "AllocGRES has been removed, please use AllocTRES" in gone.stderr
    rows = lines(site, "sacctmgr", "show", "assoc", "format=User,Account,GrpCPU,GrpMem,GrpJobs,GrpSubmit", "--noheader",
                 "--parsable2")
    assert f"{USER}|vision||||" in rows
    assert lines(site, "sacctmgr", "list", "Association", "format=account", "-P", "-n", f"user={USER}") == ["vision"]
    assert lines(site, "sacctmgr", "-P", "show", "assoc", "where", f"user={USER}", "format=Account,DefaultQOS")[0] == \
        "Account|Def QOS"


def test_sreport_of_a_day(site):
    shown = site.run("sreport", "-P", "-n", "cluster", "utilization", "start=now-1day", "end=now").stdout
    assert all(row.count("|") == 6 for row in shown.splitlines())
    header = site.run("sreport", "-P", "user", "top", "start=2026-01-01", "end=2026-01-02", user=USER).stdout.splitlines()
    assert header[-1] == "Cluster|Login|Proper Name|Account|Used|Energy"

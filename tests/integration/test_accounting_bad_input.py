"""What administrators, coordinators and users of accounting get wrong, and what happens to its database: each mistake is
named, and nothing is changed by half."""

import subprocess
import threading

import pytest
from cluster import Cluster, wait_for

WHERE = {"slurmctld": {}, "slurmdbd": {"dbd": ""}}
# Names that break a statement or a listing in which they are not quoted.
ODD_NAMES = ["o'brien", 'a"b', "x;drop table jobs--", "%_\\", "bébé€🚀", "$(id)`id`", "{}?1 :x @y"]
COORDINATOR, MEMBER, OUTSIDER = "daemon", "bin", "sys"


@pytest.fixture(scope="module", params=WHERE)
def accounts(request):
    cluster = Cluster(nodes=1, extra="AccountingStorageEnforce=associations,limits", **WHERE[request.param])
    try:
        cluster.start()
        for words in ("add account school", "add account physics parent=school", "add account arts",
                      f"add user {COORDINATOR},{MEMBER} account=physics", f"add user {OUTSIDER} account=arts",
                      f"add coordinator account=physics names={COORDINATOR}", "add user root account=physics"):
            cluster.run("sacctmgr", "-i", *words.split())
        yield cluster
    finally:
        cluster.stop()


def tree(cluster):
    return cluster.run("sacctmgr", "-nP", "show", "assoc", "format=account,parentname,user,share,grptres,maxjobs,grpjobs").stdout


def refused(cluster, *words, user=None):
    """What sacctmgr says; nothing was changed."""
    before = tree(cluster)
    answer = cluster.run("sacctmgr", "-i", *words, user=user, check=False)
    assert answer.returncode == 1, (words, answer.stdout, answer.stderr)
    assert tree(cluster) == before, words
    return answer.stdout + answer.stderr


@pytest.mark.parametrize("words, text", [
    ("modify account school set parent=physics", "school"),
    ("modify account school set parent=school", "Nothing modified"),
    ("modify account physics set parent=nosuch", "nosuch"),
    ("add account new parent=nosuch", "nosuch"),
    ("add account school", "Nothing new added"),
    ("add user bin account=physics", "Nothing new added"),
    ("add user bin account=nosuch", "nosuch"),
    ("add user bin account=physics cluster=nosuch", "nosuch"),
    ("delete account nosuch", "Nothing deleted"),
    ("delete account root", "root"),
    ("modify account physics set fairshare=-7", "-7"),
    ("modify account physics set fairshare=99999999999999999999", "99999999999999999999"),
    ("modify account physics set grpjobs=-2", "-2"),
    ("modify account physics set grpjobs=1e9", "1e9"),
    ("modify account physics set grptres=cpu=-4", "-4"),
    ("modify account physics set grptres=cpu=184467440737095516160", "184467440737095516160"),
    ("modify account physics set maxwall=-5", "-5"),
    ("modify account physics set maxwall=1-99-99", "1-99-99"),
    ("modify account physics set priority=4294967296", "4294967296"),
    ("modify account physics set frob=1", "frob"),
    ("modify user bin set defaultaccount=arts", "arts"),
])
def test_a_mistake_is_named_and_changes_nothing(accounts, words, text):
    assert text in refused(accounts, *words.split())


def test_an_account_with_running_jobs_stays(accounts):
    job = accounts.submit("sleep 600", "-A", "physics", user=MEMBER)
    accounts.wait_state(job, "RUNNING")
    # slurmdbd knows the jobs that slurmctld has told.
    wait_for(lambda: "RUNNING" in accounts.run("sacct", "-nX", "-j", job, "-o", "State").stdout, what="the fact")
    for words in ("delete account physics", "delete account school", f"delete user {MEMBER}",
                  f"delete user {MEMBER} account=physics"):
        said = refused(accounts, *words.split())
        assert "Job(s) active" in said and job in said, words
    # A limit below what runs is accepted: the job goes on, the next one waits.
    accounts.run("sacctmgr", "-i", "modify", "account", "physics", "set", "grpjobs=0")
    assert accounts.state(job) == "RUNNING"
    waits = accounts.submit("true", "-A", "physics", user=MEMBER)
    wait_for(lambda: accounts.run("squeue", "-h", "-j", waits, "-o", "%r").stdout.strip() == "AssocGrpJobsLimit",
             what="the limit")
    accounts.run("scancel", job)
    accounts.wait_end(job)
    assert accounts.state(waits) == "PENDING"
    accounts.run("sacctmgr", "-i", "modify", "account", "physics", "set", "grpjobs=-1")
    assert accounts.wait_end(waits)["JobState"] == "COMPLETED"


@pytest.mark.parametrize("line, text", [
    ("Account - 'other':Frob=1", "Frob"),
    ("Account - 'other':GrpJobs=-9", "GrpJobs"),
    ("Parent - 'nosuch'", "nosuch"),
    ("User - 'bin':DefaultAccount='other':MaxJobs=x", "MaxJobs"),
    ("Frobnicate - 'other'", "Frobnicate"),
    ("Account 'other'", "Account"),
])
def test_a_file_with_an_error_is_not_loaded_at_all(accounts, line, text):
    file = accounts.dir / "load.cfg"
    file.write_text(f"Cluster - 'test'\nParent - 'root'\nAccount - 'fine':Fairshare=3\n{line}\n")
    said = refused(accounts, "load", f"file={file}")
    assert text in said and "4" in said, said


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_values_and_nothing_else(accounts, name):
    job = accounts.submit("true", "-A", "physics", "-J", name, "--comment", name)
    accounts.wait_end(job)
    found = lambda *options: accounts.run("sacct", "-nPX", "-S", "now-1day", "-E", "now", "-o", "JobID", *options).stdout.split()
    wait_for(lambda: job in found("--name", name), what="the job by its name")
    for option in ("-A", "-r", "-W"):
        assert found(option, name) == []
    bad = accounts.run("sacct", "-q", name, check=False)
    assert bad.returncode == 1 and f"You gave a bad qos '{name}'" in bad.stderr
    assert accounts.run("sacct", "-nPX", "-j", job, "-o", "JobName").stdout == name + "\n"
    for entity in ("account", "user", "qos", "assoc"):
        key = "account" if entity == "assoc" else "name"
        listed = accounts.run("sacctmgr", "-nP", "show", entity, "where", f"{key}={name}", check=False)
        assert listed.stdout == "", entity
    accounts.run("sacctmgr", "-i", "modify", "account", "arts", "set", f"description={name}")
    shown = accounts.run("sacctmgr", "-nP", "show", "account", "arts", "format=descr").stdout
    assert shown.strip() in (name, name.lower())
    assert accounts.run("sacctmgr", "ping").returncode == 0


def test_nobody_acts_outside_of_the_own_account(accounts):
    for words in ("add account new", "modify account arts set grpjobs=1", f"add user {MEMBER} account=arts",
                  f"delete user {OUTSIDER} account=arts", "add qos new", f"modify user {COORDINATOR} set adminlevel=admin",
                  "modify account school set fairshare=9", f"add coordinator account=arts names={COORDINATOR}"):
        assert "denied" in refused(accounts, *words.split(), user=COORDINATOR), words
    for words in (f"modify user {MEMBER} set maxjobs=1000", f"modify user {MEMBER} set fairshare=1000",
                  "modify account physics set grpjobs=1000", f"modify user {MEMBER} set adminlevel=admin",
                  f"modify user {MEMBER} set qos+=normal", f"add coordinator account=physics names={MEMBER}"):
        assert "denied" in refused(accounts, *words.split(), user=MEMBER), words
    accounts.run("sacctmgr", "-i", "modify", "user", MEMBER, "where", "account=physics", "set", "maxjobs=7", user=COORDINATOR)
    assert f"physics||{MEMBER}|1||7|" in tree(accounts)


def test_several_changes_at_once_are_all_made(accounts):
    names = [f"par{number}" for number in range(12)]
    answers = []

    def add(name):
        # Busy: another change was first. sacctmgr says so, and may be called again.
        for _ in range(50):
            answer = accounts.run("sacctmgr", "-i", "add", "account", name, check=False)
            if answer.returncode == 0:
                break
        answers.append(answer.returncode)

    threads = [threading.Thread(target=add, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [0] * len(names)
    listed = accounts.run("sacctmgr", "-nP", "show", "account", "format=account").stdout.split()
    assert set(names) <= set(listed)
    ids = accounts.run("sacctmgr", "-nP", "show", "assoc", "format=id").stdout.split()
    assert len(ids) == len(set(ids))


def test_a_database_of_a_newer_version_is_refused_with_both_numbers(make_cluster):
    cluster = make_cluster(nodes=1)
    cluster.kill("slurmctld")
    path = cluster.dir / "state" / "accounting.db"
    subprocess.run(["python3", "-c", "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]);"
                    "d.execute(\"UPDATE meta SET value = 999 WHERE name = 'schema'\"); d.commit()", str(path)], check=True)
    cluster.start_controller(wait=False)
    assert cluster.daemons["slurmctld"].wait(timeout=30) != 0
    del cluster.daemons["slurmctld"]
    said = (cluster.dir / "log" / "slurmctld.log").read_text() + (cluster.dir / "log" / "slurmctld.stderr").read_text()
    assert "schema 999" in said and "newer version" in said
    cluster.checked = False


def test_facts_wait_while_the_disk_of_the_database_is_full(as_root, make_cluster):
    cluster = make_cluster(start=False, nodes=1, dbd="")
    disk = cluster.dir / "small"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=True)
    try:
        cluster.dbd = f"StorageLoc={disk}/dbd.db"
        cluster.write_config()
        cluster.start()
        ballast = disk / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 65536) == 65536:
                    pass
            except OSError:
                pass
        jobs = [cluster.submit("true", "-J", "x" * 900) for _ in range(30)]
        for job in jobs:
            cluster.wait_end(job)  # the cluster goes on
        assert cluster.run("sacctmgr", "-i", "add", "account", "a" * 1000, check=False).returncode == 1
        ballast.unlink()
        ended = lambda: cluster.run("sacct", "-nPXD", "-S", "now-1day", "-E", "now", "-s", "CD", "-o", "JobID").stdout.split()
        wait_for(lambda: ended() == jobs, timeout=60, what="each job once")
        cluster.run("sacctmgr", "-i", "add", "account", "later")
    finally:
        for name in list(cluster.daemons):
            cluster.kill(name, 15)
        subprocess.run(["umount", "-l", disk], check=False)

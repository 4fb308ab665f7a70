"""The accounting database: what sacct shows of jobs, steps and requeued runs, in slurmctld and in slurmdbd;
limits of accounts; nothing is lost or counted twice when a daemon is killed."""

import pytest
from cluster import wait_for

WHERE = {"slurmctld": {}, "slurmdbd": {"dbd": ""}}


@pytest.fixture(params=WHERE)
def accounted(request, make_cluster):
    """Two nodes; the database is in slurmctld, or in slurmdbd."""
    return make_cluster(**WHERE[request.param])


def rows(cluster, *options, fields="JobID,State,ExitCode"):
    shown = cluster.run("sacct", "-nP", "-S", "now-1day", "-o", fields, *options).stdout
    return [line.split("|") for line in shown.splitlines()]


def wait_rows(cluster, wanted, *options, fields="JobID,State,ExitCode"):
    """sacct is up to date within a second."""
    wait_for(lambda: rows(cluster, *options, fields=fields) == wanted, timeout=30,
             what=f"{wanted}; sacct shows {rows(cluster, *options, fields=fields)}")


def test_a_job_is_there_when_it_waits_runs_and_has_ended(accounted):
    job = accounted.submit("exit 3", "--hold")
    wait_rows(accounted, [[job, "PENDING", "0:0"]], "-j", job)
    accounted.run("scontrol", "release", job)
    accounted.wait_end(job)
    wait_rows(accounted, [[job, "FAILED", "3:0"], [f"{job}.batch", "FAILED", "3:0"]], "-j", job)
    [line] = rows(accounted, "-X", "-j", job, fields="User,Account,Partition,AllocCPUS,NodeList,JobName")
    assert line[0] == "root" and line[3] == "1" and line[4] in ("n1", "n2")


def test_steps_have_their_nodes_tasks_and_ends(accounted):
    job = accounted.submit("srun -N2 -n2 true; srun -n1 sh -c 'exit 4'", "-N2")
    accounted.wait_end(job)
    wait_rows(accounted, [[f"{job}.batch", "1", "1"], [f"{job}.0", "2", "2"], [f"{job}.1", "1", "1"]],
              "-j", f"{job}.batch,{job}.0,{job}.1", fields="JobID,NNodes,NTasks")
    wait_rows(accounted, [[f"{job}.1", "FAILED", "4:0"]], "-j", f"{job}.1")


def test_requeued_runs_are_kept(accounted):
    job = accounted.submit("sleep 600", "--requeue")
    accounted.wait_state(job, "RUNNING")
    accounted.run("scontrol", "requeue", job)
    accounted.wait_for(lambda: accounted.job(job)["Restarts"] == "1", what="the second run")
    accounted.run("scancel", job)
    accounted.wait_end(job)
    wait_rows(accounted, [[job, "CANCELLED by 0"]], "-X", "-j", job, fields="JobID,State")
    wait_rows(accounted, [[job, "REQUEUED"], [job, "CANCELLED by 0"]], "-X", "-D", "-j", job,
              fields="JobID,State")


def test_every_run_and_step_has_what_it_used(make_cluster):
    cluster = make_cluster(extra="SchedulerParameters=requeue_delay=1")
    count = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"
    job = cluster.submit(f'[ "$SLURM_RESTART_COUNT" ] || sleep 1000\n{count}\nsrun sh -c \'{count}\'', "--requeue")
    cluster.wait_state(job, "RUNNING")
    cluster.run("scontrol", "requeue", job)
    assert cluster.wait_end(job, timeout=60)["JobState"] == "COMPLETED"
    wait_rows(cluster, [[job, "0"], [job, "1"]], "-X", "-D", "-j", job, fields="JobID,Restarts")
    wait_rows(cluster, [[job, "COMPLETED"]], "-X", "-j", job, fields="JobID,State")
    used = rows(cluster, "-j", job, "--noconvert", fields="JobID,CPUTimeRAW,TotalCPU,MaxRSS,MaxRSSNode")
    assert [line[0] for line in used] == [job, f"{job}.batch", f"{job}.0"]
    for line in used[1:]:
        assert line[2] != "00:00:00" and int(line[3]) > 0 and line[4] in ("n1", "n2"), line


def test_arrays_are_one_line_until_their_tasks_start(accounted):
    job = accounted.submit("true", "--array=1-3", "--hold")
    wait_rows(accounted, [[f"{job}_[1-3]", "PENDING"]], "-X", "-j", job, fields="JobID,State")
    accounted.run("scontrol", "release", job)
    accounted.wait_end(job)
    wait_for(lambda: sorted(rows(accounted, "-X", "-j", job, fields="JobID,State")) == [
        [f"{job}_{task}", "COMPLETED"] for task in (1, 2, 3)], what="three tasks that have ended")


@pytest.mark.parametrize("killed", ["slurmctld", "slurmdbd"])
def test_no_job_is_lost_or_counted_twice_when_a_daemon_is_killed(make_cluster, killed):
    cluster = make_cluster(dbd="")
    jobs = [cluster.submit("true") for _ in range(20)]
    for _ in range(3):
        cluster.kill(killed)
        if killed == "slurmctld":
            cluster.start_controller()
        jobs += [cluster.submit("true") for _ in range(10)]
        if killed == "slurmdbd":
            cluster.start_dbd()
    for job in jobs:
        cluster.wait_end(job)
    wait_for(lambda: [line[0] for line in rows(cluster, "-X", "-D", "-s", "CD", "-E", "now")] == jobs, timeout=60,
             what="each job once in sacct")


def test_jobs_run_while_the_database_is_away_and_limits_stay(make_cluster):
    cluster = make_cluster(dbd="", extra="AccountingStorageEnforce=associations,limits")
    for words in ("add account lab", "add user root account=lab", "modify account lab set grpjobs=1"):
        cluster.run("sacctmgr", "-i", *words.split())
    cluster.kill("slurmdbd")
    cluster.kill("slurmctld")
    cluster.start_controller()
    first = cluster.submit("sleep 600", "-A", "lab")
    second = cluster.submit("true", "-A", "lab")
    cluster.wait_state(first, "RUNNING")
    wait_for(lambda: cluster.run("squeue", "-h", "-j", second, "-o", "%r").stdout.strip() == "AssocGrpJobsLimit",
             what="the limit to hold")
    refused = cluster.run("sbatch", "-A", "nosuch", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "Invalid account" in refused.stderr
    cluster.run("scancel", first)
    cluster.wait_end(second)
    cluster.start_dbd()
    wait_rows(cluster, [[second, "COMPLETED", "0:0"]], "-X", "-j", second)


def test_a_change_of_limits_has_its_effect_at_once(make_cluster):
    cluster = make_cluster(extra="AccountingStorageEnforce=associations,limits")
    for words in ("add account vision", "add user root account=vision",
                  "modify account vision set grptres=cpu=1"):
        cluster.run("sacctmgr", "-i", *words.split())
    first = cluster.submit("sleep 600", "-A", "vision")
    second = cluster.submit("sleep 600", "-A", "vision")
    cluster.wait_state(first, "RUNNING")
    wait_for(lambda: cluster.run("squeue", "-h", "-j", second, "-o", "%r").stdout.strip() == "AssocGrpCpuLimit",
             what="the second job to wait for the limit")
    cluster.run("sacctmgr", "-i", "modify", "account", "vision", "set", "grptres=cpu=2")
    cluster.wait_state(second, "RUNNING")


def test_node_events_and_the_actors_of_changes_are_listed(accounted):
    accounted.run("sacctmgr", "-i", "add", "account", "physics")
    shown = accounted.run("sacctmgr", "-nP", "show", "transactions", "format=action,actor,where").stdout
    assert any(line.startswith("Add Accounts|root|") and "physics" in line for line in shown.splitlines()), shown
    accounted.run("scontrol", "update", "node=n2", "state=drain", "reason=disk")
    wait_for(lambda: "n2" in accounted.run("sacctmgr", "-nP", "show", "event", "format=nodename,state,reason").stdout,
             what="the event of n2")


def test_scripts_are_kept_where_the_site_asks_for_them(make_cluster):
    cluster = make_cluster(extra="AccountingStoreFlags=job_script,job_env")
    job = cluster.submit("echo kept", env={"MARK": "yes"})
    cluster.wait_end(job)
    wait_for(lambda: "echo kept" in cluster.run("sacct", "-j", job, "-B").stdout, what="the script in sacct")
    assert "MARK=yes" in cluster.run("sacct", "-j", job, "--env-vars").stdout
    cluster.extra = ""
    cluster.conf.write_text(cluster.config_text())
    cluster.run("scontrol", "reconfigure")
    other = cluster.submit("echo forgotten")
    cluster.wait_end(other)
    wait_rows(cluster, [[other, "COMPLETED"]], "-X", "-j", other, fields="JobID,State")
    assert "NONE" in cluster.run("sacct", "-j", other, "-B").stdout


def test_qos_lines_fill_a_new_database(make_cluster):
    cluster = make_cluster(extra="AccountingStorageEnforce=qos,limits\nQOS=short Priority=100 MaxWall=10\n"
                                 "QOS=long Preempt=short MaxTRESPerUser=cpu=1")
    shown = cluster.run("sacctmgr", "-nP", "show", "qos", "format=name,priority,maxwall,preempt,maxtrespu").stdout
    assert shown == "normal|0|||\nshort|100|00:10:00||\nlong|0||short|cpu=1\n"
    job = cluster.submit("true", "--qos=short", "-t5")
    cluster.wait_end(job)
    too_long = cluster.submit("true", "--qos=short", "-t20")
    wait_for(lambda: cluster.run("squeue", "-h", "-j", too_long, "-o", "%r").stdout.strip() ==
             "QOSMaxWallDurationPerJobLimit", what="the limit of the QOS")
    cluster.run("scancel", too_long)
    cluster.run("sacctmgr", "-i", "modify", "qos", "short", "set", "priority=7")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert "short|7|" in cluster.run("sacctmgr", "-nP", "show", "qos", "format=name,priority,maxwall").stdout


def test_a_run_that_lost_its_node_is_a_node_failure(make_cluster):
    cluster = make_cluster(extra="SlurmdTimeout=5\nSchedulerParameters=requeue_delay=1")
    job = cluster.submit("sleep 600", "--requeue")
    cluster.wait_state(job, "RUNNING")
    node = cluster.job(job)["NodeList"]
    cluster.kill(node)
    wait_for(lambda: cluster.job(job)["Restarts"] == "1" and cluster.state(job) == "RUNNING", timeout=60,
             what="the job to run on the other node")
    wait_rows(cluster, [[job, "NODE_FAIL"], [job, "RUNNING"]], "-X", "-D", "-j", job, fields="JobID,State")
    cluster.run("scancel", job)
    cluster.start_node(node)  # which ends what it still runs


def test_notes_on_jobs_that_have_ended(accounted):
    job, other = (accounted.submit("true", user=user) for user in ("nobody", "root"))
    live = accounted.submit("true", "--hold", user="nobody")
    for each in (job, other):
        accounted.wait_end(each)
        wait_rows(accounted, [[each, "COMPLETED"]], "-X", "-j", each, fields="JobID,State")

    def modify(*words, user=None, options="-i"):
        done = accounted.run("sacctmgr", options, "modify", "job", *words, user=user, check=False)
        return done.returncode, done.stdout + done.stderr

    def notes(each):
        return rows(accounted, "-X", "-j", each, fields="Comment,AdminComment,SystemComment,DerivedExitCode")[0]

    code, text = modify("where", f"jobid={job}", "set", "AdminComment=looked at", "SystemComment=s")
    assert code == 0 and text.startswith(f" Modified jobs...\n  {job} submitted at 20"), text
    assert modify("where", f"jobid={job}", "set", "Comment=mine", "DerivedExitCode=7", user="nobody")[0] == 0
    assert notes(job) == ["mine", "looked at", "s", "7:0"]
    assert notes(other) == ["", "", "", "0:0"]
    shown = accounted.run("sacctmgr", "-nP", "show", "transactions", "format=action,actor,where,info").stdout
    assert f"Modify Job|nobody|jobid={job}|comment='mine', derived_ec='7'" in shown

    refused = {
        ("where", f"jobid={other}", "set", "Comment=x"): "belongs to another user",
        ("where", f"jobid={job}", "set", "AdminComment=x"): "only operators may set this of a job",
        ("where", f"jobid={live}", "set", "Comment=x"): f"job {live} has not ended: use scontrol update JobId={live}",
        ("where", "jobid=999", "set", "Comment=x"): "Nothing modified",
        ("where", "jobid=abc", "set", "Comment=x"): "Bad job/step specified: abc",
        ("where", f"jobid={job}", "set", "DerivedExitCode=256"): "Invalid value for DerivedExitCode (256)",
        ("where", f"jobid={job}", "set", "Colour=red"): "Unknown option: Colour=red",
        ("where", "colour=red", "set", "Comment=x"): "Unknown condition: colour=red",
        ("where", f"jobid={job}"): "You didn't give me anything to set",
    }
    for words, complaint in refused.items():
        code, text = modify(*words, user="nobody")
        assert code == 1 and complaint in text, (words, text)
    code, text = modify("where", f"jobid={job}", "set", "NewWCKey=none")
    assert code == 1 and "no wckey none" in text
    assert modify("where", f"jobid={job}", "set", "Comment=y", options="-r")[0] == 1
    assert notes(job) == ["mine", "looked at", "s", "7:0"]

"""Partitions made, changed and deleted by scontrol, until slurm.conf is read again."""
import grp
import pwd

LOOP = "while [ ! -e go-on ]; do sleep 0.05; done"


def partitions(cluster):
    return cluster.run("sinfo", "-h", "-a", "-o", "%P").stdout.split()


def test_a_partition_is_made_used_and_deleted(cluster):
    cluster.run("scontrol", "create", "PartitionName=fresh", "Nodes=n2", "MaxTime=5")
    assert cluster.run("sinfo", "-h", "-p", "fresh", "-o", "%N %l %s").stdout == "n2 5:00 1-infinite\n"
    job = cluster.submit(LOOP, "-p", "fresh")
    cluster.wait_state(job, "RUNNING")
    assert cluster.job(job)["NodeList"] == "n2"
    used = cluster.run("scontrol", "delete", "PartitionName=fresh", check=False)
    assert used.returncode == 1 and used.stderr == "delete_partition PartitionName=fresh: Partition is in use\n"
    (cluster.dir / "work" / "go-on").touch()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    cluster.wait_for(lambda: cluster.run("scontrol", "delete", "partition", "fresh", check=False).returncode == 0,
                     what="the partition to be deleted")
    assert partitions(cluster) == ["debug*"]


def test_what_is_wrong_makes_no_partition(cluster):
    for words, text in [
            (["PartitionName=debug"], "Error creating the partition: Invalid partition name specified: debug exists"),
            (["PartitionName=x", "Nodes=n9"], "Error creating the partition: Invalid node name specified: n9"),
            (["PartitionName=x", "State=ASLEEP"], "State=ASLEEP: UP, DOWN, DRAIN or INACTIVE is needed"),
            (["PartitionName=x", "QOS=q"], "QOS=q"),
            (["PartitionName=a,b"], "PartitionName=a,b")]:
        wrong = cluster.run("scontrol", "create", *words, check=False)
        assert wrong.returncode == 1 and text in wrong.stderr, wrong.stderr
    gone = cluster.run("scontrol", "delete", "PartitionName=x", check=False)
    assert gone.returncode == 1
    assert gone.stderr == "delete_partition PartitionName=x: Invalid partition name specified\n"
    assert partitions(cluster) == ["debug*"]


def test_made_by_hand_they_last_until_slurm_conf_is_read_again(cluster):
    cluster.run("scontrol", "create", "PartitionName=one", "Default=YES")
    assert partitions(cluster) == ["debug", "one*"]
    cluster.run("scontrol", "reconfigure")
    assert partitions(cluster) == ["debug*"]
    cluster.run("scontrol", "create", "PartitionName=two", "Nodes=ALL")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert partitions(cluster) == ["debug*"]


def test_groups_are_also_for_those_who_wait(cluster, as_root):
    def submit(**options):
        return cluster.run("sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", "--wrap", "true", user="nobody",
                           **options)

    own = grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name
    cluster.run("scontrol", "update", "PartitionName=debug", "State=DOWN")
    job = submit().stdout.strip()
    cluster.run("scontrol", "update", "PartitionName=debug", "State=UP", "AllowGroups=root")
    cluster.wait_for(lambda: cluster.job(job)["Reason"] == "PartitionConfig", what="the reason")
    assert "group not permitted" in submit(check=False).stderr
    cluster.run("scontrol", "create", "PartitionName=other", "Nodes=ALL", "State=DOWN")
    cluster.run("scontrol", "update", f"JobId={job}", "Partition=other", user="nobody")
    back = cluster.run("scontrol", "update", f"JobId={job}", "Partition=debug", user="nobody", check=False)
    assert back.returncode == 1 and "group not permitted" in back.stderr
    cluster.run("scontrol", "update", f"JobId={job}", "Partition=debug")
    cluster.run("scontrol", "update", "PartitionName=debug", f"AllowGroups={own}")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_of_several_those_that_do_not_take_the_job_are_left_out(cluster, as_root):
    def submit(names, **options):
        return cluster.run("sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", "-p", names, "--wrap", "true",
                           user="nobody", **options)

    cluster.run("scontrol", "create", "PartitionName=other", "Nodes=ALL")
    for rule in ("State=DRAIN", "State=INACTIVE", "State=UP AllowGroups=root", "AllowGroups=ALL AllowAccounts=x",
                 "AllowAccounts=ALL RootOnly=YES"):
        cluster.run("scontrol", "update", "PartitionName=other", *rule.split())
        assert submit("other", check=False).returncode == 1, rule
        job = submit("other,debug").stdout.strip()
        assert cluster.job(job)["Partition"] == "debug", rule
        assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_who_may_not(shared, as_root):
    for words in (["create", "PartitionName=mine"], ["delete", "PartitionName=debug"]):
        refused = shared.run("scontrol", *words, user="nobody", check=False)
        assert refused.returncode == 1 and "Access/permission denied" in refused.stderr
    assert shared.run("sinfo", "-h", "-o", "%P").stdout == "debug*\n"


# Line by line what Slurm 22.05 shows of such a partition, but for what later versions have changed.
RICH = """PartitionName=rich
   AllowGroups=root,lab AllowAccounts=x,y DenyQos=y,z
   AllocNodes=l[1-2],m Alternate=debug Default=NO QoS=N/A
   DefaultTime=00:30:00 DisableRootJobs=YES Exclusive=NO GraceTime=9 Hidden=YES
   MaxNodes=2 MaxTime=1-00:00:00 MinNodes=1 LLN=YES MaxCPUsPerNode=3 MaxCPUsPerSocket=UNLIMITED
   NodeSets=n[1-2]
   Nodes=n[1-2]
   PriorityJobFactor=4 PriorityTier=3 RootOnly=YES ReqResv=YES OverSubscribe=FORCE:2
   OverTimeLimit=NONE PreemptMode=REQUEUE
   State=DRAIN TotalCPUs=8 TotalNodes=2 SelectTypeParameters=NONE
   JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=100
   DefMemPerCPU=100 MaxMemPerNode=2048
"""
KEYS = ("Nodes=n[1-2] MaxTime=1-0 DefaultTime=30 MinNodes=1 MaxNodes=2 MaxCPUsPerNode=3 DefMemPerCPU=100"
        " MaxMemPerNode=2048 State=DRAIN Hidden=YES RootOnly=YES ReqResv=YES DisableRootJobs=YES LLN=YES"
        " AllowGroups=root,lab AllowAccounts=x,y DenyQos=y,z AllocNodes=l[1-2],m Alternate=debug GraceTime=9"
        " PriorityTier=3 PriorityJobFactor=4 OverSubscribe=FORCE:2")


def test_scontrol_sets_and_shows_what_slurm_conf_does(make_cluster):
    cluster = make_cluster(
        extra="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
        partitions="PartitionName=debug Nodes=ALL Default=YES OverTimeLimit=UNLIMITED\n"
                   f"PartitionName=rich {KEYS} DefCpuPerGPU=2 DefMemPerGPU=100")

    def record(name):
        return cluster.run("scontrol", "show", "partition", name).stdout

    rich = record("rich")
    assert rich.startswith(RICH)
    assert " ".join(rich.split()) + "\n" == cluster.run("scontrol", "-o", "show", "partition", "rich").stdout
    cluster.run("scontrol", "create", "PartitionName=made", *KEYS.split(), "JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=100")
    assert record("made") == rich.replace("PartitionName=rich", "PartitionName=made")
    cluster.run("scontrol", "update", "PartitionName=made", "DenyAccounts=z", "State=INACTIVE", "PreemptMode=OFF")
    assert "AllowAccounts=x,y DenyQos=y,z\n" in record("made") and "PreemptMode=OFF\n" in record("made")
    assert cluster.run("sinfo", "-h", "-p", "made", "-o", "%a %.5a").stdout == "inactive inact\n"
    cluster.run("scontrol", "update", "PartitionName=made", "Nodes=")
    assert "\n   Nodes=(null)\n" in record("made") and "\n   TRES=(null)\n" in record("made")
    assert "\n   OverTimeLimit=UNLIMITED PreemptMode=REQUEUE\n" in record("debug")


def test_jobs_behind_a_higher_tier_do_not_say_that_nodes_are_away(make_cluster):
    """Neither while the job in front of them waits for nodes, nor while it waits for a victim's grace time."""
    cluster = make_cluster(nodes=1, extra="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE", partitions="""\
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 GraceTime=600
PartitionName=high Nodes=ALL PriorityTier=2 PreemptMode=OFF""")
    trap = "trap : TERM; touch ready; while [ ! -e go ]; do sleep 0.1; done"
    for first in ("high", "low"):
        holder = cluster.submit(trap, "-n4", "-t60", "-p", first)
        cluster.wait_for((cluster.dir / "work" / "ready").exists, what="the first job to run")
        boss = cluster.submit("true", "-n4", "-t10", "-p", "high")
        behind = cluster.submit("true", "-n4", "-t10", "-p", "low")

        def reasons():
            return [cluster.run("squeue", "-hj", job, "-o", "%r").stdout.strip() for job in (boss, behind)]
        cluster.wait_for(lambda: reasons() == ["Resources", "Priority"], what=f"reasons, now {reasons()}")
        assert cluster.state(holder) == "RUNNING"
        (cluster.dir / "work" / "go").touch()
        for job in (boss, behind):
            assert cluster.wait_end(job)["JobState"] == "COMPLETED"
        for name in ("go", "ready"):
            (cluster.dir / "work" / name).unlink(missing_ok=True)
        cluster.run("scancel", holder, check=False)

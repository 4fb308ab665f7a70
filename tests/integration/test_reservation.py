"""Reservations: who gets the nodes, what users see of it, and that they survive the controller."""

import json

import pytest


def shown(cluster, job):
    return cluster.run("squeue", "-h", "-j", job, "-o", "%T|%r|%v").stdout.strip()


def create(cluster, name, *words, **options):
    return cluster.run("scontrol", "create", "reservation", f"ReservationName={name}", *words, **options)


def delete(cluster, name, **options):
    return cluster.run("scontrol", "delete", f"reservation={name}", **options)


def test_a_reservation_is_for_its_users_and_survives_the_controller(cluster):
    me = cluster.run("id", "-un").stdout.strip()
    made = create(cluster, "r1", f"Users={me}", "StartTime=now", "Duration=60", "Nodes=n1")
    assert made.stdout == "Reservation created: r1\n"
    inside = cluster.submit("sleep 300", "--reservation=r1", "-t", "5")
    outside = cluster.submit("sleep 300", "-w", "n1", "-t", "5")
    cluster.wait_state(inside, "RUNNING")
    cluster.wait_for(lambda: "May be reserved" in shown(cluster, outside), what="the reason")
    assert shown(cluster, inside) == "RUNNING|None|r1"
    assert cluster.job(inside)["Reservation"] == "r1"
    assert "MIXED+RESERVED" in cluster.run("scontrol", "show", "node", "n1").stdout
    cluster.kill("slurmctld")
    cluster.start_controller()
    record = cluster.run("scontrol", "-o", "show", "reservation", "r1").stdout
    assert "Nodes=n1 NodeCnt=1 CoreCnt=4" in record
    assert f"Flags=SPEC_NODES TRES=cpu=4 AllowedPartitions=(null) QOS=(null) Users={me}" in record
    assert "State=ACTIVE" in record
    assert shown(cluster, inside) == "RUNNING|None|r1"
    in_use = delete(cluster, "r1", check=False)
    assert in_use.returncode == 1
    assert in_use.stderr == "delete_reservation reservation=r1: Requested reservation is in use\n"
    cluster.run("scancel", inside)
    cluster.wait_end(inside)
    delete(cluster, "r1")
    cluster.wait_state(outside, "RUNNING")
    assert cluster.run("scontrol", "show", "reservation").stdout == "No reservations in the system\n"


def test_nodes_and_lists_show_it(shared):
    create(shared, "m1", "Users=root", "StartTime=now", "Duration=30", "Nodes=n4", "Flags=MAINT")
    assert shared.run("sinfo", "-h", "-N", "-n", "n4", "-o", "%t %i").stdout == "maint m1\n"
    lines = shared.run("sinfo", "-T").stdout.splitlines()
    assert lines[0].split() == ["RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST"]
    assert lines[1].split()[:2] == ["m1", "ACTIVE"] and lines[1].split()[-1] == "n4"
    json = shared.run("scontrol", "show", "reservation", "--json").stdout
    assert '"name": "m1"' in json and '"node_list": "n4"' in json
    updated = shared.run("scontrol", "update", "reservation=m1", "Duration=45", "Flags+=WEEKLY", "Users+=0")
    assert updated.stdout == "Reservation updated.\n"
    assert "Duration=00:45:00" in shared.run("scontrol", "show", "res", "m1").stdout
    delete(shared, "m1")
    assert shared.run("sinfo", "-h", "-N", "-n", "n4", "-o", "%t").stdout == "idle\n"


def test_a_job_waits_for_the_start(shared):
    me = shared.run("id", "-un").stdout.strip()
    create(shared, "f1", f"Users={me}", "StartTime=now+1hour", "Duration=30", "NodeCnt=1")
    job = shared.submit("true", "--reservation=f1", "-t", "5")
    shared.wait_for(lambda: shown(shared, job) == "PENDING|Reservation|f1", what="the reason")
    assert shared.run("squeue", "-h", "-R", "f1", "-o", "%i").stdout.strip() == str(job)
    shared.run("scontrol", "update", "reservation=f1", "StartTime=now", "Duration=30")
    assert shared.wait_end(job)["JobState"] == "COMPLETED"
    delete(shared, "f1")


@pytest.mark.parametrize("words, text", [
    ([], "A start time must be given.  No reservation created."),
    (["StartTime=now", "Duration=5", "Nodes=n1"], "Either Users/Groups and/or Accounts and/or QOS"),
    (["StartTime=foo", "Duration=5", "Nodes=n1", "Users=root"], "Invalid start time StartTime=foo."),
    (["StartTime=now", "Duration=x", "Nodes=n1", "Users=root"], "Invalid duration Duration=x."),
    (["StartTime=now", "Duration=5", "Nodes=n1", "Users=no such"], "Invalid user id"),
    (["StartTime=now", "Duration=5", "Nodes=n9", "Users=root"], "Invalid node name specified"),
    (["StartTime=now", "Duration=5", "Nodes=n1", "Users=root", "Flags=foo"], "Error parsing flags foo."),
    (["StartTime=now", "Duration=5", "Nodes=n1", "Users=root", "Flags=REPLACE"], "Invalid node name specified"),
    (["StartTime=now", "Duration=5", "Nodes=n1", "Users=root", "BurstBuffer=x"], "BurstBuffer of a reservation is not supp"),
    (["StartTime=now", "Duration=5", "Nodes=n1", "Users=root", "MaxStartDelay=x"], "Invalid duration MaxStartDelay=x."),
    (["StartTime=now", "Duration=5", "Nodes=n1", "AllowedPartitions=nosuch"], "Invalid partition name"),
    (["StartTime=now", "Duration=5", "Nodes=n1", "Users=root", "foo=1"], "Unknown parameter foo=1."),
    (["StartTime=2020-01-01", "Duration=5", "Nodes=n1", "Users=root"], "Invalid time specified"),
])
def test_nonsense_is_refused(shared, words, text):
    refused = create(shared, "bad", *words, check=False)
    assert refused.returncode == 1
    assert text in refused.stderr


def test_unknown_ones_are_refused_at_submission(shared):
    refused = shared.run("sbatch", "--reservation=nosuch", "--wrap", "true", check=False)
    assert refused.stderr == "sbatch: error: Batch job submission failed: Requested reservation is invalid\n"
    missing = shared.run("scontrol", "delete", "reservation", "nosuch", check=False)
    assert missing.stderr == "delete_reservation reservation: Requested reservation is invalid\n"


def test_only_operators_and_the_named_may(shared, as_root):
    theirs = create(shared, "r1", "Users=root", "StartTime=now", "Duration=5", "Nodes=n1", user="nobody", check=False)
    assert theirs.stderr == "Error creating the reservation: Invalid user id\n"
    create(shared, "r1", "Users=root", "StartTime=now", "Duration=5", "Nodes=n1")
    denied = shared.run("sbatch", "--reservation=r1", "--wrap", "true", user="nobody", check=False)
    assert "Access denied to requested reservation" in denied.stderr
    delete(shared, "r1")


def test_cores_licences_and_groups_are_reserved(make_cluster):
    cluster = make_cluster(extra="Licenses=matlab:4,ansys\n")
    me = cluster.run("id", "-un").stdout.strip()
    group = cluster.run("id", "-gn").stdout.strip()
    create(cluster, "half", f"Groups={group}", "StartTime=now", "Duration=60", "Nodes=n1", "CoreCnt=2",
           "Licenses=matlab:3")
    record = cluster.run("scontrol", "show", "reservation", "half").stdout
    assert "Nodes=n1 NodeCnt=1 CoreCnt=2 Features=(null) PartitionName=debug Flags=SPEC_NODES\n   TRES=cpu=2\n" in record
    assert f"Users=(null) Groups={group} Accounts=(null) Licenses=matlab:3 State=ACTIVE" in record
    assert cluster.run("scontrol", "show", "licenses").stdout == (
        "LicenseName=ansys\n    Total=1 Used=0 Free=1 Reserved=0 Remote=no\n"
        "LicenseName=matlab\n    Total=4 Used=0 Free=4 Reserved=3 Remote=no\n")
    outside = cluster.submit("sleep 300", "-w", "n1", "-n", "2", "-N", "1", "-t", "5", "-L", "matlab:1")
    no_place = cluster.submit("sleep 300", "-w", "n1", "-n", "1", "-t", "5")
    no_licence = cluster.submit("sleep 300", "-n", "1", "-t", "5", "-L", "matlab:1")
    inside = cluster.submit("sleep 300", "--reservation=half", "-n", "2", "-t", "5", "-L", "matlab:3")
    cluster.wait_state(outside, "RUNNING")
    cluster.wait_state(inside, "RUNNING")
    cluster.wait_for(lambda: cluster.job(no_licence)["Reason"] == "Licenses", what="the reason")
    assert cluster.state(no_place) == "PENDING"
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert "CoreCnt=2" in cluster.run("scontrol", "show", "reservation", "half").stdout
    for words, text in (
            (["groups=nosuchgroup"], "Invalid group id"), ([f"users={me}"], "can't have users and groups"),
            (["corecnt=1"], "Core-based reservation can not be updated"), (["licenses=matlab:5"], "Invalid license"),
            (["corecnt=x"], "Invalid core count x"), (["tres=bb/x=1"], "couldn't identify configured TRES 'bb/x'")):
        refused = cluster.run("scontrol", "update", "reservation=half", *words, check=False)
        assert refused.returncode == 1 and text in refused.stderr
    cluster.run("scancel", inside, outside, no_place, no_licence)
    cluster.wait_end(inside)
    longer = cluster.run("scontrol", "update", "reservation=half", "Duration+=30")
    assert longer.stdout == "Reservation updated.\n"
    assert "Duration=01:30:00" in cluster.run("scontrol", "show", "reservation", "half").stdout


def test_the_flags_of_a_reservation_are_shown(cluster):
    create(cluster, "f", "Users=root", "StartTime=now+30minutes", "Duration=10", "NodeCnt=1",
           "Flags=REPLACE_DOWN,OVERLAP,MAGNETIC,PURGE_COMP,TIME_FLOAT")
    record = cluster.run("scontrol", "show", "reservation", "f").stdout
    assert "Flags=OVERLAP,TIME_FLOAT,REPLACE_DOWN,PURGE_COMP=00:05:00,MAGNETIC\n" in record
    create(cluster, "g", "Users=root", "StartTime=now+30minutes", "Duration=10", "NodeCnt=1", "CoreCnt=1",
           "Flags=FIRST_CORES,OVERLAP")
    record = cluster.run("scontrol", "show", "reservation", "g").stdout
    node = record.split("Nodes=")[1].split()[0]
    assert f"Flags=OVERLAP,FIRST_CORES\n     NodeName={node} CoreIDs=0\n   TRES=cpu=1\n" in record
    listed = json.loads(cluster.run("scontrol", "show", "reservation", "g", "--json").stdout)
    assert listed["reservations"][0]["core_specializations"] == [{"node": node, "core": "0"}]
    refused = cluster.run("scontrol", "update", "reservation=g", "Flags-=FIRST_CORES", check=False)
    assert refused.returncode == 1 and "Error parsing flags -FIRST_CORES" in refused.stderr
    delete(cluster, "g")
    late = cluster.run("scontrol", "update", "reservation=f", "Flags-=TIME_FLOAT", check=False)
    assert late.returncode == 1 and "Error parsing flags -TIME_FLOAT" in late.stderr
    delete(cluster, "f")


def test_the_terms_of_a_reservation_are_shown_and_survive(cluster):
    create(cluster, "t", "QOS=high,low", "AllowedPartitions=debug", "StartTime=now-2hours", "Duration=300", "Nodes=n1",
           "MaxStartDelay=2:30", "Comment=for the course", "Flags=FORCE_START")
    cluster.kill("slurmctld")
    cluster.start_controller()
    record = cluster.run("scontrol", "show", "reservation", "t").stdout
    assert "Flags=SPEC_NODES,FORCE_START\n" in record and "State=ACTIVE" in record
    assert "\n   AllowedPartitions=debug QOS=high,low\n" in record
    assert "\n   MaxStartDelay=00:02:30\n   Comment=for the course\n" in record
    told = json.loads(cluster.run("scontrol", "show", "reservation", "--json").stdout)["reservations"][0]
    assert (told["max_start_delay"], told["comment"], told["qos"]) == (150, "for the course", "high,low")
    refused = cluster.run("sbatch", "--reservation=t", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "Access denied to requested reservation" in refused.stderr
    job = cluster.submit("true", "--reservation=t", "--qos=low")
    assert cluster.wait_end(job)["NodeList"] == "n1"
    cluster.run("scontrol", "update", "reservation=t", "MaxStartDelay=0", "Comment=", "QOS-=low")
    record = cluster.run("scontrol", "show", "reservation", "t").stdout
    assert "QOS=high\n" in record and "MaxStartDelay=(null)\n" in record and "Comment" not in record
    delete(cluster, "t")


def test_others_may_run_into_a_reservation_that_allows_it(cluster):
    create(cluster, "d", "Users=root", "StartTime=now+10minutes", "Duration=60", "Nodes=n1", "MaxStartDelay=30")
    short = cluster.submit("sleep 300", "-w", "n1", "-c2", "-t", "35", "--signal=R:TERM@60")
    cluster.wait_state(short, "RUNNING")
    unwilling = cluster.submit("sleep 300", "-w", "n1", "-c2", "-t", "35")
    long = cluster.submit("sleep 300", "-w", "n1", "-t", "60", "--signal=R:TERM@60")
    for waiting in (unwilling, long):
        cluster.wait_for(lambda: cluster.job(waiting)["Reason"] != "None", what="its reason to wait")
        assert cluster.state(waiting) == "PENDING"
    cluster.run("scancel", unwilling, short, long)
    delete(cluster, "d")

"""What one user may do to another's jobs and to the cluster, and what the log says of it."""

import re
import socket
import struct
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("as_root")
USER, UID = "nobody", 65534
OTHER = "daemon"
FRAME_H = Path(__file__).resolve().parents[2] / "src" / "protocol" / "frame.h"
VERSION = int(re.search(r"kProtocolVersionMax = (\d+)", FRAME_H.read_text())[1])


def log_of(cluster):
    return (cluster.dir / "log" / "slurmctld.log").read_text()


def frame(body):
    return struct.pack("<I", len(body)) + body


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


# A client of our own: says Hello, sends a request, prints the answers until it is told to end.
CLIENT = """
import socket, struct, sys
peer = socket.socket(socket.AF_UNIX)
peer.connect(chr(0) + sys.argv[1])
peer.sendall(bytes.fromhex(sys.argv[2]))
def take(size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part: sys.exit("closed")
        data += part
    return data
for _ in range(2):
    print(take(struct.unpack("<I", take(4))[0]).hex(), flush=True)
sys.stdin.read()
"""


def raw_request(cluster, body, user):
    """Sends a request as the user and gives the process, which keeps its connection open."""
    hello = b"\x08" + varint(VERSION)
    name = f"sluice.slurmctld.{cluster.ports.numbers[0]}"
    return cluster.popen(sys.executable, "-c", CLIENT, name, (frame(hello) + frame(body)).hex(),
                         user=user)


def test_a_stranger_cannot_wait_for_a_job_nor_cancel_it_by_hanging_up(cluster):
    filler = cluster.submit("sleep 1000", "-N2", "--exclusive")
    cluster.wait_state(filler, "RUNNING")
    waiting = cluster.popen("salloc", "-N1", "true", user=USER)
    cluster.wait_for(lambda: cluster.run("squeue", "-h", "-u", USER, "-o", "%A").stdout.strip(),
                     what="the job of salloc")
    job = cluster.run("squeue", "-h", "-u", USER, "-o", "%A").stdout.strip()
    inner = b"\x08" + varint(int(job))
    stranger = raw_request(cluster, b"\x3a" + varint(len(inner)) + inner, OTHER)
    assert stranger.stdout.readline()  # Welcome
    answer = bytes.fromhex(stranger.stdout.readline())
    stranger.communicate("")
    assert answer[0] == 0x0a  # Reply.error
    # What the next request sees is after what the lost connection led to.
    cluster.run("squeue")
    assert cluster.state(job) == "PENDING"
    cluster.run("scancel", filler)
    assert waiting.wait(timeout=60) == 0
    waiting.communicate()


def test_the_owner_does_not_weaken_an_administrators_hold(shared):
    job = shared.submit("true", "--begin=now+1hour", user=USER)
    shared.run("scontrol", "hold", job)
    for command in (["hold", job], ["uhold", job], ["requeuehold", job],
                    ["update", f"JobId={job}", "Priority=0"]):
        shared.run("scontrol", *command, user=USER, check=False)
        assert shared.job(job)["Reason"] == "JobHeldAdmin", command
        refused = shared.run("scontrol", "release", job, user=USER, check=False)
        assert refused.returncode != 0 and "denied" in refused.stderr
    shared.run("scontrol", "release", job)
    assert shared.job(job)["Reason"] == "BeginTime"
    shared.run("scancel", job)


def test_an_array_of_another_user_is_not_taken_apart(shared):
    job = shared.submit("true", "--array=0-9", "--hold", user=USER)
    for command in (["hold", f"{job}_[0-4]"], ["release", f"{job}_[0-4]"],
                    ["requeue", f"{job}_[0-4]"], ["suspend", f"{job}_[0-4]"],
                    ["update", f"JobId={job}_[0-4]", "Name=taken"]):
        assert shared.run("scontrol", *command, user=OTHER, check=False).returncode, command
    assert shared.run("scancel", f"{job}_[0-4]", user=OTHER, check=False).returncode
    assert shared.run("squeue", "-h", "-j", job, "-o", "%i %T").stdout.split() \
        == [f"{job}_[0-9]", "PENDING"]
    shared.run("scancel", job)


def test_access_to_a_partition_is_asked_again(make_cluster):
    partitions = ("PartitionName=debug Nodes=ALL Default=YES\n"
                  "PartitionName=paid Nodes=ALL AllowAccounts=grant\n"
                  "PartitionName=staff Nodes=ALL AllowGroups=root\n"
                  "PartitionName=far Nodes=ALL AllocNodes=elsewhere\n"
                  "PartitionName=bulk Nodes=ALL AllowQos=normal,low\n"
                  f"PartitionName=near Nodes=ALL AllocNodes={socket.gethostname()}")
    cluster = make_cluster(nodes=1, partitions=partitions)
    for name in ("low", "high"):
        cluster.run("sacctmgr", "-i", "add", "qos", name)
    bulk = cluster.submit("true", "--hold", "-p", "bulk", "--qos=normal", user=USER)
    refused = cluster.run("scontrol", "update", f"JobId={bulk}", "QOS=high", user=USER, check=False)
    assert refused.returncode != 0 and cluster.job(bulk)["QOS"] == "normal"
    cluster.run("scontrol", "update", f"JobId={bulk}", "QOS=low", user=USER)
    assert cluster.job(bulk)["QOS"] == "low"
    job = cluster.submit("true", "--hold", "-p", "paid", "-A", "grant", user=USER)
    for change in ("Account=free", "Partition=staff", "Partition=far"):
        refused = cluster.run("scontrol", "update", f"JobId={job}", change, user=USER, check=False)
        assert refused.returncode != 0, change
    assert cluster.job(job)["Account"] == "grant" and cluster.job(job)["Partition"] == "paid"
    cluster.run("scontrol", "update", f"JobId={job}", "Partition=near", user=USER)
    cluster.run("scontrol", "update", f"JobId={job}", "Account=free", user=USER)
    assert cluster.run("sbatch", "-p", "far", "--wrap", "true", user=USER, check=False).returncode
    cluster.run("scancel", job, bulk)


def test_alloc_nodes_are_compared_with_the_address_of_the_connection(munged, two_hosts, make_cluster):
    """n2 is another host: what a command says about its own host does not count."""
    far = two_hosts["hosts"]["n2"][1]
    partitions = ("PartitionName=debug Nodes=ALL Default=YES\nPartitionName=far Nodes=ALL AllocNodes=n2\n"
                  f"PartitionName=address Nodes=ALL AllocNodes={far}\n"
                  f"PartitionName=near Nodes=ALL AllocNodes={socket.gethostname()}")
    cluster = make_cluster(extra=f"AuthType=auth/munge\nAuthInfo=socket={munged[0]}", partitions=partitions, **two_hosts)

    def at(host, *words, **options):
        return cluster.run(*cluster.on_host(host), *cluster.as_user(USER), *words, **options)

    def may_submit(host, partition):
        result = at(host, "sbatch", "-H", "-p", partition, "--wrap", "true", check=False)
        assert result.returncode == 0 or "Access/permission denied" in result.stderr, result.stderr
        return result.returncode == 0

    def open_to(host):
        return [name for name in ("debug", "far", "address", "near") if may_submit(host, name)]

    assert open_to("n2") == ["debug", "far", "address"] and open_to("n1") == ["debug", "near"]
    job = at("n1", "sbatch", "--parsable", "-H", "--wrap", "true").stdout.strip()
    for host, may in (("n1", False), ("n2", True)):
        moved = at(host, "scontrol", "update", f"JobId={job}", "Partition=far", check=False)
        assert (moved.returncode == 0) == may, moved.stderr


def test_private_data_is_hidden_in_every_listing(make_cluster):
    cluster = make_cluster(extra="PrivateData=jobs,nodes,partitions,reservations\nFirstJobId=70001\n"
                                 "SlurmctldParameters=allow_user_triggers")
    cluster.run("scontrol", "create", "reservation", "ReservationName=secret", "StartTime=now+1hour",
                "Duration=10", "Nodes=n1", "Users=root")
    mine = cluster.submit("sleep 1000", "-J", "hers", user=USER)
    theirs = cluster.submit("sleep 1000", "-N2", "--exclusive", "-J", "theirs")
    cluster.wait_state(mine, "RUNNING")

    def both(*command):
        """As root first: what is kept for root must not be shown to the user."""
        as_root = cluster.run(*command).stdout
        as_user = cluster.run(*command, user=USER, check=False)
        return as_root, as_user.stdout + as_user.stderr

    for command in (["squeue"], ["squeue", "-s"], ["squeue", "-t", "all"], ["scontrol", "show", "jobs"],
                    ["scontrol", "show", "steps"], ["sprio"], ["squeue", "--json"],
                    ["squeue", "-o", "%j", "-j", f"{mine},{theirs}"]):
        as_root, as_user = both(*command)
        assert as_root and "theirs" not in as_user and not re.search(rf"\b{theirs}\b", as_user), command
    shown = both("squeue", "-h", "-o", "%i %j")
    assert {f"{mine} hers", f"{theirs} theirs"} == set(shown[0].splitlines())
    assert shown[1].splitlines() == [f"{mine} hers"]
    for command in (["scontrol", "show", "job", theirs], ["swhy", theirs], ["squeue", "-j", theirs]):
        hidden = cluster.run(*command, user=USER, check=False)
        assert "theirs" not in hidden.stdout and "root" not in hidden.stdout, command
    cluster.run("strigger", "--set", f"--jobid={theirs}", "--fini", "--program=/bin/true theirs")
    cluster.run("strigger", "--set", f"--jobid={mine}", "--fini", "--program=/bin/date", user=USER)
    as_root, as_user = both("strigger", "--get")
    assert "/bin/true" in as_root and "/bin/date" in as_root
    assert "/bin/date" in as_user and "/bin/true" not in as_user and theirs not in as_user
    for command in (["sinfo"], ["scontrol", "show", "nodes"], ["scontrol", "show", "partitions"]):
        as_root, as_user = both(*command)
        assert "n1" not in as_user and "denied" in as_user, command
        assert "debug" in as_root or "n1" in as_root
    assert "secret" in both("scontrol", "show", "reservations")[0]
    assert "secret" not in both("scontrol", "show", "reservations")[1]
    blocked = cluster.submit("true", "-N2", "--exclusive", user=USER)
    cluster.run("scontrol", "top", blocked)
    reasons = cluster.run("swhy", blocked, user=USER).stdout
    assert mine in reasons and not re.search(rf"\b{theirs}\b", reasons)
    cluster.run("scancel", mine, theirs, blocked)


def test_a_user_who_asks_too_often_is_slowed_down(make_cluster):
    limits = "rl_enable,rl_bucket_size=2,rl_refill_rate=1,rl_refill_period=100000"
    cluster = make_cluster(nodes=1, extra=f"SlurmctldParameters={limits}")
    for _ in range(2):
        cluster.run("squeue", user=USER)
    limited = cluster.popen("squeue", "-h", user=USER)
    cluster.wait_for(lambda: f"RPC limit exceeded by uid {UID}" in log_of(cluster),
                     what="a line about the limit")
    for _ in range(5):
        cluster.run("squeue")  # root is exempt
    assert limited.poll() is None
    cluster.extra = ""
    cluster.write_config()
    cluster.run("scontrol", "reconfigure")
    assert limited.wait(timeout=60) == 0
    limited.communicate()


# So many connections that ask for the same long script and read nothing, then one that reads.
DEAF = """
import socket, struct, sys
request = bytes.fromhex(sys.argv[2])
def connect():
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(chr(0) + sys.argv[1])
    peer.sendall(request)
    return peer
def take(peer, size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part: sys.exit("closed")
        data += part
    return data
def message(peer):
    return take(peer, struct.unpack("<I", take(peer, 4))[0])
kept = [connect() for _ in range(int(sys.argv[3]))]
for peer in kept: message(peer)  # Welcome: its answer is sent, as far as it goes
last = connect()
message(last)
print(message(last)[:200], flush=True)
sys.stdin.read()
"""


def test_replies_that_a_user_does_not_read_do_not_fill_the_controllers_memory(cluster):
    text = "#!/bin/sh\n" + "# 0123456789\n" * 300_000
    job = cluster.run("sbatch", "--parsable", "--hold", user=USER, input=text).stdout.strip()

    def memory():
        status = Path(f"/proc/{cluster.daemons['slurmctld'].pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) >> 10

    before = memory()
    arguments = [f"sluice.slurmctld.{cluster.ports.numbers[0]}",
                 (frame(b"\x08" + varint(VERSION)) + frame(b"\x60" + varint(int(job)))).hex()]
    deaf = cluster.popen(sys.executable, "-c", DEAF, *arguments, "200", user=USER)
    answer = deaf.stdout.readline()
    assert f"uid {UID} has replies of up to 256 MB" in answer
    assert memory() < before + 400  # the scripts that were asked for are 780 MB
    assert cluster.run_job("echo alive", user=OTHER)[1] == "alive\n"
    # The same user is served when those connections have gone.
    deaf.communicate("")
    cluster.run("scontrol", "write", "batch_script", job, "copy", user=USER, cwd="/tmp")
    Path("/tmp/copy").unlink()


# Four requests of 30 MB that never arrive in full, then a fifth that does, and its answer.
HOARDER = """
import socket, struct, sys
size = 30 << 20
hello = bytes.fromhex(sys.argv[2])
def connect():
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(chr(0) + sys.argv[1])
    return peer
def take(peer, size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part: sys.exit("closed")
        data += part
    return data
def message(peer):
    return take(peer, struct.unpack("<I", take(peer, 4))[0])
kept = []
for _ in range(4):
    kept.append(connect())
    kept[-1].sendall(hello + struct.pack("<I", size) + b"x")
    message(kept[-1])
last = connect()
last.sendall(hello + struct.pack("<I", size))
message(last)
last.sendall(bytes(size))
print(message(last).decode(errors="replace"))
for peer in kept: peer.close()
"""


def test_one_user_does_not_fill_the_controllers_memory(cluster):
    arguments = [f"sluice.slurmctld.{cluster.ports.numbers[0]}",
                 frame(b"\x08" + varint(VERSION)).hex()]
    answer = cluster.run(sys.executable, "-c", HOARDER, *arguments, user=USER).stdout
    assert f"uid {UID} has requests of up to 128 MB" in answer
    assert cluster.run_job("echo alive", user=USER)[1] == "alive\n"


@pytest.mark.parametrize("level", ["info", "quiet"])
def test_every_administrative_change_is_a_line_with_the_uid(make_cluster, level):
    cluster = make_cluster(nodes=1, extra=f"SlurmctldDebug={level}\nMaxNodeCount=3")
    job = cluster.submit("true", "--hold", user=USER)
    cluster.run("scontrol", "update", f"JobId={job}", "Comment=x", user=USER)
    cluster.run("scontrol", "hold", job)
    cluster.run("scontrol", "update", f"JobId={job}", "Nice=7")
    cluster.run("scontrol", "update", "PartitionName=debug", "MaxTime=60")
    cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=fan")
    cluster.run("sacctmgr", "-i", "add", "qos", "fast")
    cluster.run("scontrol", "create", "reservation", "ReservationName=r1", "StartTime=now+1hour",
                "Duration=10", "Nodes=n1", "Users=root")
    cluster.run("scontrol", "create", "NodeName=d[1-2]", "CPUs=1")
    cluster.run("scontrol", "delete", "NodeName=d[1-2]")
    cluster.run("sdiag", "-r")
    cluster.run("scontrol", "reconfigure")
    cluster.run("scontrol", "update", "PartitionName=debug", "MaxTime=7", user=USER, check=False)
    cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    cluster.run("scancel", job)
    wanted = [rf"uid {UID}: update job {job}: Comment=x", rf"uid 0: hold job {job}",
              rf"uid 0: update job {job}: Nice=7", "uid 0: update partition debug: MaxTime=01:00:00",
              "uid 0: update node n1: State=DRAIN Reason=fan", "uid 0: Add QOS fast",
              "uid 0: create reservation r1: .*Nodes=n1 Users=0", "uid 0: create node d1,d2", "uid 0: delete node d1,d2",
              "uid 0: reset statistics", "uid 0: reconfigure"]
    # The line of a change may be written after its answer.
    for line in wanted:
        cluster.wait_for(lambda: re.search(rf"\] audit: {line}", log_of(cluster), re.I),
                         what=f"an audit line with {line}")
    assert "MaxTime=00:07" not in log_of(cluster)


@pytest.mark.parametrize("daemon", ["slurmctld", "n1"])
def test_strangers_cannot_forge_lines_in_the_log_nor_flood_it(make_cluster, daemon):
    cluster = make_cluster(nodes=1)

    def log_text():
        return (cluster.dir / "log" / f"{daemon}.log").read_text()

    port = cluster.ports.numbers[0 if daemon == "slurmctld" else 1]
    program = b"x\n[2030-01-01T00:00:00.000] forged\x1b[2J"
    hello = b"\x08\x63" + b"\x22" + varint(len(program)) + program  # of a version that is unknown
    for _ in range(300):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
            peer.sendall(frame(hello))
            while peer.recv(4096):
                pass
    cluster.wait_for(lambda: "more lines about refused connections" in log_text(),
                     what="the summary")
    log = log_text()
    assert not [line for line in log.splitlines() if line.startswith("[2030")]
    assert "x\\x0a[2030-01-01T00:00:00.000] forged\\x1b[2J" in log
    assert "\x1b" not in log
    assert log.count("forged") < 300


ROLES = {"other": "bin", "owner": USER, "coordinator": "daemon", "operator": "sys", "SlurmUser": None, "root": None}
# What the controller answers without its core. The rows of docs/security.md say who may.
SHELL_REQUESTS = {"read batch script": ["scontrol", "write", "batch_script", "JOB", "-"],
                  "reset statistics": ["sdiag", "-r"], "see damaged records": ["scontrol", "show", "damaged"],
                  "shut down": ["scontrol", "shutdown", "slurmctld"]}


def rights_of(request):
    for line in (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith(request):
            return dict(zip(ROLES, (cell == "y" for cell in cells[1:])))
    raise AssertionError(f"no row {request}")


def test_requests_that_the_core_does_not_see_are_answered_by_the_table(make_cluster):
    cluster = make_cluster(nodes=1)
    cluster.run("sacctmgr", "-i", "add", "account", "school")
    cluster.run("sacctmgr", "-i", "add", "user", USER, ROLES["coordinator"], "account=school")
    cluster.run("sacctmgr", "-i", "add", "user", ROLES["operator"], "account=school", "adminlevel=operator")
    cluster.run("sacctmgr", "-i", "add", "coordinator", "account=school", f"names={ROLES['coordinator']}")
    job = cluster.submit("true", "--hold", "-A", "school", user=USER)
    for request, command in SHELL_REQUESTS.items():
        for role, may in rights_of(request).items():
            result = cluster.run(*[job if word == "JOB" else word for word in command], user=ROLES[role], check=False)
            # Compat: without a script scontrol returns 0.
            assert ("denied" not in result.stderr) == may, (request, role, result.stderr)
            assert result.returncode == 0 or not may
            if request == "shut down" and may:
                cluster.wait_for(lambda: not cluster.alive("slurmctld"), what="slurmctld to end")
                cluster.start_controller()

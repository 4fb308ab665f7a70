"""Foreign bytes on every port: the daemons stay up and go on serving."""

import os
import random
import resource
import socket
import struct


def ports(cluster):
    return list(cluster.ports.numbers)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def send_and_close(port, data):
    with connect(port) as peer:
        try:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            peer.settimeout(0.2)
            while peer.recv(65536):
                pass
        except OSError:
            pass


def still_serves(cluster):
    assert all(cluster.alive(name) for name in cluster.daemons)
    record, output = cluster.run_job("echo alive; srun echo step")
    assert record["JobState"] == "COMPLETED" and "alive\nstep\n" == output


def test_random_and_truncated_frames(cluster):
    dice = random.Random(7)
    hello = b"\x08\x02\x10\x00"
    messages = [
        b"", b"\0", b"\xff" * 4, b"\xff" * 100, struct.pack("<I", 0), struct.pack("<I", 1 << 31),
        struct.pack("<I", 100) + b"short", struct.pack("<I", len(hello)) + hello,
        struct.pack("<I", len(hello)) + hello + struct.pack("<I", 30 << 20) + b"x" * 1000,
        b"GET / HTTP/1.0\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 200,
    ]
    for _ in range(200):
        body = dice.randbytes(dice.randrange(200))
        messages.append(struct.pack("<I", len(body)) + body)
        messages.append(struct.pack("<I", len(hello)) + hello + struct.pack("<I", len(body)) + body)
    for port in ports(cluster):
        for message in messages:
            send_and_close(port, message)
    still_serves(cluster)


def test_the_same_over_unix_sockets(cluster):
    dice = random.Random(8)
    names = [line.split()[-1] for line in open("/proc/net/unix")
             if "@sluice." in line and line.strip().rsplit(".", 1)[-1] in map(str, ports(cluster))]
    assert len(names) >= len(ports(cluster))
    for name in set(names):
        for _ in range(100):
            body = b"\x08\x02" + dice.randbytes(dice.randrange(100))
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect("\0" + name[1:])
                try:
                    peer.sendall(struct.pack("<I", len(body)) + body + dice.randbytes(50))
                except OSError:
                    pass
    still_serves(cluster)


def test_five_thousand_idle_connections(cluster):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 5000 if hard >= 6000 else hard - 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted + 500), hard))
    idle = []
    try:
        for _ in range(wanted):
            idle.append(connect(ports(cluster)[0]))
        still_serves(cluster)
    finally:
        for peer in idle:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    still_serves(cluster)


def test_a_reader_that_never_reads(cluster):
    cluster.submit("true", "--array=0-999", "--hold")
    stopped = [cluster.popen("squeue", "-r") for _ in range(5)]
    for process in stopped:
        os.kill(process.pid, 19)
    still_serves(cluster)
    for process in stopped:
        process.kill()
        process.communicate()


def test_a_foreign_launch_is_refused(cluster):
    """Whoever is not the controller cannot make a node run anything."""
    frame = b"\x08\x02\x10\x02"  # Hello: version 2, channel Step
    launch = b"\x0a\x08\x0a\x06forged"  # StepInput.launch with a made-up credential
    data = b"".join(struct.pack("<I", len(part)) + part for part in (frame, launch))
    for port in ports(cluster)[1:]:
        send_and_close(port, data)
        with socket.socket(socket.AF_UNIX) as peer:  # where the kernel says who we are
            peer.connect(f"\0sluice.slurmd.{port}")
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            answers = b"".join(iter(lambda: peer.recv(65536), b""))
            assert b"no launch credential" in answers
    assert not [line for line in cluster.processes().values() if "slurmstepd" in line]
    still_serves(cluster)

"""sdata as users call it. The records are decoded here a second time, from the formats' own definitions."""

import os
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile

import pytest
from cluster import default_prefix, wait_for


def sdata(*words, **options):
    return subprocess.run([default_prefix() / "bin" / "sdata", *map(str, words)], capture_output=True, **options)


@pytest.fixture
def source(tmp_path):
    files = {"n01/a.jpg": b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x20\x00\x40\x03rest", "n01/b.jpg": b"", "n02/c.bin": b"x" * 70_000,
             "n02/odd\nname \xe9.txt": b"odd", "top": b"no class"}
    for name, content in files.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "source", {os.fsdecode(os.fsencode(name)): content for name, content in files.items()}


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of a message of protobuf: numbers and nested bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def one(data, number):
    return next(value for each, value in fields(data) if each == number)


def example(data):
    """{name: bytes or number} of a tf.train.Example."""
    found = {}
    for number, entry in fields(one(data, 1)):
        feature = one(entry, 2)
        kind, values = next(fields(feature))
        value = one(values, 1)
        found[one(entry, 1).decode()] = value if kind == 1 else value if isinstance(value, int) else varint(value, 0)[0]
    return found


def records(path):
    data, at = path.read_bytes(), 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(crc32c(data[at:at + 8]))
        content = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(crc32c(content))
        yield example(content)
        at += 16 + length


def test_tfrecords_have_the_names_of_the_usual_converter(source, tmp_path):
    directory, files = source
    done = sdata("pack", "--shard-size=1K", "--prefix=train", directory, tmp_path / "packed")
    assert done.returncode == 0 and done.stdout.startswith(b"5 files, "), done
    found = {}
    for shard in sorted((tmp_path / "packed").glob("train-*.tfrecord")):
        for record in records(shard):
            found[os.fsdecode(record["sluice/path"])] = record
    assert {name: record["image/encoded"] for name, record in found.items()} == files
    first = found["n01/a.jpg"]
    assert first["image/filename"] == b"a.jpg" and first["image/format"] == b"JPEG"
    assert (first["image/height"], first["image/width"], first["image/channels"]) == (32, 64, 3)
    assert first["image/class/label"] == 1 and first["image/class/synset"] == b"n01"
    assert found["n02/c.bin"]["image/class/label"] == 2
    assert "image/class/label" not in found["top"]


def test_web_datasets_are_tar_archives(source, tmp_path):
    directory, files = source
    assert sdata("pack", "-f", "webdataset", directory, tmp_path / "packed").returncode == 0
    with tarfile.open(tmp_path / "packed" / "data-00000-of-00001.tar") as archive:
        assert {each.name: archive.extractfile(each).read() for each in archive} == files


@pytest.mark.parametrize("name", ["tfrecord", "webdataset"])
def test_what_was_packed_is_listed_printed_verified_and_unpacked(source, tmp_path, name):
    directory, files = source
    packed = tmp_path / "packed"
    assert sdata("pack", "-f", name, directory, packed).returncode == 0
    assert sdata("cat", packed, "n02/c.bin").stdout == files["n02/c.bin"]
    assert sdata("cat", packed, "n09/c.bin").returncode == 1
    assert b"    70000      2 n02/c.bin\n" in sdata("ls", packed).stdout
    assert b"5 files" in sdata("verify", packed).stdout
    assert sdata("unpack", packed, tmp_path / "again").returncode == 0
    assert subprocess.run(["diff", "-r", directory, tmp_path / "again"]).returncode == 0
    shard = next(path for path in packed.iterdir() if path.suffix in (".tar", ".tfrecord"))
    content = bytearray(shard.read_bytes())
    content[40_000] ^= 1
    shard.write_bytes(content)
    done = sdata("verify", packed)
    assert done.returncode == 1 and b"n02/c.bin" in done.stderr and shard.name.encode() in done.stderr


def test_a_killed_pack_continues(tmp_path):
    directory = tmp_path / "source"
    directory.mkdir()
    for i in range(3000):
        (directory / f"{i}.bin").write_bytes(os.urandom(20_000))
    packed = tmp_path / "packed"
    command = [default_prefix() / "bin" / "sdata", "pack", "-j1", "-s1M", directory, packed]
    running = subprocess.Popen(command)
    wait_for(lambda: any(packed.glob("*.idx")), what="the first shard", interval=0.001)
    running.send_signal(signal.SIGKILL)
    running.wait()
    if not (packed / "manifest.json").exists():  # else it was faster than the signal
        before = {path.name: path.stat().st_mtime_ns for path in packed.glob("*.idx")}
        assert subprocess.run(command).returncode == 0
        assert before.items() <= {path.name: path.stat().st_mtime_ns for path in packed.glob("*.idx")}.items()
    assert sdata("verify", packed).returncode == 0
    assert not list(packed.glob("*.part")) and not (packed / "packing").exists()


def test_a_file_that_changes_meanwhile_is_named(tmp_path):
    """Its size stays the same. It is read last, long after it was listed."""
    directory = tmp_path / "source"
    directory.mkdir()
    for i in range(2000):
        (directory / f"{i}.bin").write_bytes(os.urandom(20_000))
    script = "import os, sys\nfile = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\nwhile True: os.pwrite(file, os.urandom(9), 0)\n"
    with subprocess.Popen([sys.executable, "-c", script, directory / "last"]) as writer:
        wait_for(lambda: (directory / "last").exists() and (directory / "last").stat().st_size == 9, what="the file")
        done = sdata("pack", "-j1", "--no-shuffle", directory, tmp_path / "packed")
        writer.kill()
    assert done.returncode == 1 and f"{directory}/last has changed since sdata pack began".encode() in done.stderr
    assert not (tmp_path / "packed" / "manifest.json").exists()


def test_bad_input_is_named_and_changes_nothing(source, tmp_path):
    directory, _ = source
    for words, message in [(["pack", directory], b"sdata pack SRC DST"),
                           (["pack", "--shard-size=x", directory, tmp_path / "p"], b"--shard-size=x"),
                           (["pack", "--format=zip", directory, tmp_path / "p"], b"--format=zip"),
                           (["pack", "--threads=0", directory, tmp_path / "p"], b"--threads=0"),
                           (["pack", "--no-write", directory, tmp_path / "p"], b"--no-write"),
                           (["pack", tmp_path / "none", tmp_path / "p"], b"none: No such file"),
                           (["verify", directory], b"manifest.json"), (["pak", "a", "b"], b"pak")]:
        done = sdata(*words)
        assert done.returncode == 1 and message in done.stderr, (words, done)
    (directory / "n01" / "link").symlink_to("/etc/passwd")
    assert b"n01/link" in sdata("pack", directory, tmp_path / "p").stderr
    assert not (tmp_path / "p").exists()


def test_usage_writes_a_file_into_each_directory(source):
    directory, _ = source
    done = sdata("usage", directory)
    assert done.returncode == 0
    for name in (".", "n01", "n02"):
        lines = (directory / name / "disk-usage.txt").read_text().splitlines()
        assert [line.split(":")[0] for line in lines] == ["Updated", "Usage (human-readable)", "Usage (K)"]
    assert int(lines[2].split()[-1]) >= 69
    (directory / "n01" / "disk-usage.txt").unlink()
    assert sdata("usage", "-n", directory).returncode == 0
    assert not (directory / "n01" / "disk-usage.txt").exists()


def test_usage_goes_on_where_it_may_not_read_or_write(as_root, source):
    """An ordinary user asks: the directories of others are left out and named, all else is counted."""
    directory, _ = source
    for parent in directory.parents:
        if str(parent).startswith(tempfile.gettempdir() + "/"):
            parent.chmod(parent.stat().st_mode | 0o755)
    directory.chmod(0o777)
    (directory / "n01").chmod(0o700)
    done = sdata("usage", directory, user="nobody", group="nogroup", extra_groups=[])
    assert done.returncode == 1
    assert f"{directory}/n01: Permission denied".encode() in done.stderr
    assert f"{directory}/n02/disk-usage.txt: Permission denied".encode() in done.stderr
    assert int((directory / "disk-usage.txt").read_text().split()[-1]) >= 69
    assert f"{directory}/n02\n".encode() in done.stdout
    (directory / "n01" / "disk-usage.txt").symlink_to(directory / "top")
    assert sdata("usage", directory).returncode == 0
    assert (directory / "top").read_text() == "no class"
    assert (directory / "n01" / "disk-usage.txt").read_text().startswith("Updated: ")

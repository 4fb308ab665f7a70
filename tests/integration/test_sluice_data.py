"""The Python package sluice_data and its examples: every sample once over ranks and workers, also after a resume; damage is found. The
records for TensorFlow are decoded by test_sdata's own decoder."""

import collections
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cluster import default_prefix
from test_sdata import records, sdata

PACKAGE = default_prefix() / "lib" / "python3" / "dist-packages"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "dataset_loading"
PYTHON = "/usr/bin/python3"
sys.path.insert(0, str(PACKAGE))
import sluice_data  # noqa: E402
from sluice_data.checksum import crc32c_in_python  # noqa: E402


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1", "PATH": f"{default_prefix()}/bin:{os.environ['PATH']}", **more}


def make_tree(directory, classes=5, files=40):
    expected = {}
    for number in range(classes):
        for each in range(files):
            name = f"n{number}/odd\nname é {each}.bin" if each == 0 else f"n{number}/{each:03}.bin"
            expected[name] = (bytes([number, each]) * (50 + 7 * each), number + 1)
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(expected[name][0])
    return expected


@pytest.fixture(scope="module", params=["tfrecord", "webdataset"])
def packed(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("dataset")
    expected = make_tree(directory / "source")
    assert sdata("pack", "-f", request.param, "--shard-size=20K", directory / "source", directory / "packed").returncode == 0
    return directory / "packed", expected


@pytest.fixture(scope="module")
def torch():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("needs python3-torch of packaging/debian-packages-test")


def test_samples_are_those_of_the_source(packed):
    directory, expected = packed
    dataset = sluice_data.Dataset(directory)
    assert len(dataset) == len(expected) and len(dataset.shards) > 3 and dataset.classes == [f"n{i}" for i in range(5)]
    assert {sample.path: (sample.data, sample.label) for sample in dataset} == expected
    last = dataset[len(dataset) - 1]
    assert expected[last.path] == (last.data, last.label)
    assert {sample.path for sample in pickle.loads(pickle.dumps(dataset))} == set(expected)


def test_the_checksum_is_that_of_the_processor():
    assert (PACKAGE / "sluice_data" / "libsluice_data.so").exists()
    for data in (b"", b"123456789", os.urandom(1000)):
        assert sluice_data.crc32c(data) == crc32c_in_python(data)
    assert sluice_data.crc32c(b"123456789") == 0xe3069283
    assert sluice_data.crc32c(b"6789", sluice_data.crc32c(b"12345")) == 0xe3069283


def test_every_changed_byte_is_found(packed, tmp_path):
    directory, expected = packed
    for path in directory.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    dataset = sluice_data.Dataset(directory)
    shard = tmp_path / dataset.shards[0].name
    content = bytearray(shard.read_bytes())
    record = dataset.index(0)[3]
    content[record.offset + record.length - 600 if dataset.format == "webdataset" else record.offset + record.length - 20] ^= 4
    shard.write_bytes(content)
    with pytest.raises(sluice_data.DamagedError, match="at [0-9]+"):
        list(sluice_data.Dataset(tmp_path))
    for name in (dataset.shards[1].name + ".idx", "manifest.json"):
        text = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(text.replace(b"1", b"2", 1))
        with pytest.raises(sluice_data.DamagedError, match="checksum"):
            list(sluice_data.Dataset(tmp_path))
        (tmp_path / name).write_bytes(text)
        shard.write_bytes((directory / shard.name).read_bytes())


@pytest.mark.parametrize("shuffle", [0, 1, 30, 1000])
def test_an_order_divides_and_resumes_exactly(shuffle):
    counts = [7, 0, 50, 1, 33]
    for consumers in (1, 3, 8, 100):
        found = []
        for consumer in range(consumers):
            order = list(sluice_data.EpochOrder(counts, consumer, consumers, 5, 2, shuffle).read(lambda *place: place))
            assert abs(len(order) - sum(counts) / consumers) < 1
            for skip in (0, 1, len(order) // 2, len(order)):
                again = sluice_data.EpochOrder(counts, consumer, consumers, 5, 2, shuffle).read(lambda *place: place, skip)
                assert list(again) == order[skip:]
            found += order
        assert sorted(found) == [(shard, record) for shard, count in enumerate(counts) for record in range(count)]
    epochs = [list(sluice_data.EpochOrder(counts, seed=5, epoch=epoch, shuffle=shuffle).read(lambda *place: place)) for epoch in (0, 1)]
    assert (epochs[0] == epochs[1]) == (shuffle == 0)


READER = """
import sys, torch
from sluice_data.torch import SampleStream, StreamLoader
torch.set_num_threads(1)
directory, workers, stop, state, keep = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5] == "persistent"
stream = SampleStream(directory, transform=lambda sample: sample, shuffle=16, seed=3)
loader = StreamLoader(stream, batch_size=4, num_workers=workers, collate_fn=list, persistent_workers=keep)
if state != "none":
    try: loader.load_state_dict(torch.load(f"{state}.{stream.rank}"))
    except FileNotFoundError: pass
for number, batch in enumerate(loader, 1):
    for sample in batch: print(repr((loader.epoch, sample.path, len(sample.data), sample.label)))
    if number == stop:
        torch.save(loader.state_dict(), f"{state}.{stream.rank}")
        break
if keep:
    for batch in loader:
        for sample in batch: print(repr((loader.epoch, sample.path, len(sample.data), sample.label)))
"""


def read_ranks(directory, tmp_path, world, workers, stop=0, state="none", keep=""):
    """What all ranks print: (epoch, path, size, label)."""
    (tmp_path / "reader.py").write_text(READER)
    ranks = [subprocess.Popen([PYTHON, tmp_path / "reader.py", directory, str(workers), str(stop), str(state), keep], stdout=subprocess.PIPE,
                              text=True, env=environment(SLURM_PROCID=str(rank), SLURM_NTASKS=str(world))) for rank in range(world)]
    texts = [each.communicate()[0] for each in ranks]
    assert all(each.returncode == 0 for each in ranks)
    return [eval(line) for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("world, workers", [(1, 0), (2, 3)])
def test_torch_gets_every_sample_once_also_after_a_resume(packed, torch, tmp_path, world, workers):
    directory, expected = packed
    everything = {(0, name, len(data), label) for name, (data, label) in expected.items()}
    state = tmp_path / "state"
    first = read_ranks(directory, tmp_path, world, workers, stop=7, state=state)
    assert 0 < len(first) < len(expected)
    second = read_ranks(directory, tmp_path, world, workers, stop=9, state=state)  # resumed, interrupted again
    third = read_ranks(directory, tmp_path, world, workers, state=state)
    found = collections.Counter(first + second + third)
    assert set(found) == everything and set(found.values()) == {1}
    whole = read_ranks(directory, tmp_path, world, workers)
    assert collections.Counter(whole) == found
    if world == 1:
        assert whole == first + second + third  # and in the same order


def test_workers_that_persist_see_the_next_epoch(packed, torch, tmp_path):
    directory, expected = packed
    found = read_ranks(directory, tmp_path, 1, 2, keep="persistent")
    epochs = [[name for epoch, name, _, _ in found if epoch == each] for each in (0, 1)]
    assert [sorted(each) for each in epochs] == [sorted(expected)] * 2 and epochs[0] != epochs[1]


def test_a_state_of_another_layout_is_refused(packed, torch, tmp_path):
    directory, _ = packed
    read_ranks(directory, tmp_path, 1, 2, stop=3, state=tmp_path / "state")
    done = subprocess.run([PYTHON, tmp_path / "reader.py", directory, "3", "0", tmp_path / "state", ""], capture_output=True, text=True,
                          env=environment(SLURM_PROCID="0", SLURM_NTASKS="1"))
    assert done.returncode == 1 and "saved with workers=2, now it is 3" in done.stderr


def test_readers_wait_for_what_is_being_staged(packed, tmp_path):
    directory, expected = packed
    mark = tmp_path / ".sluice-staging"
    mark.write_text("")
    names = sorted(path.name for path in directory.iterdir())

    def arrive():
        for name in sorted(names, key=lambda name: ("manifest" not in name, not name.endswith(".idx"), name)):
            (tmp_path / (name + ".part")).write_bytes((directory / name).read_bytes())
            (tmp_path / (name + ".part")).rename(tmp_path / name)
            time.sleep(0.01)
        mark.unlink()

    thread = threading.Thread(target=arrive)
    thread.start()
    assert {sample.path for sample in sluice_data.Dataset(tmp_path)} == set(expected)
    thread.join()
    with pytest.raises(sluice_data.StagingError, match="nothing is being staged"):
        sluice_data.wait_for(tmp_path, "none")
    mark.write_text("the disk is full")
    with pytest.raises(sluice_data.StagingError, match="the disk is full"):
        sluice_data.wait_for(tmp_path, "none")
    mark.write_text("")
    with pytest.raises(sluice_data.StagingError, match="0.1 s"):
        sluice_data.wait_for(tmp_path, "none", timeout=0.1)


def example_run(name, *words, **variables):
    return subprocess.run([PYTHON, EXAMPLES / name, *map(str, words)], capture_output=True, text=True, env=environment(**variables))


def test_example_converts_a_tree_and_pytorch_reads_it(torch, tmp_path):
    expected = make_tree(tmp_path / "source", classes=2, files=20)
    done = example_run("convert_dataset_1_data.py", tmp_path / "source", tmp_path / "packed", "--shard-size=5K")
    assert done.returncode == 0, done.stderr
    samples = size = 0
    for rank in range(2):
        for stop in (3, 0):
            done = example_run("read_in_pytorch.py", tmp_path / "packed", "--batch-size=2", f"--stop-after={stop}", f"--state={tmp_path}/state",
                               SLURM_PROCID=str(rank), SLURM_NTASKS="2")
            assert done.returncode == 0 and done.stdout.startswith(f"rank {rank} of 2: "), done.stderr
            samples += int(done.stdout.split()[4])
            size += int(done.stdout.split()[6])
    assert (samples, size) == (len(expected), sum(len(data) for data, _ in expected.values()))


def test_example_converts_imagenet_c(tmp_path):
    """corruption/severity/class/image, a dataset for each of the first two; the records for TensorFlow, decoded here."""
    for corruption in ("fog", "gaussian_noise"):
        for severity in ("1", "5"):
            make_tree(tmp_path / "source" / corruption / severity, classes=2, files=12)
    done = example_run("convert_dataset_2_data.py", tmp_path / "source", tmp_path / "packed", "--shard-size=2K")
    assert done.returncode == 0 and done.stdout.endswith(f"4 datasets with 2 classes in {tmp_path}/packed\n"), done
    one = tmp_path / "packed" / "fog" / "5"
    files = [example_run("read_in_tensorflow.py", "--list", one, SLURM_PROCID=str(rank), SLURM_NTASKS="3").stdout.split("\n")[:-1]
             for rank in range(3)]
    found = collections.Counter(os.fsdecode(record["sluice/path"]) for part in files for path in part for record in records(Path(path)))
    assert found == collections.Counter(make_tree(tmp_path / "source" / "fog" / "5", classes=2, files=12).keys())
    assert "too few for 99 ranks" in example_run("read_in_tensorflow.py", "--list", one, SLURM_PROCID="0", SLURM_NTASKS="99").stderr
    (tmp_path / "source" / "fog" / "1" / "n9").mkdir()
    done = example_run("convert_dataset_2_data.py", tmp_path / "source", tmp_path / "other")
    assert done.returncode == 1 and "has other classes than" in done.stderr and not (tmp_path / "other").exists()

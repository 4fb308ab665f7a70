"""MPI programs over two nodes: Open MPI by PMIx, MPICH by PMI, libpmi2, launchers inside an allocation, and what happens
when a rank, srun, slurmstepd or the PMIx server dies."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data" / "mpi"
# The nodes of a test cluster are one host: Open MPI must use its loopback, and not shared memory, whose names would be the
# same on both nodes.
OPEN_MPI = {"OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1"}
FLAVOURS = {"openmpi": "pmix", "mpich": "pmi2"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """mpi_check, for each library."""
    directory = tmp_path_factory.mktemp("mpi")
    os.chmod(directory, 0o755)
    built = {}
    for flavour in FLAVOURS:
        compiler = shutil.which(f"mpicc.{flavour}")
        if not compiler:
            pytest.skip(f"needs {flavour} of packaging/debian-packages-test")
        built[flavour] = directory / flavour
        subprocess.run([compiler, "-o", str(built[flavour]), str(DATA / "mpi_check.c")], check=True)
    return built


@pytest.fixture(params=FLAVOURS)
def check(request, shared, programs):
    """Runs mpi_check by srun on two nodes."""
    def run(*words, options=("-N2", "-n4", "--ntasks-per-node=2", "-w", "n1,n2"), check=True):
        return shared.run("srun", f"--mpi={FLAVOURS[request.param]}", *options, programs[request.param], *words,
                          env=OPEN_MPI, check=check)
    run.flavour = request.param
    return run


def nothing_is_left(shared):
    shared.wait_for(lambda: not [line for line in shared.run("ps", "-eo", "args").stdout.splitlines()
                                 if line.startswith("sluice-pmix: ")], what="the PMIx servers to end")


# ---- programs that succeed

def test_every_rank_knows_itself_and_its_node(check):
    lines = sorted(check("hello").stdout.splitlines())
    assert lines == [f"rank {rank} of 4, 2 on this node" for rank in range(4)]


@pytest.mark.parametrize("distribution, tasks", [("block", 3), ("cyclic", 4)])
def test_ranks_of_other_layouts(check, distribution, tasks):
    out = check("allreduce", "3", options=("-N2", f"-n{tasks}", "-m", distribution)).stdout
    assert out.splitlines() == [f"sum {tasks * (tasks + 1) // 2}"] * tasks


def test_a_ring_over_two_nodes(check):
    assert check("ring").stdout == "ring 6\n"


def test_a_second_mpich_program_in_a_task_is_told_why_it_fails(shared, programs):
    """MPICH closes its connection for good at the end of the first."""
    program = programs["mpich"]
    result = shared.run("srun", "--mpi=pmi2", "-N2", "-n2", "bash", "-c", f"{program} ring; {program} ring", check=False)
    assert result.stdout == "ring 1\n" and result.returncode == 141
    assert "another one needs an srun of its own" in result.stderr


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_input_that_no_rank_reads_does_not_keep_them_from_each_other(shared, programs, flavour):
    data = "x" * (12 << 20)
    result = shared.run("srun", f"--mpi={FLAVOURS[flavour]}", "-N2", "-n2", "sh", "-c", f"sleep 1; exec {programs[flavour]} ring",
                        input=data, env=OPEN_MPI)
    assert "ring 1" in result.stdout


def test_a_program_without_mpi_needs_nothing(shared):
    for kind in ("none", "pmi2", "pmix"):
        assert shared.run("srun", f"--mpi={kind}", "-N2", "-n2", "echo", "yes").stdout == "yes\n" * 2
    nothing_is_left(shared)


def test_variables(shared):
    def variables(*options, env=None):
        out = shared.run("srun", *options, "-N2", "-n2", "-w", "n1,n2", "env", env=env).stdout
        return [line for line in out.splitlines() if line.startswith(("PMI", "SLURM_MPI", "SLURM_PMIX"))]

    assert variables("--mpi=none") == []
    two = variables("--mpi=pmi2")
    assert {"PMI_RANK=0", "PMI_RANK=1", "PMI_SIZE=2", "SLURM_MPI_TYPE=pmi2"} <= set(two)
    pmix = variables(env={"SLURM_MPI_TYPE": "pmix"})
    assert {"PMIX_RANK=0", "PMIX_RANK=1", "SLURM_MPI_TYPE=pmix", "SLURM_PMIX_MAPPING_SERV=(vector,(0,2,1))",
            "PMIX_HOSTNAME=n1", "PMIX_HOSTNAME=n2"} <= set(pmix)


def test_mpi_default_is_for_sruns_that_name_none(make_cluster, programs):
    cluster = make_cluster(extra="MpiDefault=pmi2")
    assert cluster.run("srun", "-N2", "-n2", programs["mpich"], "ring").stdout == "ring 1\n"
    assert "PMI_FD" not in cluster.run("srun", "--mpi=none", "env").stdout
    assert "MpiDefault              = pmi2" in cluster.run("scontrol", "show", "config").stdout


# ---- aborts and faults

def test_an_abort_ends_the_step_with_its_code(check):
    result = check("abort", "7", check=False)
    assert result.returncode == 7
    assert "srun: error: task 1 has aborted the step with code 7" in result.stderr
    assert "Job step aborted" in result.stderr


def test_a_rank_that_dies_in_an_allreduce_ends_the_step(shared, check):
    result = check("die", check=False)
    assert result.returncode in (128 + signal.SIGKILL, 128 + signal.SIGTERM)  # of that rank, or of those that are ended
    assert "srun: error: task 1 has ended without MPI_Finalize" in result.stderr
    nothing_is_left(shared)


def test_a_rank_that_exits_without_finalize_ends_the_step(check):
    assert "task 1 has ended without MPI_Finalize" in check("leave", "0", check=False).stderr


def test_spawn_is_refused(check):
    result = check("spawn", options=("-N1", "-n1"), check=False)
    assert result.returncode == 3 and result.stdout == "spawn refused\n"


def start(shared, flavour, programs, *words, env=None):
    """A step on two nodes that has no end."""
    srun = shared.popen("srun", f"--mpi={FLAVOURS[flavour]}", "-N2", "-n4", "-w", "n1,n2", programs[flavour], *words,
                        env={**OPEN_MPI, **(env or {})})
    shared.wait_for(lambda: len(ranks(programs[flavour])) == 4, what="all ranks to run")
    return srun


def ranks(program):
    out = subprocess.run(["pgrep", "-f", f"^{program} "], capture_output=True, text=True).stdout
    return out.split()


def own(cluster, pattern):
    """Processes of this cluster whose title begins with the pattern; others may run beside it."""
    found, ours = [], cluster.processes()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            title = (entry / "cmdline").read_bytes().decode(errors="replace")
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if re.match(pattern, title) and (int(entry.name) in ours or parent in ours):
            found.append(int(entry.name))
    return found


COMPUTES, FENCES = ("allreduce", "2000000000"), ("late",)


@pytest.mark.parametrize("words", [COMPUTES, FENCES])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_srun_that_is_killed_leaves_nothing(shared, programs, flavour, words):
    srun = start(shared, flavour, programs, *words)
    srun.kill()
    srun.wait()
    shared.wait_for(lambda: not ranks(programs[flavour]), what="the ranks to end")
    nothing_is_left(shared)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_slurmstepd_that_is_killed_ends_the_step(shared, programs, flavour):
    srun = start(shared, flavour, programs, *COMPUTES)
    os.kill(own(shared, r"slurmstepd: \[\d+\.0\]")[0], signal.SIGKILL)
    out, err = srun.communicate(timeout=30)
    assert srun.returncode != 0 and "connection to the step lost" in err
    shared.wait_for(lambda: not ranks(programs[flavour]), what="the ranks to end")


def test_a_pmix_server_that_is_killed_ends_the_step(shared, programs, tmp_path):
    srun = start(shared, "openmpi", programs, *COMPUTES, env={"TMPDIR": str(tmp_path)})
    assert len(list(tmp_path.glob("pmix.*"))) == 2
    os.kill(own(shared, "sluice-pmix: ")[0], signal.SIGKILL)
    out, err = srun.communicate(timeout=30)
    assert srun.returncode != 0 and "sluice-pmix of node" in err
    shared.wait_for(lambda: not ranks(programs["openmpi"]), what="the ranks to end")


RUBBISH = """import os, socket, sys
pmi = socket.socket(fileno=int(os.environ['PMI_FD']))
data = {data}
try:
    {send}
except OSError:
    pass
print('over')
"""


@pytest.mark.parametrize("data, send", [
    ("b'rubbish' * 1000 + b'\\n'", "pmi.sendall(data)"),
    ("b'x' * 65536", "[pmi.sendall(data) for _ in range(4096)]"),  # a line without an end
    ("b'cmd=get_appnum\\n' * 4096", "pmi.settimeout(1); [pmi.sendall(data) for _ in range(4096)]"),  # reads nothing
    ("b'cmd=barrier_in\\n' * 4096", "pmi.sendall(data)"),
    ("b'cmd=init pmi_version=2 pmi_subversion=0\\n' + b'\\xff' * 100000", "pmi.sendall(data)"),
])
def test_a_task_that_writes_rubbish_harms_only_itself(shared, data, send):
    result = shared.run("srun", "--mpi=pmi2", "-n1", "-K0", "/usr/bin/python3", "-c", RUBBISH.format(data=data, send=send),
                        check=False)
    assert "over" in result.stdout


def test_a_put_that_is_too_large_is_refused(shared):
    code = """import os
pmi = os.fdopen(int(os.environ['PMI_FD']), 'r+b', buffering=0)
pmi.write(b'cmd=init pmi_version=1 pmi_subversion=1\\n'); pmi.readline()
for i in range(10000):
    pmi.write(b'cmd=put kvsname=x key=%d value=%s\\n' % (i, b'v' * 60000))
    answer = pmi.readline()
    if b'rc=0' not in answer: break
print(answer.decode().strip())
pmi.write(b'cmd=finalize\\n'); pmi.readline()
"""
    out = shared.run("srun", "--mpi=pmi2", "-n1", "/usr/bin/python3", "-c", code).stdout
    assert out == "cmd=put_result rc=-1 msg=the_pairs_of_the_step_are_too_large\n"


# ---- libpmi2, another implementation of the client's side

PMI2 = """import ctypes, sys
lib = ctypes.CDLL('libpmi2.so.0')
numbers = [ctypes.c_int() for _ in range(4)]
assert lib.PMI2_Init(*map(ctypes.byref, numbers)) == 0
spawned, size, rank, appnum = (number.value for number in numbers)
name = ctypes.create_string_buffer(256)
assert lib.PMI2_Job_GetId(name, 256) == 0
for round in range(3):
    key, value = b'k%d.%d' % (round, rank), b'a=b%d' % rank
    assert lib.PMI2_KVS_Put(key, value) == 0
    assert lib.PMI2_KVS_Fence() == 0
    got, length = ctypes.create_string_buffer(1024), ctypes.c_int()
    peer = (rank + 1) % size
    assert lib.PMI2_KVS_Get(name, -1, b'k%d.%d' % (round, peer), got, 1024, ctypes.byref(length)) == 0
    assert got.value == b'a=b%d' % peer, got.value
found, flag = ctypes.create_string_buffer(1024), ctypes.c_int()
assert lib.PMI2_Info_GetJobAttr(b'PMI_process_mapping', found, 1024, ctypes.byref(flag)) == 0
if sys.argv[1:] == ['abort'] and rank == 1:
    lib.PMI2_Abort(1, b'no more')
if sys.argv[1:] == ['abort']:
    lib.PMI2_KVS_Fence()
lib.PMI2_Finalize()
print(rank, size, name.value.decode(), found.value.decode())
"""


def test_libpmi2(shared):
    if not Path("/usr/lib/x86_64-linux-gnu/libpmi2.so.0").exists():
        pytest.skip("needs libpmi2-0 of packaging/debian-packages-test")
    result = shared.run("srun", "--mpi=pmi2", "-N2", "-n3", "/usr/bin/python3", "-c", PMI2)
    lines = sorted(line.split() for line in result.stdout.splitlines())
    assert [line[:2] for line in lines] == [["0", "3"], ["1", "3"], ["2", "3"]]
    assert {line[3] for line in lines} == {"(vector,(0,1,2),(1,1,1))"}
    aborted = shared.run("srun", "--mpi=pmi2", "-N2", "-n3", "/usr/bin/python3", "-c", PMI2, "abort", check=False)
    assert aborted.returncode == 1 and "task 1 has aborted the step" in aborted.stderr


# ---- launchers inside an allocation

@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpirun.openmpi -np $SLURM_NTASKS"])
def test_mpirun_of_open_mpi(shared, programs, launcher):
    record, out = shared.run_job(f"{launcher} {programs['openmpi']} allreduce 2", "-N2", "--ntasks-per-node=2",
                                 env=OPEN_MPI)
    assert record["JobState"] == "COMPLETED", out
    assert out.count("sum 10\n") == 4


@pytest.mark.parametrize("launcher", ["mpiexec.hydra", "mpiexec.hydra -n $SLURM_NTASKS"])
def test_mpiexec_of_mpich(shared, programs, launcher):
    record, out = shared.run_job(f"{launcher} {programs['mpich']} allreduce 2", "-N2", "--ntasks-per-node=2")
    assert record["JobState"] == "COMPLETED", out
    assert out.count("sum 10\n") == 4

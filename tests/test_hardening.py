"""What cmake/hardening.cmake promises, read from the headers of every installed program.

SLUICE_PREFIX names the installation under test.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PREFIX = Path(os.environ.get("SLUICE_PREFIX", ROOT / "build/prefix"))
DAEMONS = {"slurmctld", "slurmd", "slurmdbd", "slurmstepd"}
STATIC = {"bin/sbatch"}  # started by users only, with their own rights
WITH_CHECKSUMS = {"sluice", "ssim"}  # of states and backups


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def installed():
    """What the last installation has written: PREFIX may also hold programs of an older version."""
    manifest = PREFIX.parent / "install_manifest.txt"
    files = [Path(line) for line in manifest.read_text().splitlines()] if manifest.exists() else PREFIX.rglob("*")
    return sorted(path for path in files if path.is_file() and os.access(path, os.X_OK) and is_elf(path))


PROGRAMS = installed()


def readelf(path, *options):
    return subprocess.run(["readelf", "--wide", *options, path], check=True, capture_output=True, text=True).stdout


def cached(name):
    """A setting of the build that PREFIX was installed from, or nothing where PREFIX is elsewhere."""
    cache = PREFIX.parent / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text(), re.M) if cache.exists() else None
    return found.group(1) if found else ""


def called(path):
    """The functions of the C library: imports, or what a static program contains."""
    if is_static(path):
        return {match.group(1) for match in re.finditer(r"\sFUNC\s.*\s(\w+)$", readelf(path, "--syms"), re.M)}
    return {match.group(1) for match in re.finditer(r"\sUND\s+(\w+)", readelf(path, "--dyn-syms"))}


def is_static(path):
    return str(path.relative_to(PREFIX)) in STATIC and not sanitized()


def sanitized():
    return cached("SLUICE_SANITIZE") not in ("", "OFF")


@pytest.fixture(params=PROGRAMS, ids=lambda path: str(path.relative_to(PREFIX)))
def program(request):
    return request.param


@pytest.fixture
def dynamic_program(program):
    if is_static(program):
        pytest.skip("static")
    return program


def test_there_are_programs_to_check():
    assert DAEMONS <= {path.name for path in PROGRAMS}, f"nothing is installed in {PREFIX}"


def test_the_addresses_are_random_and_plugins_can_be_loaded(dynamic_program):
    assert re.search(r"Type:\s+DYN", readelf(dynamic_program, "--file-header"))
    assert "INTERP" in readelf(dynamic_program, "--program-headers")
    assert re.search(r"\(FLAGS_1\).*\bPIE\b", readelf(dynamic_program, "--dynamic"))


@pytest.mark.skipif(sanitized(), reason="sanitizers need the dynamic loader")
@pytest.mark.parametrize("name", sorted(STATIC))
def test_a_static_program_needs_no_loader_and_has_a_dynamic_twin(name):
    assert "INTERP" not in readelf(PREFIX / name, "--program-headers")
    twin = PREFIX / "libexec/sluice" / Path(name).name
    assert twin in PROGRAMS and "INTERP" in readelf(twin, "--program-headers")


def test_relocations_are_read_only_before_main(dynamic_program):
    program = dynamic_program
    assert "GNU_RELRO" in readelf(program, "--program-headers")
    assert re.search(r"\(FLAGS(_1)?\).*\b(BIND_)?NOW\b", readelf(program, "--dynamic"))


def test_a_tool_does_not_load_libcrypto(dynamic_program):
    """Its set-up takes longer than all that most tools do."""
    if dynamic_program.parent.name == "bin" and dynamic_program.name not in WITH_CHECKSUMS:
        assert "libcrypto" not in readelf(dynamic_program, "--dynamic")


def test_no_memory_is_writable_and_executable(program):
    segments = readelf(program, "--program-headers")
    stack = re.search(r"GNU_STACK(?:\s+0x\w+){5}\s+([RWE ]+?)\s+0x", segments)
    assert stack and "E" not in stack.group(1)
    assert not re.search(r"LOAD(?:\s+0x\w+){5}\s+RWE", segments)


def test_no_library_is_looked_for_in_a_directory_of_the_build(program):
    assert not re.search(r"\((RPATH|RUNPATH)\)", readelf(program, "--dynamic"))


def test_overwritten_stacks_are_noticed(program):
    if sanitized():
        pytest.skip("a sanitizer looks after that")
    assert "__stack_chk_fail" in called(program)


@pytest.mark.skipif(cached("CMAKE_BUILD_TYPE") == "Debug", reason="fortified functions need optimization")
def test_library_functions_know_the_sizes_of_buffers(program):
    if program.name in DAEMONS:
        assert any(re.fullmatch(r"__\w+_chk", name) for name in called(program) - {"__stack_chk_fail"})


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="of this processor")
def test_jumps_are_checked_where_the_processor_can(dynamic_program):
    """CET: functions that may be called through a pointer begin with endbr64. The C library's entry code passes main
    to __libc_start_main in rdi; the C library itself need not have been compiled so."""
    header = readelf(dynamic_program, "--file-header")
    entry = int(re.search(r"Entry point address:\s+0x(\w+)", header)[1], 16)
    address, offset = (int(word, 16) for word in
                       re.search(r"\.text\s+PROGBITS\s+(\w+)\s+(\w+)", readelf(dynamic_program, "--sections")).groups())
    code = dynamic_program.read_bytes()[offset:]
    lea = code.index(b"\x48\x8d\x3d", entry - address)  # lea main(%rip), %rdi
    assert lea < entry - address + 64, "there is no main"
    main = lea + 7 + int.from_bytes(code[lea + 3:lea + 7], "little", signed=True)
    assert code[main:main + 4] == b"\xf3\x0f\x1e\xfa"

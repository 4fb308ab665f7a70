"""The manual pages are complete and render without warnings; docs/reference.md is what the tables of the code say."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PREFIX = Path(os.environ.get("SLUICE_PREFIX", ROOT / "build/prefix"))
PAGES = sorted((PREFIX / "share/man").glob("man?/*"))
PROGRAMS = {"sbatch": "bin", "srun": "bin", "salloc": "bin", "scancel": "bin", "squeue": "bin", "sinfo": "bin",
            "sprio": "bin", "sshare": "bin", "sdiag": "bin", "strigger": "bin", "sstat": "bin", "seff": "bin", "sdata": "bin", "scontrol": "bin", "sacctmgr": "bin",
            "swhy": "bin", "sattach": "bin", "sbcast": "bin", "sgather": "bin", "swait": "bin", "sbash": "bin", "ssim": "bin", "sluice": "bin",
            "slurmctld": "sbin", "slurmd": "sbin", "slurmdbd": "sbin", "sacct": "bin", "sreport": "bin", "gpu_usage": "bin",
            "sgpu": "bin"}


def page_of(name):
    return next(page for page in PAGES if page.stem == name).read_text().replace("\\-", "-")


def test_every_frame_became_a_page():
    names = {page.name for page in PAGES}
    for source in (ROOT / "docs/man").iterdir():
        assert source.name.removesuffix(".in") in names
    assert not any(re.search(r"^@.*@$", page.read_text(), re.M) for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_renders_without_warnings(page):
    made = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-rHY=0", page], capture_output=True, text=True)
    assert made.stderr == "" and made.returncode == 0
    assert len(made.stdout) > 200


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_page_has_every_option_of_help(program):
    made = subprocess.run([PREFIX / PROGRAMS[program] / program, "--help"], capture_output=True, text=True)
    options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", made.stdout))
    assert options and made.returncode == 0
    page = page_of(program)
    missing = [option for option in sorted(options) if not re.search(rf"(?<![\w-]){option}(?![\w-])", page)]
    assert not missing


def test_every_page_of_a_program_is_of_a_program():
    for page in PAGES:
        if page.parent.name in ("man1", "man8"):
            assert page.stem in {*PROGRAMS, "pam_slurm_adopt"}  # a module


def test_the_reference_is_what_the_tables_say():
    reference = ROOT / "docs/reference.md"
    made = subprocess.run([ROOT / "build/tools/sluice-manual", "--markdown", reference],
                          capture_output=True, text=True, check=True)
    assert made.stdout == reference.read_text(), "run: make docs"

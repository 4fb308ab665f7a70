"""The manual pages list every option that sbatch, srun and salloc take."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r'^    \{"([\w-]+)", +(?:\'.\'|0), +(?:"[^"]*"|nullptr), +(\w+), .*?, +(\S+), +'
                 r'(?:Run|Constraint|Consumable|Affinity|Gpu|Help|Other), +".*"\},$', re.M)
TOOLS = {"sbatch": r"kSbatch|kAllTools|kBatch", "srun": r"kSrun|kAllTools|Run", "salloc": r"kSalloc|kAllTools|Alloc"}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_option_is_in_a_page(tool):
    def page(name):
        return (ROOT / f"docs/man/{name}.1").read_text().replace("\\-", "-")
    rows = ROW.findall((ROOT / "src/surface/job_options.cc").read_text())
    assert len(rows) > 100
    text = page(tool) + page("sbatch")  # whose options describe all jobs, as the other two pages say
    missing = [name for name, tools, setter in rows
               if re.search(TOOLS[tool], tools) and setter != "nullptr" and f"--{name}" not in text]
    assert not missing

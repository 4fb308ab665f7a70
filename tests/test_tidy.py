"""tools/tidy.py checks the files of a change with the most changed lines."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import tidy  # noqa: E402


def test_the_files_with_the_most_changed_lines_are_checked_and_the_others_named():
    units = {Path("a.cc"): 1, Path("b.cc"): 7, Path("c.cc"): 3, Path("d.cc"): 7}
    assert tidy.most_changed(units, 3) == ([Path("b.cc"), Path("d.cc"), Path("c.cc")], [Path("a.cc")])
    assert tidy.most_changed(units, 4)[1] == []


def test_a_header_counts_for_the_file_beside_it_or_for_one_that_includes_it():
    src = tidy.ROOT / "src"
    sources = [src / "base" / "log.cc", src / "core" / "apply.cc"]
    changed = {"src/base/log.cc": [[1, 2], [5, 5]], "src/base/log.h": [[7, 7]], "src/core/job/verbs.h": [[1, 3]]}
    assert tidy.units_for(changed, sources) == {sources[0]: 4, sources[1]: 3}

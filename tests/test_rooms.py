"""The rules that the compiler cannot see: who may include whom, that the core is pure, where TRY may stand, how long a
function may be.

The table of ARCHITECTURE.md is the rule; this test reads it, so that the document stays true.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".h", ".cc"))

IMPURE = {
    "a clock": r"\bnow\s*\(\s*\)|\b(time|clock_gettime|gettimeofday)\s*\(\s*(NULL|nullptr|0|CLOCK)",
    "dice": r"\b(s?rand|random|getrandom)\s*\(|<random>",
    "the environment": r"\bgetenv\b",
    "threads": r"<(thread|mutex|shared_mutex|condition_variable|future)>",
    "input or output": r"<(fstream|iostream|cstdio|unistd\.h|fcntl\.h|sys/[a-z]+\.h)>",
}


def allowed_rooms():
    rows = re.findall(r"^\| (\w+) *\|[^|]*\|([^|]*)\|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    return {room: set(names.split()) for room, names in rows if room != "room"}


def code_of(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r"//.*", "", text)


def room_of(path):
    return path.relative_to(ROOT / "src").parts[0]


def test_every_room_is_in_the_table():
    assert {room_of(path) for path in SOURCES} <= set(allowed_rooms())


def test_the_table_has_no_cycle():
    allowed, done = allowed_rooms(), set()
    while len(done) < len(allowed):
        ready = {room for room in allowed if room not in done and allowed[room] <= done}
        assert ready, f"rooms that include each other: {set(allowed) - done}"
        done |= ready


@pytest.mark.parametrize("room", sorted(allowed_rooms()))
def test_room_includes_only_what_it_may(room):
    allowed = allowed_rooms()
    wrong = []
    for path in (path for path in SOURCES if room_of(path) == room):
        for name in re.findall(r'#include "(\w+)/', code_of(path)):
            if path.name.endswith("_test.cc") and name == "testkit":
                continue
            if name != room and name in allowed and name not in allowed[room]:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}/")
    assert not wrong


# Includes inside core/ against the order of its folders. The list may only become shorter.
CORE_BACK = {
    "job/cancel.cc": {"query/match.h"},
    "limits/first_cores.cc": {"schedule/planner.h"},
    "limits/licenses.cc": {"schedule/planner.h"},
    "limits/limit_plan.cc": {"schedule/planner.h"},
    "limits/qos.cc": {"job/verbs.h", "schedule/priority.h", "schedule/queue.h"},
    "limits/reservation_nodes.cc": {"schedule/planner.h"},
    "limits/reservations.cc": {"job/verbs.h", "schedule/scheduler.h", "schedule/waiting.h"},
    "place/need.cc": {"limits/allowance.h"},
    "schedule/explain.cc": {"job/verbs.h", "query/reason.h"},
    "schedule/explain.h": {"query/viewer.h"},
    "schedule/explain_rules.cc": {"job/verbs.h"},
    "schedule/gang.cc": {"job/suspend.h"},
    "schedule/pass.cc": {"job/dependency.h", "job/verbs.h"},
    "schedule/planner.cc": {"job/preempt.h", "job/verbs.h"},
    "schedule/preempt.cc": {"job/preempt.h"},
}


def core_levels():
    """The level of each folder of core/, from the order in ARCHITECTURE.md."""
    order = re.search(r"^files directly in `core/`: ([a-z, <]+)\.", (ROOT / "ARCHITECTURE.md").read_text(), re.M).group(1)
    return {folder: level for level, folders in enumerate(order.split(" < ")) for folder in folders.split(", ")}


def test_folders_of_core_include_only_what_is_before_them():
    levels, core, back = core_levels(), ROOT / "src/core", {}
    assert set(levels) == {path.name for path in core.iterdir() if path.is_dir()}
    for path in SOURCES:
        if path.parent.parent != core or path.name.endswith(("_test.cc", "_bench.cc")):
            continue
        for folder, name in re.findall(r'#include "core/(\w+)/(\w+\.h)"', code_of(path)):
            if levels[folder] > levels[path.parent.name]:
                back.setdefault(f"{path.parent.name}/{path.name}", set()).add(f"{folder}/{name}")
    assert back == CORE_BACK


@pytest.mark.parametrize("what", sorted(IMPURE))
def test_core_is_pure(what):
    pattern = re.compile(IMPURE[what])
    wrong = [f"{path.relative_to(ROOT)}: {match.group()}" for path in SOURCES
             if room_of(path) in ("core", "model", "node", "turn") and not path.name.endswith(("_test.cc", "_bench.cc"))
             for match in pattern.finditer(code_of(path))]
    assert not wrong, f"{what} in a room that must not have it"


# The linker takes two types of one name for one type, and says nothing.
def test_rooms_that_meet_in_a_program_have_no_type_of_one_name():
    reach = allowed_rooms()
    for _ in reach:
        reach = {room: below.union(*(reach[other] for other in below)) for room, below in reach.items()}
    places = {}
    for path in SOURCES:
        if path.suffix == ".h":
            for name in re.findall(r"^(?<!>\n)(?:struct|class) (\w+)[^;{]*\{", code_of(path), re.M):
                places.setdefault(name, set()).add(room_of(path))
    wrong = [f"{name}: {' and '.join(sorted(rooms))}" for name, rooms in places.items()
             if len(rooms) > 1 and any(len(rooms & (below | {room})) > 1 for room, below in reach.items())]
    assert not wrong


# TRY returns from the middle of an expression, and an initializer that is left half way never destroys the
# members it has already made: g++ and clang++ both leak them. The arguments of a call are destroyed.
NOT_CODE = re.compile(r"""R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'|//[^\n]*|/\*.*?\*/""", re.S)
OPENS_INITIALIZER = re.compile(r"([\w>({]|[=,({]\s+|\breturn )\Z")  # a block's brace stands after a space


def left_half_way(text):
    code = NOT_CODE.sub('""', text)
    around = []  # the brackets that are open: of a block, of an initializer, and whether after a comma
    for token in re.finditer(r"[][(){},]|\bTRY\(", code):
        what = token.group()
        if what == "TRY(":
            for block, initializer, after_comma in reversed(around):
                if block:
                    break
                if initializer and after_comma:
                    yield code[token.start():].split("\n")[0]
                    break
        if what == ",":
            if around:
                around[-1][2] = True
        elif what[-1] in "[({":
            initializer = what == "{" and bool(OPENS_INITIALIZER.search(code[max(0, token.start() - 80):token.start()]))
            around.append([what == "{" and not initializer, initializer, False])
        elif around:
            around.pop()


def test_try_stands_in_no_initializer_that_it_would_leave_half_way():
    wrong = [f"{path.relative_to(ROOT)}: {place}" for path in SOURCES for place in left_half_way(path.read_text())]
    assert not wrong, "make the value first and then its members one by one, or take the TRY before it"


# A function is a screen, at most 70 lines. Comments and empty lines count: they are read, too.
LINES_MAX = 70
NO_FUNCTION = re.compile(r"\s*(?:else\s+)?(?:if|for|while|switch|catch|do|else|namespace|class|struct|enum|union|extern)\b")


def lines_of_functions(text):
    """Of each block that follows a parameter list: its first line and how many there are."""
    code = NOT_CODE.sub(lambda match: '""' + "\n" * match.group().count("\n"), text)
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", lambda match: "\n" * match.group().count("\n"), code, flags=re.M)
    opened, start = [], 0
    for token in re.finditer(r"[{};]", code):
        if token.group() == "{":
            head = code[start:token.start()]
            words = head.lstrip()  # nothing, or a comma: a constructor's body after members in braces
            is_function = ("(" in head or words[:1] in ("", ",")) and not NO_FUNCTION.match(head)
            opened.append((start + len(head) - len(words), is_function))
        elif token.group() == "}" and opened:
            first, is_function = opened.pop()
            if is_function:
                yield code.count("\n", 0, first) + 1, code.count("\n", first, token.start()) + 1
        start = token.end()


def test_the_length_of_a_function_is_measured():
    body = "    int x = f(1);  // {\n" * 69
    assert list(lines_of_functions("namespace a {\n" + "int f(int y) {\n" + body + "}\n}\n")) == [(2, 71)]
    assert list(lines_of_functions("A::A(int y)\n    : a_(y),\n      b_{y} {\n}\nstruct B {\n};\n"))[-1] == (3, 2)


def test_no_function_is_longer_than_a_screen():
    wrong = [f"{path.relative_to(ROOT)}:{first}: {count} lines" for path in SOURCES
             for first, count in lines_of_functions(path.read_text()) if count > LINES_MAX]
    assert not wrong, f"split what is longer than {LINES_MAX} lines"


def test_the_document_shows_the_table_of_permissions():
    """docs/security.md has every row of src/core/permission.cc, with the same marks."""
    source = (ROOT / "src/core/permission.cc").read_text()
    rows = dict(re.findall(r'\{Action::\w+,\s*"([^"]+)",\s*"([-y ]+)"', source))
    document = (ROOT / "docs/security.md").read_text()
    shown = {}
    for name, marks in re.findall(r"^\| ([a-z][^|]*?)\s*\| ([-y](?: \| [-y]){5}) \|$", document, re.M):
        shown[name.split(" (`")[0]] = marks.replace("|", " ").split()
    assert shown == {name: marks.split() for name, marks in rows.items()}

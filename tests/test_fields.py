"""Nothing is parsed, sent and stored without an effect: each member of the structs below must be read by code that
acts on it. Parsers, printers, codecs and the copies between them do not count.

Members are found by their name alone, so a common name (`name`, `state`) can hide a missing reader."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [path for path in sorted((ROOT / "src").rglob("*")) if path.suffix in (".h", ".cc")
           and not path.name.endswith(("_test.cc", "_bench.cc")) and path.parts[-2] != "testkit"
           and path.name not in ("arbitrary.h", "testing.h", "test_files.h", "fake_cluster.h")]

# What only carries job requests: command line, messages, rows, listings, packed forms.
JOB_CARRIERS = (r"^surface/job_options(|_apply|_setters|_layout|_step)\.(h|cc)$|^surface/job_(table|cells|record_cells|json_cells)\.(h|cc)$"
                r"|^protocol/|^store/|^core/query/|^model/(job(_hash|_details|_fields|_keys|_change|_change_fields)?\.(h|cc)|validate\.cc)$|^core/job/update_\w+\.cc$")
NODE_CARRIERS = (r"^config/(nodes|partitions|reconfigure)\.cc$|^core/query/|^core/node/update\.cc$"
                 r"|^protocol/|^store/|^model/((node|partition)(_fields|_keys)?\.(h|cc)|validate\.cc)$|^surface/")

# What carries other requests: commands, messages.
REQUEST_CARRIERS = r"^cli/|^controller/|^protocol/|^surface/|^model/|^core/event\.h$"

STRUCTS = {  # name: (file, the files that do not count)
    "Config": ("config/config.h", r"^config/(keys|print)\.cc$|^config/(setters|config)\.h$"),
    "Settings": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "PrioritySettings": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "BackfillSettings": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "PreemptSettings": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "SchedulerOptions": ("config/scheduler_options.h", r"^config/scheduler_options\.(h|cc)$"),
    "CgroupConfig": ("config/config.h", r"^config/cgroup_conf\.cc$|^config/(config\.h|print\.cc)$"),
    "TaskPluginConfig": ("config/config.h", r"^config/task_plugin\.cc$|^config/config\.h$"),
    "PrologFlags": ("config/config.h", r"^config/prolog_flags\.cc$|^config/config\.h$"),
    "JobContainerLine": ("config/config.h", r"^config/(job_container\.cc|config\.h)$"),
    "OciConfig": ("config/config.h", r"^config/(oci_conf\.cc|config\.h)$"),
    "RateLimits": ("config/config.h", r"^config/"),
    "DbdConfig": ("config/slurmdbd_conf.h", r"^config/slurmdbd_conf\.(h|cc)$"),
    "PrivateData": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "HealthCheckNodes": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "DeviceRules": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "PrologRules": ("core/settings.h", r"^config/settings\.cc$|^core/settings\.h$"),
    "PowerSettings": ("core/settings.h", r"^config/(settings|power)\.cc$|^core/settings\.h$"),
    "CancelJobs": ("core/event.h", REQUEST_CARRIERS),
    "StepDemand": ("core/event.h", REQUEST_CARRIERS),
    "ReservationChange": ("model/reservation.h", REQUEST_CARRIERS),
    "NodeChange": ("model/node.h", REQUEST_CARRIERS),
    "TriggerRequest": ("model/trigger.h", REQUEST_CARRIERS),
    "Reservation": ("model/reservation.h", r"^protocol/|^store/|^model/|^core/query/|^surface/"),
    "Association": ("model/policy.h", r"^protocol/|^store/|^model/|^core/query/|^surface/|^sql/"),
    "GresDevices": ("model/node.h", r"^config/gres_conf\.cc$|^protocol/|^model/"),
    "SyncRule": ("model/checkpoint_sync.h", r"^protocol/|^model/checkpoint_sync\.(h|cc)$|^surface/"),
    "JobOptions": ("surface/job_options.h", r"^surface/job_options(|_apply|_setters|_layout|_step)\.(h|cc)$"),
    "JobTerms": ("model/job.h", JOB_CARRIERS),
    "JobDetails": ("model/job_details.h", JOB_CARRIERS),
    "Shape": ("model/job.h", JOB_CARRIERS),
    "NodeConfig": ("model/node.h", NODE_CARRIERS),
    "PartitionConfig": ("model/partition.h", NODE_CARRIERS),
    "Qos": ("model/qos.h", r"^core/query/|^protocol/|^store/|^surface/"
            r"|^model/(qos(_fields|_keys)?\.(h|cc)|validate\.cc)$"),
}

# Each with the reason why nothing has to act on it.
WITHOUT_READER = {
    "Config.job_defaults": "DefCpuPerGPU and DefMemPerGPU as written, shown; other members have the numbers",
    "JobContainerLine.entire_step": "all of a step sees its own directories in any case",
    "Association.created": "shown by sacctmgr",
    "Association.modified": "shown by sacctmgr",
    "StepDemand.container_id": "kept for --container-id, which is refused by name",
    "JobDetails.container_id": "kept for --container-id, which is refused by name",
    "JobDetails.submit_sid": "shown as AllocNode:Sid",
    "PartitionConfig.nodes_text": "Nodes= as written, shown; `nodes` has the names",
}


def code_of(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r"//.*", "", text)


def members_of(struct, file):
    code = re.sub(r'"[^"\n]*"', '""', code_of(ROOT / "src" / file))
    body = re.search(rf"\bstruct {struct}\b[^;{{]*\{{(.*?)^\}};", code, re.S | re.M).group(1)
    body = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", body))  # initializers, functions, nested types
    names = []
    for statement in body.split(";"):
        if "(" in statement or re.search(r"\b(using|enum|struct|friend|operator)\b", statement):
            continue
        declared = re.sub(r"<[^;]*>", "", statement)
        words = re.sub(r"=[^,]*", "", declared).split(",")
        names += [re.findall(r"\w+", word)[-1] for word in words if re.findall(r"\w+", word)]
    return names


def readers():
    """name -> files that read a member of that name; an assignment is no reading."""
    found = {}
    for path in SOURCES:
        where = str(path.relative_to(ROOT / "src"))
        for name in set(re.findall(r"(?:\.|->|::)(\w+)\b(?!\s*=[^=])(?!\.(?:reset|emplace|clear)\b)", code_of(path))):
            found.setdefault(name, []).append(where)
    return found


READERS = readers()


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_member_is_read_by_code_that_acts_on_it(struct):
    file, carriers = STRUCTS[struct]
    members = members_of(struct, file)
    assert len(members) > 3, "the struct was not understood"
    unread = {f"{struct}.{name}" for name in members
              if not any(not re.search(carriers, where) for where in READERS.get(name, []))}
    excused = {name for name in WITHOUT_READER if name.startswith(struct + ".")}
    assert unread == excused, "implement it, refuse it by name, or give the reason in WITHOUT_READER"

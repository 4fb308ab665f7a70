// Patterns of oci.conf and the config.json of containers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepd/oci_config.h"
#include "stepd/oci_pattern.h"

namespace sluice {
namespace {

using Document = nlohmann::json;

TEST(OciPattern, EachLetterHasItsMeaning) {
    const OciFacts facts{.bundle = "/b",
                         .env_file = "/b/env",
                         .root = "/r",
                         .node = "n1",
                         .user = "ann",
                         .uid = 1000,
                         .job = 7,
                         .step = 3,
                         .task = 2,
                         .pid = 99,
                         .argv = {"echo", "it's", "a b"}};
    EXPECT_EQ(expand_oci_pattern("run -b %b %n.%u.%j.%s.%t", facts), "run -b /b n1.ann.7.3.2");
    EXPECT_EQ(expand_oci_pattern("%e %r %U %p %m 100%%", facts), "/b/env /r 1000 99 /b 100%");
    EXPECT_EQ(expand_oci_pattern("%@", facts), "'echo' 'it'\\''s' 'a b'");
    EXPECT_EQ(expand_oci_pattern("%", facts), "%");
}

TEST(OciPattern, VariablesThatMatchAreLeftOut) {
    const std::vector<std::string> entries = {"SLURM_CONF=/x", "SLURM_JOB_ID=1", "A=SLURM_CONF="};
    EXPECT_EQ(without_matching(entries, "^(SLURM_CONF|B)="),
              (std::vector<std::string>{"SLURM_JOB_ID=1", "A=SLURM_CONF="}));
    EXPECT_EQ(without_matching(entries, ""), entries);
}

constexpr const char* kBundle = R"({
    "ociVersion": "1.0.2", "hostname": "box",
    "process": {"terminal": true, "user": {"uid": 0}, "args": ["sh"], "cwd": "/work",
                "env": ["PATH=/image/bin", "ONLY_IN_BUNDLE=1"]},
    "root": {"path": "rootfs", "readonly": true},
    "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
               {"destination": "/d", "type": "bind", "source": "data", "options": ["bind"]}],
    "hooks": {"prestart": [{"path": "/bin/a"}], "poststop": [{"path": "/bin/b"}]},
    "linux": {"cgroupsPath": "/elsewhere", "resources": {"memory": {"limit": 1}},
              "namespaces": [{"type": "pid"}, {"type": "cgroup"}, {"type": "mount"}]}})";

OciTaskDemand demand_of(uid_t uid) {
    OciTaskDemand demand;
    demand.argv = {"hostname", "-s"};
    demand.environment = {"PATH=/bin", "SLURM_JOB_ID=7"};
    demand.uid = uid;
    demand.gid = uid;
    demand.mounts = {{"/spool/slurm_script", "/var/run/slurm/slurm_script", {"bind", "ro"}}};
    demand.hooks_disabled = {"prestart"};
    return demand;
}

TEST(OciConfig, TheTaskReplacesTheProgramOfTheBundle) {
    const auto text = oci_config_of_bundle(kBundle, "/bundle", demand_of(1000));
    ASSERT_TRUE(text) << text.error().detail;
    const Document config = Document::parse(*text);
    EXPECT_EQ(config["process"]["args"], Document({"hostname", "-s"}));
    EXPECT_EQ(config["process"]["env"],
              Document({"PATH=/bin", "SLURM_JOB_ID=7", "ONLY_IN_BUNDLE=1"}));
    EXPECT_EQ(config["process"]["cwd"], "/work");
    EXPECT_EQ(config["process"]["terminal"], false);
    EXPECT_EQ(config["root"]["path"], "/bundle/rootfs");
    EXPECT_EQ(config["root"]["readonly"], true);
    EXPECT_EQ(config["mounts"][0]["source"], "proc");
    EXPECT_EQ(config["mounts"][1]["source"], "/bundle/data");
    EXPECT_EQ(config["mounts"][2]["source"], "/spool/slurm_script");
    EXPECT_EQ(config["hooks"].size(), 1u);
    EXPECT_TRUE(config["hooks"].contains("poststop"));
}

TEST(OciConfig, TheContainerStaysInTheCgroupOfTheStep) {
    for (const uid_t uid : {0u, 1000u}) {
        const Document config =
            Document::parse(*oci_config_of_bundle(kBundle, "/bundle", demand_of(uid)));
        EXPECT_FALSE(config["linux"].contains("cgroupsPath"));
        EXPECT_FALSE(config["linux"].contains("resources"));
        for (const Document& each : config["linux"]["namespaces"])
            EXPECT_NE(each["type"], "cgroup");
    }
}

TEST(OciConfig, UsersOtherThanRootGetAUserNamespace) {
    const Document user =
        Document::parse(*oci_config_of_bundle(kBundle, "/bundle", demand_of(1000)));
    EXPECT_EQ(user["linux"]["uidMappings"][0]["hostID"], 1000);
    EXPECT_EQ(user["linux"]["namespaces"].back()["type"], "user");
    const Document root = Document::parse(*oci_config_of_bundle(kBundle, "/bundle", demand_of(0)));
    EXPECT_FALSE(root["linux"].contains("uidMappings"));
}

TEST(OciConfig, WhatIsNoBundleIsRefused) {
    for (const char* text : {"", "[]", "{", R"({"root": 3})", R"({"root": {"path": 7}})"}) {
        EXPECT_FALSE(oci_config_of_bundle(text, "/bundle", demand_of(0))) << text;
    }
    // Members of a wrong kind are replaced.
    EXPECT_TRUE(oci_config_of_bundle(
        R"({"root": {"path": "r"}, "process": 1, "mounts": {}, "linux": [], "hooks": "x"})",
        "/bundle", demand_of(1000)));
}

TEST(OciConfig, TheVariablesOfAnImageComeFirstUnlessTheyAreNamed) {
    ImageDemand demand{.task = demand_of(1000),
                       .setup = {.image = "x", .environment = "SLURM_JOB_ID"},
                       .words = {{"PATH=/image", "SLURM_JOB_ID=0"}, {"/entry"}, "/home/app"},
                       .root = "/scratch/rootfs"};
    Document config = Document::parse(oci_config_of_image(demand));
    EXPECT_EQ(config["process"]["env"], Document({"SLURM_JOB_ID=7", "PATH=/image"}));
    EXPECT_EQ(config["process"]["args"], Document({"hostname", "-s"}));
    EXPECT_EQ(config["process"]["cwd"], "/home/app");
    EXPECT_EQ(config["root"]["readonly"], true);
    demand.setup.entrypoint = demand.setup.writable = true;
    demand.setup.workdir = "/mnt";
    config = Document::parse(oci_config_of_image(demand));
    EXPECT_EQ(config["process"]["args"], Document({"/entry", "hostname", "-s"}));
    EXPECT_EQ(config["process"]["cwd"], "/mnt");
    EXPECT_EQ(config["root"]["readonly"], false);
}

TEST(OciConfig, AnImageLayoutLeadsToItsConfiguration) {
    constexpr const char* kIndex = R"({"manifests": [
        {"digest": "sha256:aa", "annotations": {"org.opencontainers.image.ref.name": "v1"}},
        {"digest": "sha256:bb", "annotations": {"org.opencontainers.image.ref.name": "v2"}}]})";
    EXPECT_EQ(*manifest_path(kIndex, "v2"), "blobs/sha256/bb");
    EXPECT_FALSE(manifest_path(kIndex, "v3"));
    EXPECT_EQ(*image_config_path(R"({"config": {"digest": "sha256:cc"}})"), "blobs/sha256/cc");
    EXPECT_FALSE(image_config_path(R"({"config": {"digest": "sha256:../x"}})"));
    EXPECT_EQ(oci_state_pid(R"({"status": "created", "pid": 12})"), 12);
    for (const char* text : {"", "{}", R"({"pid": "12"})", R"({"pid": 0})", R"({"pid": -1})"})
        EXPECT_FALSE(oci_state_pid(text)) << text;
}

}  // namespace
}  // namespace sluice

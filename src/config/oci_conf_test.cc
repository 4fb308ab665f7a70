#include <gtest/gtest.h>

#include "config/config.h"

namespace sluice {
namespace {

std::string refusal(std::string_view text) {
    std::vector<std::string> warnings;
    const Result<OciConfig> config = parse_oci_conf(text, "oci.conf", warnings);
    return config ? "" : config.error().detail;
}

TEST(OciConf, PatternsAreKeptAsTheyAreWritten) {
    std::vector<std::string> warnings;
    const Result<OciConfig> config = parse_oci_conf(
        "RunTimeRun=\"runc --root=%m run -b %b %j.%s\"\nruntimedelete=\"runc delete %j.%s\"\n"
        "DisableHooks=prestart\nCreateEnvFile=null\nSrunPath=/bin/srun\n",
        "oci.conf", warnings);
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_EQ(config->run, "runc --root=%m run -b %b %j.%s");
    EXPECT_EQ(config->remove, "runc delete %j.%s");
    EXPECT_EQ(config->hooks_disabled, "prestart");
    EXPECT_EQ(config->env_file, "null");
    EXPECT_EQ(config->mount_spool_dir, "/var/run/slurm");
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("SrunPath"), std::string::npos);
}

TEST(OciConf, MistakesAreNamed) {
    EXPECT_NE(refusal("RunTimeRun=\"runc %x\"\n").find("unknown pattern '%x'"), std::string::npos);
    EXPECT_NE(refusal("RunTimeRun=\"runc %\"\n").find("unknown pattern '%'"), std::string::npos);
    EXPECT_NE(refusal("RunTimeRun=x\nEnvExclude=\"(\"\n").find("EnvExclude=("), std::string::npos);
    EXPECT_NE(refusal("RunTimeCreate=x\nRunTimeStart=x\n").find("RunTimeRun is missing"),
              std::string::npos);
    EXPECT_NE(refusal("RunTimeRun=x\nMountSpoolDir=spool\n").find("MountSpoolDir=spool"),
              std::string::npos);
    EXPECT_NE(refusal("RunTimeRun=x\nRunTimes=x\n").find("unrecognized key 'RunTimes'"),
              std::string::npos);
    EXPECT_EQ(refusal("RunTimeCreate=x\nRunTimeStart=x\nRunTimeQuery=x\n"), "");
    EXPECT_EQ(refusal("RunTimeRun=\"x %%x %@\"\n"), "");
}

}  // namespace
}  // namespace sluice

// Cgroups and the device filter, on the machine itself where it lets us.
#include "os/cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <array>

#include "base/text.h"
#include "os/device_filter.h"
#include "os/files.h"

namespace sluice {
namespace {

// What the program answers for one device: the few instructions that it is made of.
int answer_of(const std::vector<bpf_insn>& program, const bpf_cgroup_dev_ctx& context) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(&context);
    std::array<std::uint64_t, 11> registers{};
    for (std::size_t i = 0; i < program.size(); ++i) {
        const bpf_insn& next = program[i];
        std::uint64_t& to = registers.at(next.dst_reg);
        switch (next.code) {
            case BPF_LDX | BPF_MEM | BPF_W:
                EXPECT_EQ(next.src_reg, BPF_REG_1);
                to = words[next.off / 4];
                break;
            case BPF_ALU | BPF_AND | BPF_K:
                to = static_cast<std::uint32_t>(to) & static_cast<std::uint32_t>(next.imm);
                break;
            case BPF_ALU64 | BPF_MOV | BPF_K:
                to = static_cast<std::uint64_t>(next.imm);
                break;
            case BPF_JMP | BPF_JNE | BPF_K:
                if (to != static_cast<std::uint64_t>(next.imm))
                    i += static_cast<unsigned>(next.off);
                break;
            case BPF_JMP | BPF_EXIT:
                return static_cast<int>(registers[0]);
            default:
                ADD_FAILURE() << "instruction " << int(next.code);
                return -1;
        }
    }
    ADD_FAILURE() << "the program has no end";
    return -1;
}

bpf_cgroup_dev_ctx context(unsigned kind, unsigned access, unsigned major, unsigned minor) {
    return {.access_type = access << 16 | kind, .major = major, .minor = minor};
}

TEST(DeviceFilter, RefusesTheDevicesNamedAndNoOthers) {
    const std::vector<bpf_insn> program =
        device_program({{false, 195, 0}, {false, 195, 2}, {true, 8, 1048575}});
    for (unsigned access = BPF_DEVCG_ACC_MKNOD; access < 8; ++access) {
        auto answer = [&](unsigned kind, unsigned major, unsigned minor) {
            return answer_of(program, context(kind, access, major, minor));
        };
        EXPECT_EQ(answer(BPF_DEVCG_DEV_CHAR, 195, 0), 0);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_CHAR, 195, 1), 1);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_CHAR, 195, 2), 0);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_CHAR, 195, 255), 1);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_CHAR, 1, 0), 1);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_BLOCK, 195, 0), 1);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_BLOCK, 8, 1048575), 0);
        EXPECT_EQ(answer(BPF_DEVCG_DEV_CHAR, 8, 1048575), 1);
    }
    const auto none = device_program({});
    EXPECT_EQ(answer_of(none, context(BPF_DEVCG_DEV_CHAR, BPF_DEVCG_ACC_READ, 195, 0)), 1);
}

TEST(DeviceFilter, WhatIsNoDeviceIsNamed) {
    EXPECT_EQ(device_numbers({"/dev/null", "/dev/nosuch"}).error().detail,
              "/dev/nosuch: No such file or directory");
    EXPECT_EQ(device_numbers({"/etc/passwd"}).error().detail, "/etc/passwd: not a device");
    EXPECT_EQ(*device_numbers({"/dev/full"}), (std::vector<DeviceNumber>{{false, 1, 7}}));
}

// Where cgroups of this version can be made, or nothing.
std::string mountpoint_of(CgroupVersion version) {
    Result<std::string> mounts = read_file("/proc/mounts");
    if (!mounts || geteuid() != 0) return {};
    for (std::string_view line : split(*mounts, '\n')) {
        const std::vector<std::string_view> fields = words(line);
        if (fields.size() < 3) continue;
        if (version == CgroupVersion::V2 && fields[2] == "cgroup2") return std::string(fields[1]);
        if (version == CgroupVersion::V1 && fields[1].ends_with("/freezer")) {
            return directory_of(fields[1]);
        }
    }
    return {};
}

class RealCgroup : public testing::TestWithParam<CgroupVersion> {
protected:
    void SetUp() override {
        place_.mountpoint = mountpoint_of(GetParam());
        if (place_.mountpoint.empty() || detect_cgroups(place_.mountpoint) != GetParam()) {
            GTEST_SKIP() << "no such cgroups here";
        }
        place_.top = fmt::format("sluice_test_{}", getpid());
        place_.job = 7;
        place_.step = "0";
    }
    void TearDown() override { remove_empty_cgroups(place_); }

    // What is left of this test's directories.
    std::vector<std::string> left() const {
        std::vector<std::string> found;
        for (const char* folder : {"freezer", "memory", "cpuset", "devices", "system.slice"}) {
            const std::string directory = place_.mountpoint + "/" + folder;
            for (const std::string& name : list_directory(directory)) {
                if (name.starts_with(place_.top)) found.push_back(directory + "/" + name);
            }
        }
        return found;
    }

    CgroupPlace place_;
};

// In the cgroup: 0, or the error number of opening the file.
int open_inside(const Cgroup& cgroup, const char* file) {
    const pid_t child = fork();
    if (child == 0) {
        for (int entry : cgroup.entries()) {
            if (write(entry, "0", 1) != 1) _exit(200);
        }
        _exit(open(file, O_RDONLY) >= 0 ? 0 : errno);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_P(RealCgroup, DeniedDevicesCannotBeOpened) {
    Result<Cgroup> cgroup = Cgroup::create(place_, {.devices_denied = {"/dev/full"}});
    ASSERT_TRUE(cgroup) << cgroup.error().detail;
    EXPECT_EQ(open_inside(*cgroup, "/dev/full"), EPERM);
    EXPECT_EQ(open_inside(*cgroup, "/dev/zero"), 0);
    EXPECT_TRUE(cgroup->remove());
    Result<Cgroup> open_cgroup = Cgroup::create(place_, {});
    ASSERT_TRUE(open_cgroup) << open_cgroup.error().detail;
    EXPECT_EQ(open_inside(*open_cgroup, "/dev/full"), 0);
    EXPECT_TRUE(open_cgroup->remove());
}

TEST_P(RealCgroup, ALimitThatCannotBeSetIsAnErrorAndLeavesNothing) {
    Result<Cgroup> cgroup = Cgroup::create(place_, {.devices_denied = {"/dev/nosuch"}});
    ASSERT_FALSE(cgroup);
    EXPECT_EQ(cgroup.error().detail, "/dev/nosuch: No such file or directory");
    cgroup = Cgroup::create(place_, {.job_cpus = "4095", .step_cpus = "4095"});
    ASSERT_FALSE(cgroup);
    if (GetParam() == CgroupVersion::V1) {
        EXPECT_EQ(
            cgroup.error().detail,
            fmt::format("cannot write 4095 to {}/cpuset/{}/uid_0/job_7/cpuset.cpus: Numerical "
                        "result out of range",
                        place_.mountpoint, place_.top));
    }
    remove_empty_cgroups(place_);
    EXPECT_EQ(left(), std::vector<std::string>{});
}

// With version 1 no cpuset can be narrowed below one that it contains.
TEST_P(RealCgroup, AJobHasFewerCpusThanTheMachineAndItsStepsFewerThanTheJob) {
    if (GetParam() == CgroupVersion::V2) GTEST_SKIP() << "nothing is inherited there";
    Result<Cgroup> first = Cgroup::create(place_, {.job_cpus = {}, .step_cpus = "0"});
    ASSERT_TRUE(first) << first.error().detail;
    place_.step = "1";
    Result<Cgroup> second = Cgroup::create(place_, {.job_cpus = "0", .step_cpus = "0"});
    ASSERT_TRUE(second) << second.error().detail;
    for (const char* below : {"", "/step_0", "/step_1"}) {
        const std::string path =
            fmt::format("{}/cpuset/{}/uid_0/job_7{}", place_.mountpoint, place_.top, below);
        EXPECT_EQ(trim(*read_file(path + "/cpuset.cpus")), "0") << path;
    }
    EXPECT_TRUE(first->remove());
    EXPECT_TRUE(second->remove());
}

TEST_P(RealCgroup, TheJobsMemoryLimitHoldsForAllItsSteps) {
    if (GetParam() == CgroupVersion::V2) {
        const std::string all = *read_file(place_.mountpoint + "/cgroup.controllers");
        if (all.find("memory") == std::string::npos) {
            Result<Cgroup> cgroup =
                Cgroup::create(place_, {.step_memory = MemoryLimit{1 << 28, {}}});
            ASSERT_FALSE(cgroup);
            EXPECT_EQ(cgroup.error().detail,
                      fmt::format("controller memory is not in {}/cgroup.controllers",
                                  place_.mountpoint));
            GTEST_SKIP() << "the memory controller is not in this hierarchy";
        }
    }
    const CgroupLimits limits{.job_memory = MemoryLimit{1 << 28, {}}, .step_memory = {}};
    Result<Cgroup> first = Cgroup::create(place_, limits);
    ASSERT_TRUE(first) << first.error().detail;
    place_.step = "1";
    Result<Cgroup> second = Cgroup::create(place_, limits);
    ASSERT_TRUE(second) << second.error().detail;
    const bool v2 = GetParam() == CgroupVersion::V2;
    const std::string job =
        v2 ? fmt::format("{}/system.slice/{}.scope/job_7/memory.max", place_.mountpoint, place_.top)
           : fmt::format("{}/memory/{}/uid_0/job_7/memory.limit_in_bytes", place_.mountpoint,
                         place_.top);
    EXPECT_EQ(trim(*read_file(job)), "268435456");
    EXPECT_TRUE(first->remove());
    EXPECT_TRUE(second->remove());
}

INSTANTIATE_TEST_SUITE_P(Versions, RealCgroup,
                         testing::Values(CgroupVersion::V1, CgroupVersion::V2),
                         [](const auto& info) {
                             return info.param == CgroupVersion::V1 ? "V1" : "V2";
                         });

}  // namespace
}  // namespace sluice

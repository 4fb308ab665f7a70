#include "stepd/cpu_clocks.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "os/files.h"

namespace sluice {
namespace {

// A /sys/devices/system/cpu with two CPUs.
struct FakeCpus {
    std::string root;

    FakeCpus() {
        char name[] = "/tmp/sluice-cpufreq-XXXXXX";
        root = mkdtemp(name);
        for (int cpu : {0, 1}) {
            const std::string directory = directory_for(cpu);
            EXPECT_TRUE(make_directories(directory));
            put(cpu, "scaling_available_frequencies", "1000 2000 3000 \n");
            put(cpu, "scaling_governor", "schedutil\n");
            put(cpu, "scaling_min_freq", "1000\n");
            put(cpu, "scaling_max_freq", "3000\n");
            put(cpu, "scaling_setspeed", "<unsupported>\n");
        }
    }
    ~FakeCpus() { std::filesystem::remove_all(root); }

    std::string directory_for(int cpu) const { return fmt::format("{}/cpu{}/cpufreq", root, cpu); }
    void put(int cpu, const std::string& file, const std::string& text) const {
        EXPECT_TRUE(write_file_atomically(directory_for(cpu) + "/" + file, text));
    }
    // "governor min max speed". A write to /sys replaces the content; here the end of a longer one
    // stays.
    std::string state(int cpu) const {
        std::string all;
        for (const char* file :
             {"scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_setspeed"}) {
            const std::string text = *read_file(directory_for(cpu) + "/" + file);
            all += text.substr(0, text.find('\n')) + " ";
        }
        return all;
    }
};

wire::StepOrder order_of(const std::string& freq) {
    wire::StepOrder order;
    order.set_node("n1");
    order.mutable_tasks()->mutable_spec()->set_cpu_freq(freq);
    order.mutable_binding()->set_affinity(true);
    order.mutable_binding()->add_cpus(1);
    return order;
}

TEST(CpuFrequencies, AreSetOnTheCpusOfTheStepAndSetBack) {
    const FakeCpus cpus;
    CpuFrequencies frequencies(cpus.root);
    const std::string before = cpus.state(1);
    EXPECT_EQ(frequencies.set(order_of("medium-high:performance")), "");
    EXPECT_TRUE(cpus.state(1).starts_with("performance")) << cpus.state(1);
    EXPECT_NE(cpus.state(1).find(" 2000 3000 "), std::string::npos) << cpus.state(1);
    EXPECT_TRUE(cpus.state(0).starts_with("schedutil 1000 3000"));
    frequencies.reset();
    EXPECT_TRUE(cpus.state(1).starts_with("schedutil")) << cpus.state(1);
    EXPECT_NE(cpus.state(1).find(" 1000 3000 "), std::string::npos) << cpus.state(1);
}

// Also where the lowest frequency is not the one that the site has chosen as the least.
TEST(CpuFrequencies, LimitsOfTheSiteAreSetBack) {
    const FakeCpus cpus;
    cpus.put(1, "scaling_min_freq", "2000\n");
    CpuFrequencies frequencies(cpus.root);
    EXPECT_EQ(frequencies.set(order_of("low-medium")), "");
    EXPECT_NE(cpus.state(1).find(" 1000 2000 "), std::string::npos) << cpus.state(1);
    frequencies.reset();
    EXPECT_NE(cpus.state(1).find(" 2000 3000 "), std::string::npos) << cpus.state(1);
}

TEST(CpuFrequencies, OneSpeedNeedsTheGovernorUserSpace) {
    const FakeCpus cpus;
    CpuFrequencies frequencies(cpus.root);
    EXPECT_EQ(frequencies.set(order_of("2100")), "");
    EXPECT_TRUE(cpus.state(1).starts_with("userspace")) << cpus.state(1);
    EXPECT_NE(cpus.state(1).find(" 2000"), std::string::npos) << cpus.state(1);
}

TEST(CpuFrequencies, AreNoReasonNotToRun) {
    CpuFrequencies frequencies("/nonexistent");
    const std::string line = frequencies.set(order_of("high"));
    EXPECT_NE(line.find("--cpu-freq=high has no effect on node n1: "), std::string::npos) << line;
    wire::StepOrder free = order_of("high");
    free.mutable_binding()->set_affinity(false);
    EXPECT_NE(frequencies.set(free).find("not confined"), std::string::npos);
    wire::StepOrder by_default = order_of("");
    by_default.set_cpu_freq_def("high");
    EXPECT_EQ(frequencies.set(by_default), "");  // nobody asked
    EXPECT_EQ(frequencies.set(order_of("")), "");
}

}  // namespace
}  // namespace sluice

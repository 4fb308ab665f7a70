// Transcripts of sacct, sreport and gpu_usage: tests/golden/{sacct,sreport,gpu_usage}/*.golden.
// Each holds commands after "$ " and what they print, standard error included; "[exit 1]" follows
// where the exit code is not 0. BLESS=1 rewrites them from what the tools print now.
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/common/transcripts.h"
#include "cli/gpu_usage/gpu_usage.h"
#include "cli/sacct/fake_accounting.h"
#include "cli/sacct/sacct.h"
#include "cli/sreport/sreport.h"
#include "cli/sreport/usage.h"
#include "model/times.h"

namespace sluice {
namespace {

class TerminalStreams : public KeptStreams {
public:
    using KeptStreams::KeptStreams;
    bool out_is_terminal() const override { return is_terminal; }
    bool is_terminal = false;
};

// "VAR=value sacct -X <<< 'first line' 'second line'". Words have no blanks in them.
std::string run_line(const std::string& line) {
    const std::size_t input_at = line.find(" <<< ");
    std::string input;
    if (input_at != std::string::npos) {
        for (std::string_view text : split(std::string_view(line).substr(input_at + 5), '/')) {
            input += std::string(text) + "\n";
        }
    }
    Invocation invocation{.directory = "/tmp"};
    FakeAccounting cluster;
    TerminalStreams streams(input);
    std::vector<std::string> rest;
    for (std::string_view word : words(std::string_view(line).substr(0, input_at))) {
        const std::size_t equals = word.find('=');
        if (!rest.empty() || equals == std::string_view::npos) {
            rest.emplace_back(word);
        } else {
            invocation.environment.set(std::string(word.substr(0, equals)),
                                       std::string(word.substr(equals + 1)));
        }
    }
    cluster.down = invocation.environment.find("FAKE_DOWN").has_value();
    streams.is_terminal = invocation.environment.find("FAKE_TERMINAL").has_value();
    invocation.tool = rest[0];
    invocation.args.assign(rest.begin() + 1, rest.end());
    const Time now = from_unix(kAccountedNow);
    const int code = invocation.tool == "sacct" ? run_sacct_at(now, invocation, cluster, streams)
                     : invocation.tool == "sreport"
                         ? run_sreport_at(now, invocation, cluster, streams)
                         : run_gpu_usage(invocation, cluster, streams);
    if (const std::size_t at = streams.said.find("\"client\": {"); at != std::string::npos) {
        streams.said.replace(at, streams.said.find('}', at) + 1 - at, "\"client\": {}");
    }
    if (!streams.said.empty() && streams.said.back() != '\n') streams.said += '\n';
    return streams.said + (code == 0 ? "" : fmt::format("[exit {}]\n", code));
}

class AccountingGolden : public testing::TestWithParam<const char*> {};

TEST_P(AccountingGolden, PrintsWhatIsRecorded) {
    check_transcripts(GetParam(), [](const std::string& transcript) {
        return replay_commands(transcript, run_line);
    });
}

INSTANTIATE_TEST_SUITE_P(Tools, AccountingGolden, testing::Values("sacct", "sreport", "gpu_usage"));

JobSelection selection_of(std::vector<std::string> args) {
    setenv("TZ", "UTC", 1);
    tzset();
    FakeAccounting cluster;
    KeptStreams streams;
    const Invocation invocation{.tool = "sacct", .args = std::move(args)};
    EXPECT_EQ(run_sacct_at(from_unix(kAccountedNow), invocation, cluster, streams), 0)
        << streams.said;
    for (const AccountingQuestion& question : cluster.questions) {
        if (question.kind == AccountingQuestion::Kind::Jobs) return question.jobs;
    }
    ADD_FAILURE() << "jobs were not asked for";
    return {};
}

TEST(Sacct, HasTheTimeWindowOfTheManual) {
    const Time now = from_unix(kAccountedNow), midnight = from_unix(1794960000);
    const JobSelection plain = selection_of({});
    EXPECT_EQ(plain.start, midnight);
    EXPECT_EQ(plain.end, std::nullopt);
    const JobSelection jobs = selection_of({"-j", "2"});
    EXPECT_EQ(jobs.start, std::nullopt);
    EXPECT_EQ(jobs.end, std::nullopt);
    const JobSelection states = selection_of({"-s", "R"});
    EXPECT_EQ(states.start, now);
    EXPECT_EQ(states.end, now);
    const JobSelection since = selection_of({"-s", "R", "-S", "now-1hour"});
    EXPECT_EQ(since.start, now - Seconds{3600});
    EXPECT_EQ(since.end, now - Seconds{3600});
    const JobSelection both = selection_of({"-s", "R", "-j", "2"});
    EXPECT_EQ(both.start, std::nullopt);
    EXPECT_EQ(both.end, now);
}

TEST(Sacct, SendsWhatItFiltersBy) {
    const JobSelection all = selection_of(
        {"-A", "a,b", "-r",     "short",    "-q",         "high", "--name",     "x",  "-W",
         "w",  "-C",  "a40",    "-N",       "n[1-3]",     "-i",   "2-4",        "-I", "8",
         "-k", "10",  "-R",     "licenses", "-D",         "-X",   "-u",         "0",  "-g",
         "0",  "-s",  "cd,oom", "-S",       "2026-11-17", "-E",   "2026-11-18", "-M", "all"});
    EXPECT_EQ(all.accounts, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(all.partitions, std::vector<std::string>{"short"});
    EXPECT_EQ(all.qos, std::vector<std::string>{"high"});
    EXPECT_EQ(all.names, std::vector<std::string>{"x"});
    EXPECT_EQ(all.wckeys, std::vector<std::string>{"w"});
    EXPECT_EQ(all.constraints, std::vector<std::string>{"a40"});
    EXPECT_EQ(all.reasons, std::vector<std::string>{"Licenses"});
    EXPECT_EQ(all.clusters, std::vector<std::string>{"*"});
    EXPECT_EQ(all.nodes, "n[1-3]");
    EXPECT_EQ(all.nodes_min, 2u);
    EXPECT_EQ(all.nodes_max, 4u);
    EXPECT_EQ(all.cpus_min, 8u);
    EXPECT_EQ(all.cpus_max, 8u);
    EXPECT_EQ(all.limit_min, Seconds{600});
    EXPECT_EQ(all.limit_max, Seconds{600});
    EXPECT_TRUE(all.all_runs && all.no_steps);
    EXPECT_EQ(all.users, std::vector<UserId>{UserId{0}});
    EXPECT_EQ(all.groups, std::vector<GroupId>{GroupId{0}});
    EXPECT_EQ(all.states,
              (std::vector<ShownState>{ShownState::Completed, ShownState::OutOfMemory}));
    EXPECT_EQ(all.end, from_unix(1794960000));
}

TEST(Sreport, AddsUpTheLargestPeriods) {
    setenv("TZ", "UTC", 1);
    tzset();
    auto at = [](const char* text) { return *parse_moment(text, from_unix(kAccountedNow)); };
    using P = RollupPeriod;
    EXPECT_EQ(spans_of(at("2026-10-30T22:00"), at("2026-12-02T01:00")),
              (std::vector<PeriodSpan>{{P::Hour, at("2026-10-30T22:00"), at("2026-10-31T00:00")},
                                       {P::Day, at("2026-10-31T00:00"), at("2026-11-01T00:00")},
                                       {P::Month, at("2026-11-01T00:00"), at("2026-12-01T00:00")},
                                       {P::Day, at("2026-12-01T00:00"), at("2026-12-02T00:00")},
                                       {P::Hour, at("2026-12-02T00:00"), at("2026-12-02T01:00")}}));
    EXPECT_EQ(spans_of(at("2026-11-17T00:00"), at("2026-11-17T23:00")),
              (std::vector<PeriodSpan>{{P::Hour, at("2026-11-17T00:00"), at("2026-11-17T23:00")}}));
    EXPECT_EQ(spans_of(at("2026-11-17T00:00"), at("2026-11-17T00:00")), std::vector<PeriodSpan>{});
}

}  // namespace
}  // namespace sluice

// Transcripts of squeue, sinfo and scontrol: tests/golden/{squeue,sinfo,scontrol}/*.golden. Each
// holds commands after "$ " and what they print, standard error included; "[exit 1]" follows where
// the exit code is not 0. BLESS=1 rewrites them from what the tools print now.
#include <gtest/gtest.h>

#include "cli/common/transcripts.h"
#include "cli/scontrol/scontrol.h"
#include "cli/sdiag/sdiag.h"
#include "cli/sinfo/sinfo.h"
#include "cli/sprio/sprio.h"
#include "cli/squeue/fake_cluster.h"
#include "cli/squeue/squeue.h"
#include "cli/sshare/sshare.h"

namespace sluice {

namespace {

// Words as a shell would cut them: blanks separate, single and double quotes protect.
std::vector<std::string> shell_words(std::string_view line) {
    std::vector<std::string> found;
    std::string word;
    bool inside = false;
    char quote = 0;
    for (char c : line) {
        if (quote) {
            if (c == quote) {
                quote = 0;
            } else {
                word += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            inside = true;
        } else if (c == ' ') {
            if (inside) found.push_back(std::exchange(word, ""));
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (inside) found.push_back(word);
    return found;
}

// "VAR=value squeue -h < text": the tool's output, and its exit code where that is not 0.
std::string run_line(const std::string& line) {
    const std::size_t input_at = line.find(" <<< ");
    std::string input;
    if (input_at != std::string::npos) {
        for (const std::string& text : shell_words(line.substr(input_at + 5))) input += text + "\n";
    }
    std::vector<std::string> words = shell_words(line.substr(0, input_at));
    Invocation invocation{.directory = "/tmp"};
    while (!words.empty() && words[0].find('=') != std::string::npos && words[0][0] != '-') {
        const std::size_t equals = words[0].find('=');
        invocation.environment.set(words[0].substr(0, equals), words[0].substr(equals + 1));
        words.erase(words.begin());
    }
    FakeCluster cluster;
    cluster.down = invocation.environment.find("FAKE_DOWN").has_value();
    KeptStreams streams(input);
    invocation.tool = words[0];
    invocation.args.assign(words.begin() + 1, words.end());
    const Time now = from_unix(kFakeNow);
    int code = 0;
    if (invocation.tool == "squeue") {
        code = run_squeue_at(now, invocation, cluster, streams);
    } else if (invocation.tool == "sinfo") {
        code = run_sinfo_at(now, invocation, cluster, streams);
    } else if (invocation.tool == "sprio") {
        code = run_sprio(invocation, cluster, streams);
    } else if (invocation.tool == "sshare") {
        code = run_sshare(invocation, cluster, streams);
    } else if (invocation.tool == "sdiag") {
        code = run_sdiag(invocation, cluster, streams);
    } else {
        code = run_scontrol_at(now, invocation, cluster, streams);
    }
    // Who runs the tests is not part of the record.
    if (const std::size_t at = streams.said.find("\"client\": {"); at != std::string::npos) {
        streams.said.replace(at, streams.said.find('}', at) + 1 - at, "\"client\": {}");
    }
    if (const std::size_t at = streams.said.find("  client:\n"); at != std::string::npos) {
        const std::size_t end = streams.said.find("  command:", at);
        streams.said.replace(at, end - at, "  client: {}\n");
    }
    if (code != 0) streams.said += fmt::format("[exit {}]\n", code);
    return streams.said;
}

class QueryGolden : public testing::TestWithParam<const char*> {};

TEST_P(QueryGolden, PrintsWhatIsRecorded) {
    check_transcripts(GetParam(), [](const std::string& transcript) {
        return replay_commands(transcript, run_line);
    });
}

INSTANTIATE_TEST_SUITE_P(Tools, QueryGolden,
                         testing::Values("squeue", "sinfo", "scontrol", "sprio", "sshare",
                                         "sdiag"));

TEST(Squeue, AsksOnlyForTheColumnsOfItsFormatAndSort) {
    FakeCluster cluster;
    KeptStreams streams;
    const Invocation invocation{.tool = "squeue", .args = {"-h", "-o", "%j", "-S", "U"}};
    EXPECT_EQ(run_squeue_at(from_unix(kFakeNow), invocation, cluster, streams), 0);
    ASSERT_EQ(cluster.requests.size(), 1u);
    const auto& columns = cluster.requests[0].list().columns();
    EXPECT_EQ(std::vector<std::uint32_t>(columns.begin(), columns.end()),
              (std::vector<std::uint32_t>{static_cast<std::uint32_t>(JobColumn::Name),
                                          static_cast<std::uint32_t>(JobColumn::UserId)}));
}

TEST(Scontrol, UpdateSendsATypedChange) {
    FakeCluster cluster;
    KeptStreams streams;
    const Invocation invocation{
        .tool = "scontrol", .args = {"update", "nodename=cpu1", "state=drain", "reason=bad disk"}};
    EXPECT_EQ(run_scontrol_at(from_unix(kFakeNow), invocation, cluster, streams), 0);
    ASSERT_EQ(cluster.requests.size(), 1u);
    const wire::Update& update = cluster.requests[0].update();
    EXPECT_EQ(update.entity(), wire::Update::NODE);
    EXPECT_EQ(update.name(), "cpu1");
    const NodeChange change{.state = NodeCommand::Drain, .reason = "bad disk"};
    EXPECT_EQ(decode_node_change(update.change()).value(), change);
}

TEST(Scontrol, VerbsTakeListsInEveryForm) {
    FakeCluster cluster;
    KeptStreams streams;
    const Invocation invocation{.tool = "scontrol", .args = {"requeue", "1,2", "3_[4,5] 6"}};
    EXPECT_EQ(run_scontrol_at(from_unix(kFakeNow), invocation, cluster, streams), 0);
    const auto& jobs = cluster.requests.at(0).control().jobs();
    EXPECT_EQ(std::vector<std::string>(jobs.begin(), jobs.end()),
              (std::vector<std::string>{"1", "2", "3_[4,5]", "6"}));
}

}  // namespace

}  // namespace sluice

// Runs the transcripts in tests/golden: `$ command` lines, each followed by what the tool prints.
// Lines that begin with `<` say what the pretended cluster answers; see FakeClient.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "cli/client/client.h"
#include "cli/salloc/salloc.h"
#include "cli/sbatch/sbatch.h"
#include "cli/scancel/scancel.h"
#include "cli/srun/srun.h"
#include "model/errors.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

// Answers in the order written:
//   < submitted 12            sbatch got its job
//   < error 1 detail          a refusal, by the number of its ErrorCode
//   < ended 5                 the job waited for ended with code 5
//   < cancelled               the job waited for was cancelled before it ran
//   < done / < results        nothing to say
//   < failed 99 3             the result for job 99 is ErrorCode 3
class FakeClient : public Client {
public:
    Result<const Config*> config() override { return &config_; }

    Result<wire::Reply> call(const wire::Request& request, const Waiting&) override {
        requests.push_back(request);
        if (next_ == answers.size()) return Error{ErrorCode::ControllerUnreachable, ""};
        std::vector<std::string_view> words = sluice::words(answers[next_++]);
        wire::Reply reply;
        std::uint32_t number = words.size() > 1 ? number_in(words[1]) : 0;
        if (words[0] == "submitted") {
            reply.mutable_submitted()->set_job(number);
        } else if (words[0] == "error") {
            return Error{static_cast<ErrorCode>(number),
                         words.size() > 2 ? std::string(words[2]) : ""};
        } else if (words[0] == "ended") {
            reply.mutable_allocation()->mutable_exit()->set_code(number);
            reply.mutable_allocation()->set_state(
                static_cast<std::uint32_t>(number ? JobState::Failed : JobState::Completed));
        } else if (words[0] == "cancelled") {
            reply.mutable_allocation()->set_state(static_cast<std::uint32_t>(JobState::Cancelled));
        } else if (words[0] == "failed") {
            wire::JobResult& result = *reply.mutable_results()->add_results();
            result.set_job(std::string(words[1]));
            result.mutable_error()->set_code(number_in(words[2]));
        } else {
            reply.mutable_results();
        }
        return reply;
    }

    Result<OpenedNode> connect_node(const wire::NodeAddress&, const FirstMessage&) override {
        return Error{ErrorCode::LaunchFailed, "no nodes here"};
    }

    std::vector<std::string> answers;
    std::vector<wire::Request> requests;

private:
    static std::uint32_t number_in(std::string_view word) {
        return static_cast<std::uint32_t>(to_number(word).value_or(0));
    }

    Config config_;
    std::size_t next_ = 0;
};

class FakeStreams : public Streams {
public:
    void out(std::string_view text) override { all += text; }
    void err(std::string_view text) override { all += text; }
    Result<std::string> read_all() override { return input; }
    bool read_line(std::string&) override { return false; }
    bool out_is_terminal() const override { return false; }
    void flush() override {}

    std::string all, input;
};

const std::map<std::string, ToolFunction> kTools = {
    {"sbatch", run_sbatch}, {"scancel", run_scancel}, {"srun", run_srun}, {"salloc", run_salloc}};

// A shell's idea of words, as far as the transcripts need it.
std::vector<std::string> shell_words(const std::string& line) {
    std::vector<std::string> result;
    bool is_open = false;
    char quote = 0;
    for (char c : line) {
        if (quote ? c == quote : (c == '\'' || c == '"')) {
            quote = quote ? 0 : c;
            if (!is_open) result.emplace_back();
            is_open = true;
        } else if (c == ' ' && !quote) {
            is_open = false;
        } else {
            if (!is_open) result.emplace_back();
            is_open = true;
            result.back() += c;
        }
    }
    return result;
}

// One command of a transcript and what it says now.
std::string run_command(const std::string& line, const std::vector<std::string>& answers,
                        const std::string& directory) {
    std::vector<std::string> words = shell_words(line);
    Invocation invocation{
        .tool = "", .args = {}, .environment = Environment({"PATH=/bin"}), .directory = directory};
    std::size_t i = 0;
    for (; i < words.size() && words[i].find('=') != std::string::npos && words[i][0] != '-'; ++i) {
        std::size_t equals = words[i].find('=');
        invocation.environment.set(words[i].substr(0, equals), words[i].substr(equals + 1));
    }
    invocation.tool = words[i];
    invocation.args.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
    auto tool = kTools.find(invocation.tool);
    if (tool == kTools.end()) return "golden: no such tool\n";
    FakeClient client;
    client.answers = answers;
    FakeStreams streams;
    int code = tool->second(invocation, client, streams);
    return streams.all + (code ? fmt::format("[exit {}]\n", code) : "");
}

// The transcript as it would be written today.
std::string replay(const std::string& text, const std::string& directory) {
    std::string result, file;
    std::vector<std::string> answers;
    bool is_output = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("$ ")) {
            result += line + "\n" + run_command(line.substr(2), answers, directory);
            answers.clear();
            is_output = true;
        } else if (line.starts_with("< ")) {
            answers.push_back(line.substr(2));
            result += line + "\n";
            is_output = false;
        } else if (line.starts_with("> ")) {  // "> name" begins a file, "| line" is a line of it
            file = directory + "/" + line.substr(2);
            std::ofstream(file).close();
            result += line + "\n";
            is_output = false;
        } else if (line.starts_with("| ") || line == "|") {
            std::ofstream(file, std::ios::app) << (line.size() > 2 ? line.substr(2) : "") << "\n";
            result += line + "\n";
        } else if (line.starts_with("#") || !is_output) {
            result += line + "\n";
        }
    }
    return result;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, SaysWhatItSaid) {
    const std::string path = GetParam();
    char directory[] = "/tmp/golden.XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    Result<std::string> text = read_file(path);
    ASSERT_TRUE(text);
    std::string now = replay(*text, directory);
    remove_tree(directory);
    if (getenv("BLESS")) {
        std::ofstream(path) << now;
        return;
    }
    EXPECT_EQ(now, *text);
}

std::vector<std::string> transcripts() {
    std::vector<std::string> paths;
    for (const auto& [tool, run] : kTools) {
        std::string directory = fmt::format("{}/{}", GOLDEN_DIR, tool);
        for (const std::string& name : list_directory(directory)) {
            if (name.ends_with(".golden")) paths.push_back(directory + "/" + name);
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(std::string(GOLDEN_DIR).size() + 1);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Transcripts, Golden, testing::ValuesIn(transcripts()), name_of);

}  // namespace
}  // namespace sluice

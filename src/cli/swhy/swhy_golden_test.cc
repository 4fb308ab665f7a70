// Transcripts of swhy: tests/golden/swhy/*.golden. Lines after "| " make a small world and let
// things happen in it (testkit/scenario.h), "$ swhy 3" asks the core of that world. "# " begins
// another one. BLESS=1 rewrites what the tool prints.
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/common/transcripts.h"
#include "cli/squeue/fake_cluster.h"
#include "cli/swhy/swhy.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

// A controller around the world of a scenario, as far as swhy asks it.
class ScenarioClient : public Client {
public:
    explicit ScenarioClient(Scenario& world) : world_(world) {}

    Result<const Config*> config() override { return &config_; }
    Result<OpenedNode> connect_node(const wire::NodeAddress&, const FirstMessage&) override {
        return Error{ErrorCode::NotSupported, ""};
    }
    Result<wire::Reply> call(const wire::Request& request, const Waiting&) override {
        wire::Reply reply;
        for (const Explanation& each : TRY(world_.why(request.explain()))) {
            *reply.mutable_explanations()->add_jobs() = to_wire(each);
        }
        return reply;
    }

private:
    Scenario& world_;
    Config config_;
};

std::string run_line(Scenario& world, const std::string& line) {
    Invocation invocation{.directory = "/tmp"};
    for (std::string_view word : words(line)) invocation.args.emplace_back(word);
    invocation.tool = invocation.args.front();
    invocation.args.erase(invocation.args.begin());
    ScenarioClient client(world);
    KeptStreams streams;
    const int code = run_swhy_at(world.now(), invocation, client, streams);
    return streams.said + (code == 0 ? "" : fmt::format("[exit {}]\n", code));
}

std::string replay(const std::string& transcript) {
    std::string result;
    auto world = std::make_unique<Scenario>();
    std::istringstream lines(transcript);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) world = std::make_unique<Scenario>();
        if (line.starts_with("# ") || line.starts_with("| ") || line.starts_with("$ "))
            result += line + "\n";
        if (line.starts_with("| ")) {
            const std::string problem = world->run(line.substr(2));
            if (!problem.empty()) result += "scenario: " + problem + "\n";
        }
        if (line.starts_with("$ ")) result += run_line(*world, line.substr(2));
    }
    return result;
}

TEST(SwhyGolden, PrintsWhatIsRecorded) {
    check_transcripts("swhy", replay);
}

}  // namespace
}  // namespace sluice

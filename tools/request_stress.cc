// tools/request_stress.cc
//
// Sends random, valid and expensive requests to a running slurmctld and says which of each kind
// took longest. The same seed sends the same requests.
//
//   sluice-request-stress [-n requests] [-s seed] [-m milliseconds]
//
// -m: fail when a request took longer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "model/errors.h"
#include "model/job_keys.h"
#include "model/sizes.h"
#include "model/table.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

struct Stress {
    std::uint64_t requests = 1000;
    std::uint64_t seed = 1;
    std::uint64_t milliseconds_most = 0;
};

struct Taken {
    double milliseconds = 0;
    std::uint64_t number = 0;
    std::string kind;
    std::size_t bytes = 0;
    std::string answer;
};

// Texts, numbers and requests that follow from the seed alone.
class Maker {
public:
    explicit Maker(std::uint64_t seed) : dice_(seed) {}

    wire::Request next(std::string& kind);

private:
    std::uint64_t below(std::uint64_t most) { return dice_() % most; }
    bool coin() { return below(2) == 0; }
    std::string text(std::size_t most) { return std::string(below(most + 1), 'x'); }

    std::string job() {
        const std::uint64_t id = 1 + below(coin() ? 20 : 100'000);
        switch (below(6)) {
            case 0:
                return fmt::format("{}_[0-3999999,{}]", id, below(100));
            case 1:
                return fmt::format("{}_[0-{}:2,1,3]", id, below(2000));
            case 2:
                return fmt::format("{}_{}", id, below(1000));
            default:
                return std::to_string(id);
        }
    }
    std::string joined(std::string_view separator, std::size_t most,
                       std::string (Maker::*piece)()) {
        std::string list;
        while (list.size() < most) {
            if (!list.empty()) list += separator;
            list += (this->*piece)();
        }
        return list;
    }
    std::string plain_job() { return std::to_string(1 + below(100'000)); }
    std::string word() { return fmt::format("w{}", below(10'000)); }
    std::string dependency() {
        return "afterany:" + joined(":", below(sizes::kDependency - 100), &Maker::plain_job);
    }
    std::string value() {
        switch (below(8)) {
            case 0:
                return dependency();
            case 1:
                return joined(",", below(sizes::kWord), &Maker::word);
            case 2:
                return joined("&", below(sizes::kFeatures), &Maker::word);
            case 3:
                return fmt::format("n[0-{}]", below(70'000));
            case 4:
                return text(sizes::kPath);
            case 5:
                return fmt::format("gpu:{}", below(1u << 30));
            default:
                return std::to_string(below(1u << 31));
        }
    }

    void list(wire::ListTable& list);
    void submit(wire::SubmitJob& submit);
    void test(wire::SubmitJob& submit);
    void cancel(wire::CancelJobs& cancel);
    void control(wire::ControlJobs& control);
    void update(wire::Update& update);
    void step(wire::CreateStep& step);
    ReservationChange reservation();

    std::mt19937_64 dice_;
};

void Maker::list(wire::ListTable& list) {
    list.set_kind(static_cast<std::uint32_t>(coin() ? TableKind::Jobs : TableKind::Steps));
    for (std::uint32_t column = 0; column < 1 + below(40); ++column) list.add_columns(column);
    wire::Filter& filter = *list.mutable_filter();
    filter.set_all_states(coin());
    const std::uint64_t jobs = below(3) == 0 ? below(sizes::kChangedJobCount) : below(4);
    for (std::uint64_t i = 0; i < jobs; ++i) filter.add_jobs(job());
    if (below(4) > 0) return;
    for (std::uint64_t i = below(sizes::kNameCount); i > 0; --i) filter.add_users(below(70'000));
    for (std::uint64_t i = below(sizes::kNameCount); i > 0; --i) filter.add_names(word());
    for (std::uint64_t i = below(sizes::kListedNodeCount); i > 0; --i)
        filter.add_nodes(fmt::format("n{}", i));
}

void Maker::submit(wire::SubmitJob& submit) {
    JobRequest demand;
    demand.hold = true;
    demand.name = text(sizes::kWord);
    demand.comment = text(sizes::kWord);
    demand.work_dir = "/" + text(sizes::kPath - 1);
    if (coin()) demand.dependency = dependency();
    if (coin()) demand.shape.constraint = joined("|", below(sizes::kFeatures - 20), &Maker::word);
    if (below(4) == 0) demand.shape.exclude = fmt::format("n[0-{}]", below(60'000));
    if (below(4) == 0) demand.array = ArraySpec{*TaskSet::parse("0-999"), 0};
    for (std::uint64_t i = below(100); i > 0; --i) demand.script_args.push_back(text(1000));
    submit.set_request(encode(demand));
    submit.set_script("#!/bin/sh\n#" + text(1u << 20));
    submit.set_environment(text(1u << 20));
}

void Maker::test(wire::SubmitJob& submit) {
    JobRequest demand;
    demand.shape.nodes_min = static_cast<std::uint32_t>(1 + below(200));
    demand.shape.cpus_per_task = static_cast<std::uint32_t>(1 + below(16));
    demand.time_limit = TimeLimit{Minutes{1 + below(10'000)}};
    submit.set_request(encode(demand));
    submit.set_script("#!/bin/sh\n");
    submit.set_test_only(true);
}

void Maker::cancel(wire::CancelJobs& cancel) {
    for (std::uint64_t i = below(sizes::kChangedJobCount); i > 0; --i)
        cancel.mutable_filter()->add_jobs(job());
    cancel.set_signal(coin() ? 0 : 10);
}

void Maker::control(wire::ControlJobs& control) {
    control.set_verb(coin() ? wire::ControlJobs::HOLD : wire::ControlJobs::RELEASE);
    for (std::uint64_t i = below(sizes::kChangedJobCount); i > 0; --i)
        control.add_jobs(plain_job());
}

void Maker::update(wire::Update& update) {
    static constexpr std::array kKeys = {"Dependency", "Comment",  "Features", "ExcNodeList",
                                         "Licenses",   "NodeList", "WorkDir",  "TimeLimit+",
                                         "Gres",       "NumTasks", "Partition"};
    update.set_entity(wire::Update::JOB);
    update.set_name(job());
    KeyTexts changes;
    for (std::uint64_t i = 1 + below(4); i > 0; --i) {
        changes.emplace_back(kKeys[below(kKeys.size())], value());
        if (!parse_job_change(changes, Time{})) changes.pop_back();
    }
    update.set_change(encode(parse_job_change(changes, Time{}).value()));
}

void Maker::step(wire::CreateStep& step) {
    step.set_job(static_cast<std::uint32_t>(1 + below(20)));
    step.set_name(text(sizes::kWord));
    step.set_ntasks(static_cast<std::uint32_t>(below(sizes::kCount)));
    step.set_nodelist(fmt::format("n[0-{}]", below(65'000)));
    step.set_immediate(true);
}

ReservationChange Maker::reservation() {
    ReservationChange change;
    change.name = word();
    change.start = from_unix(static_cast<std::int64_t>(below(1u << 31)));
    auto& groups = change.groups.emplace().items;
    for (std::uint64_t i = below(sizes::kGroupCount); i > 0; --i) groups.push_back({word(), {}});
    auto& accounts = change.accounts.emplace().items;
    for (std::uint64_t i = below(sizes::kNameCount); i > 0; --i) accounts.push_back(word());
    return change;
}

wire::Request Maker::next(std::string& kind) {
    wire::Request request;
    switch (below(9)) {
        case 0:
            kind = "submit";
            submit(*request.mutable_submit());
            break;
        case 1:
            kind = "cancel";
            cancel(*request.mutable_cancel());
            break;
        case 2:
            kind = "control";
            control(*request.mutable_control());
            break;
        case 3:
            kind = "update";
            update(*request.mutable_update());
            break;
        case 4:
            kind = "step";
            step(*request.mutable_create_step());
            break;
        case 5:
            kind = "reservation";
            request.set_change_reservation(encode(reservation()));
            break;
        case 6:
            kind = "explain";
            request.set_explain(job());
            break;
        case 7:
            kind = "test-only";
            test(*request.mutable_submit());
            break;
        default:
            kind = "list";
            list(*request.mutable_list());
    }
    return request;
}

Result<Stress> parse(const Invocation& invocation) {
    Stress stress;
    for (std::size_t i = 0; i + 1 < invocation.args.size(); i += 2) {
        const std::string& option = invocation.args[i];
        const auto number = to_number(invocation.args[i + 1]);
        const bool known = option == "-n" || option == "-s" || option == "-m";
        if (!known || !number) {
            return Error{ErrorCode::BadArgument, fmt::format("{} {}: -n, -s and -m take numbers",
                                                             option, invocation.args[i + 1])};
        }
        if (option == "-n") stress.requests = *number;
        if (option == "-s") stress.seed = *number;
        if (option == "-m") stress.milliseconds_most = *number;
    }
    return stress;
}

// True: none took longer than it may.
bool report(const Stress& stress, std::vector<Taken> taken, Streams& streams) {
    std::sort(taken.begin(), taken.end(),
              [](const Taken& a, const Taken& b) { return a.milliseconds > b.milliseconds; });
    std::set<std::string> reported;
    for (const Taken& slow : taken) {
        if (!reported.insert(slow.kind).second) continue;
        streams.out(fmt::format("{:.1f} ms: request {}, {} of {} bytes: {}\n", slow.milliseconds,
                                slow.number, slow.kind, slow.bytes, slow.answer));
    }
    return stress.milliseconds_most == 0 || taken.empty() ||
           taken.front().milliseconds <= static_cast<double>(stress.milliseconds_most);
}

int run(const Invocation& invocation, Client& client, Streams& streams) {
    const Result<Stress> stress = parse(invocation);
    if (!stress) {
        streams.err(to_string(stress.error()) + "\n");
        return 2;
    }
    streams.out(fmt::format("seed {}, {} requests\n", stress->seed, stress->requests));
    Maker maker(stress->seed);
    std::vector<Taken> taken;
    for (std::uint64_t number = 1; number <= stress->requests; ++number) {
        Taken one{.number = number};
        const wire::Request request = maker.next(one.kind);
        one.bytes = request.ByteSizeLong();
        const auto began = std::chrono::steady_clock::now();
        const Result<wire::Reply> reply =
            client.call(request, {.give_up_after = std::chrono::minutes(1)});
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - began;
        one.milliseconds = took.count();
        one.answer = reply ? "done" : to_string(reply.error()).substr(0, 120);
        const bool is_lost = !reply && (reply.error().code == ErrorCode::Timeout ||
                                        reply.error().code == ErrorCode::ControllerUnreachable);
        taken.push_back(std::move(one));
        if (!is_lost) continue;
        streams.err(fmt::format("no answer to request {} of seed {}\n", number, stress->seed));
        report(*stress, std::move(taken), streams);
        return 1;
    }
    return report(*stress, std::move(taken), streams) ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    return sluice::run_tool("sluice-request-stress", argc, argv, sluice::run);
}

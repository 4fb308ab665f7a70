// protocol/arbitrary.h
//
// RapidCheck generators of the values that cross the wire, for tests here and in store/.
#pragma once

#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "model/filter.h"
#include "model/job.h"
#include "model/node.h"

namespace sluice::arbitrary {

inline std::string text() {
    return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}
inline std::uint32_t number(std::uint32_t most) {
    return *rc::gen::inRange(0u, most);
}
inline bool coin() {
    return *rc::gen::arbitrary<bool>();
}
inline Time time() {
    return from_unix(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
}

template <typename Enum>
Enum one_of(Enum last) {
    return static_cast<Enum>(number(static_cast<std::uint32_t>(last) + 1));
}

// One time in two.
template <typename Make>
auto maybe(Make make) -> std::optional<decltype(make())> {
    if (coin()) return make();
    return std::nullopt;
}

template <typename Make>
auto list(Make make) {
    std::vector<decltype(make())> made;
    for (std::uint32_t left = number(4); left > 0; --left) made.push_back(make());
    return made;
}

inline std::optional<std::uint32_t> maybe_number() {
    return maybe([] { return number(1'000'000); });
}
inline std::optional<Time> maybe_time() {
    return maybe([] { return time(); });
}
inline TimeLimit time_limit() {
    return coin() ? TimeLimit{} : TimeLimit{Seconds{number(1u << 30)}};
}
inline std::vector<std::string> texts() {
    return list([] { return text(); });
}

inline TaskSet task_set() {
    TaskSet set;
    for (std::uint32_t left = 1 + number(6); left > 0; --left) set.insert(number(2000));
    return set;
}

inline std::vector<GresCount> gres() {
    return list([] { return GresCount{text(), text(), number(1000)}; });
}

inline Shape shape() {
    Shape shape;
    shape.nodes_min = number(1000);
    shape.nodes_max = maybe_number();
    shape.ntasks = maybe_number();
    shape.ntasks_per_node = maybe_number();
    shape.cpus_per_task = number(1000);
    shape.cpus_per_task_set = coin();
    shape.mem_per_node = maybe_number();
    shape.mem_per_cpu = maybe_number();
    shape.gres_per_node = gres();
    shape.gpus = gres();
    shape.gpus_per_task = gres();
    shape.constraint = text();
    shape.nodelist = text();
    shape.exclude = text();
    shape.exclusive = one_of(Exclusive::User);
    shape.oversubscribe = coin();
    shape.cpus_min = maybe_number();
    shape.cpus_min_per_node = maybe_number();
    shape.tmp_min = maybe_number();
    for (std::optional<std::uint32_t> Shape::*member :
         {&Shape::ntasks_per_socket, &Shape::ntasks_per_core, &Shape::ntasks_per_gpu,
          &Shape::cpus_per_gpu, &Shape::sockets_per_node, &Shape::cores_per_socket,
          &Shape::threads_per_core, &Shape::core_spec, &Shape::thread_spec, &Shape::switches_max}) {
        shape.*member = maybe_number();
    }
    for (bool Shape::*member : {&Shape::one_thread_per_core, &Shape::spread, &Shape::use_min_nodes,
                                &Shape::contiguous, &Shape::bind_gpus_to_cores}) {
        shape.*member = coin();
    }
    shape.mem_per_gpu = maybe_number();
    shape.gpus_per_socket = gres();
    shape.prefer = text();
    shape.node_sizes = text();
    shape.switches_wait = Seconds{number(1u << 20)};
    return shape;
}

inline JobRequest request() {
    JobRequest request;
    for (std::string JobTerms::*member :
         {&JobTerms::partition, &JobTerms::account, &JobTerms::qos, &JobTerms::wckey,
          &JobTerms::reservation, &JobTerms::licenses, &JobTerms::mail_user, &JobTerms::mail_types,
          &JobTerms::submit_host, &JobTerms::tres_bind, &JobTerms::tres_freq}) {
        request.*member = text();
    }
    for (std::string JobDetails::*member :
         {&JobDetails::name, &JobDetails::comment, &JobDetails::dependency, &JobDetails::work_dir,
          &JobDetails::std_in, &JobDetails::std_out, &JobDetails::std_err, &JobDetails::command,
          &JobDetails::submit_line, &JobDetails::script_hash, &JobDetails::environment_hash}) {
        request.*member = text();
    }
    for (bool JobTerms::*member :
         {&JobRequest::hold, &JobRequest::requeue, &JobRequest::requeue_set, &JobRequest::immediate,
          &JobRequest::kill_on_node_fail, &JobRequest::get_user_env}) {
        request.*member = coin();
    }
    for (std::string* hash : {&request.script_hash, &request.environment_hash})
        hash->resize(std::min<std::size_t>(hash->size(), 64));
    request.licenses = coin() ? "" : "matlab:2,ansys:1";
    request.kind = one_of(JobKind::Salloc);
    request.open_mode = one_of(OpenMode::Truncate);
    request.script_args = texts();
    request.submit_sid = number(1u << 30);
    request.time_limit = maybe(time_limit);
    request.time_min = maybe(time_limit);
    request.begin = maybe_time();
    request.deadline = maybe_time();
    request.priority = maybe_number();
    if (coin()) request.kill_on_invalid_dep = coin();
    request.nice = *rc::gen::inRange(-2147483645, 2147483645);
    request.warn_signal = maybe([] {
        return WarnSignal{static_cast<int>(number(65)), Seconds{number(65536)}, coin(), coin()};
    });
    request.array = maybe([] { return ArraySpec{task_set(), number(100)}; });
    request.umask = number(01000);
    request.rlimits = list([] { return std::pair(text(), *rc::gen::arbitrary<std::uint64_t>()); });
    request.shape = shape();
    return request;
}

inline NodeShare node_share(std::uint32_t node) {
    NodeShare share;
    share.node = NodeIndex{node};
    share.tasks = number(100);
    share.cpus = list([] { return number(256); });
    share.memory = number(1u << 30);
    share.gres = list([] {
        return NodeShare::Devices{text(), text(), list([] { return number(16); }), number(16)};
    });
    return share;
}

// On some of the nodes 0 .. node_count - 1, in order.
inline std::vector<NodeShare> node_shares(std::uint32_t node_count) {
    std::vector<NodeShare> shares;
    for (std::uint32_t node = 0; node < node_count; ++node) {
        if (coin()) shares.push_back(node_share(node));
    }
    return shares;
}

inline ExitStatus exit_status() {
    return {static_cast<std::uint8_t>(number(256)), static_cast<std::uint8_t>(number(65)), coin()};
}

inline Usage usage() {
    const auto time = [] { return Microseconds{number(1u << 30)}; };
    return {time(), time(), number(1u << 30), text()};
}

inline Step step(std::uint32_t node_count) {
    Step step;
    step.id = StepId{*rc::gen::arbitrary<std::uint32_t>()};
    step.name = text();
    step.user = UserId{number(70000)};
    step.nodes = node_shares(node_count);
    step.node_names = text();
    step.tasks = number(1000);
    step.cpus_per_task = number(1000);
    step.tres_bind = text();
    step.tres_per_node = text();
    step.overlap = coin();
    step.holds_memory = coin();
    step.state = one_of(StepState::OutOfMemory);
    step.start_time = time();
    step.end_time = maybe_time();
    step.time_limit = time_limit();
    step.exit = exit_status();
    step.usage = usage();
    for (const NodeShare& share : step.nodes) {
        if (coin()) step.nodes_left.push_back(share.node);
    }
    return step;
}

}  // namespace sluice::arbitrary

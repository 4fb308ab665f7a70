#include "stepd/pmi_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "os/error.h"

namespace sluice {

namespace {

constexpr std::size_t kAnswersMax = 64u << 10;  // towards a task, before it must read
constexpr std::size_t kNameMax = 256, kKeyMax = 64, kValueMax = 1024;
constexpr std::size_t kAwaitedMax = 64;  // questions of one task
constexpr std::size_t kComplaintsMax = 10;
constexpr const char* kTrue = "TRUE";
constexpr const char* kFalse = "FALSE";

std::string pmi_text(std::uint64_t number) {
    return fmt::format("{}", number);
}

// PMI-1 has a separate name for each answer.
constexpr std::pair<std::string_view, std::string_view> kAnswersOfOne[] = {
    {"init", "response_to_init"},
    {"get_maxes", "maxes"},
    {"get_appnum", "appnum"},
    {"get_my_kvsname", "my_kvsname"},
    {"get_universe_size", "universe_size"},
    {"put", "put_result"},
    {"get", "get_result"},
    {"barrier_in", "barrier_out"},
    {"finalize", "finalize_ack"},
    {"spawn", "spawn_result"},
    {"publish_name", "publish_result"},
    {"unpublish_name", "unpublish_result"},
    {"lookup_name", "lookup_result"},
    {"create_kvs", "newkvs"},
    {"destroy_kvs", "kvs_destroyed"},
    {"getbyidx", "getbyidx_results"},
};

// PMI-2. Libraries look for the one or the other of the first two.
PmiCommand::Fields found_fields(const std::optional<std::string>& value) {
    PmiCommand::Fields fields;
    for (const char* name : {"flag", "found"}) fields.emplace_back(name, value ? kTrue : kFalse);
    if (value) fields.emplace_back("value", *value);
    return fields;
}

std::string answer_name(PmiDialect dialect, const std::string& request) {
    if (dialect == PmiDialect::Two) return request + "-response";
    for (const auto& [name, answer] : kAnswersOfOne) {
        if (name == request) return std::string(answer);
    }
    return request + "_result";
}

}  // namespace

// clang-format off
const PmiServer::Row PmiServer::kRows[] = {
    {PmiDialect::One, "init",              &PmiServer::on_init},
    {PmiDialect::One, "get_maxes",         &PmiServer::on_maxes},
    {PmiDialect::One, "get_appnum",        &PmiServer::on_application},
    {PmiDialect::One, "get_universe_size", &PmiServer::on_universe},
    {PmiDialect::One, "get_my_kvsname",    &PmiServer::on_name},
    {PmiDialect::One, "put",               &PmiServer::on_put},
    {PmiDialect::One, "get",               &PmiServer::on_get},
    {PmiDialect::One, "barrier_in",        &PmiServer::on_fence},
    {PmiDialect::One, "finalize",          &PmiServer::on_finalize},
    {PmiDialect::One, "abort",             &PmiServer::on_abort},
    {PmiDialect::One, "spawn",             &PmiServer::on_spawn},
    {PmiDialect::Two, "fullinit",          &PmiServer::on_full_init},
    {PmiDialect::Two, "job-getid",         &PmiServer::on_name},
    {PmiDialect::Two, "kvs-put",           &PmiServer::on_put},
    {PmiDialect::Two, "kvs-get",           &PmiServer::on_get},
    {PmiDialect::Two, "kvs-fence",         &PmiServer::on_fence},
    {PmiDialect::Two, "info-putnodeattr",  &PmiServer::on_put_node},
    {PmiDialect::Two, "info-getnodeattr",  &PmiServer::on_get_node},
    {PmiDialect::Two, "info-getjobattr",   &PmiServer::on_get_job},
    {PmiDialect::Two, "finalize",          &PmiServer::on_finalize},
    {PmiDialect::Two, "abort",             &PmiServer::on_abort},
    {PmiDialect::Two, "spawn",             &PmiServer::on_spawn},
};
// clang-format on

PmiServer::PmiServer(EventLoop& loop, const wire::StepOrder& order, Handlers handlers)
    : loop_(loop),
      launch_(order.tasks()),
      name_(fmt::format("{}.{}", order.run().job(), order.run().step())),
      handlers_(std::move(handlers)) {}

Result<void> PmiServer::start() {
    for (std::uint32_t id : launch_.task_ids()) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            return os_error("socketpair");
        }
        Client& client = *clients_.emplace_back(std::make_unique<Client>());
        client.task = id;
        client.theirs.reset(pair[1]);
        client.stream = std::make_unique<Stream>(
            loop_, Fd(pair[0]),
            Stream::Handlers{[this, &client](std::string_view bytes) { on_data(client, bytes); },
                             [this, &client] { on_close(client); },
                             [&client] { client.stream->read_more(true); }});
    }
    handlers_.on_ready({});
    return {};
}

Result<void> PmiServer::add_task(std::size_t local, Environment& environment, ProcessSpec& spec) {
    spec.inherited = clients_[local]->theirs.get();
    environment.set("PMI_FD", pmi_text(kInheritedFd));
    environment.set("PMI_RANK", pmi_text(clients_[local]->task));
    environment.set("PMI_SIZE", pmi_text(launch_.total_tasks()));
    environment.set("PMI_JOBID", name_);
    return {};
}

void PmiServer::task_started(std::size_t local) {
    clients_[local]->theirs.reset();
}

// MPICH shuts the connection down with MPI_Finalize, for all processes that have it.
std::string PmiServer::hint(std::size_t local) const {
    const Client& client = *clients_[local];
    if (client.program == 0 || client.joined || !client.stream->closed()) return {};
    return "an MPI program of this task has closed the connection to PMI at its end; another one "
           "needs an srun of its own";
}

void PmiServer::finish() {
    for (auto& client : clients_) {
        client->joined = false;
        client->stream->close();
    }
}

void PmiServer::on_data(Client& client, std::string_view bytes) {
    client.reader.feed(client.aborted ? "" : bytes);
    while (!client.stream->closed() && !client.aborted) {
        Result<std::optional<PmiCommand>> command = client.reader.next();
        if (!command) return cut_off(client, command.error().detail);
        if (!*command) return;
        const PmiCommand& request = **command;
        const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) {
            return each.dialect == client.reader.dialect() && each.name == request.name;
        });
        if (row == std::end(kRows)) {
            on_unsupported(client, request);
        } else {
            (this->*row->action)(client, request);
        }
        if (!client.stream->closed() && client.stream->backlog() > kAnswersMax) {
            client.stream->read_more(false);
        }
    }
}

// Of the task and all that it has started. A task that MPI still counts on must not go in silence:
// the others would wait for it.
void PmiServer::on_close(Client& client) {
    if (!std::exchange(client.joined, false)) return;
    wire::StepOutput output;
    output.mutable_abort()->set_task(client.task);
    output.mutable_abort()->set_message("has ended without MPI_Finalize");
    handlers_.send(output);
}

// Not more than a few: a task could otherwise make us keep any number of lines for srun.
void PmiServer::complain(const Client& client, const std::string& text) {
    if (++complaints_ > kComplaintsMax) return;
    handlers_.say(supervisor_line(fmt::format("task {}: PMI: {}", client.task, text)));
}

void PmiServer::cut_off(Client& client, const std::string& why) {
    complain(client, fmt::format("{}; the connection is closed", why));
    client.stream->close();
    on_close(client);
}

void PmiServer::reply(Client& client, const PmiCommand& request, std::string_view name,
                      Fields fields) {
    PmiCommand answer{std::string(name), std::move(fields)};
    // Several threads of a task may ask at once.
    if (auto thread = request.find("thrid")) answer.fields.emplace_back("thrid", *thread);
    client.stream->send(print_pmi(client.reader.dialect(), answer));
}

void PmiServer::answer(Client& client, const PmiCommand& request, Fields fields,
                       std::string_view error) {
    fields.emplace_back("rc", error.empty() ? "0" : "-1");
    if (!error.empty()) {
        const bool is_two = client.reader.dialect() == PmiDialect::Two;
        std::string text(error);
        if (!is_two) std::replace(text.begin(), text.end(), ' ', '_');
        fields.emplace_back(is_two ? "errmsg" : "msg", text);
    }
    reply(client, request, answer_name(client.reader.dialect(), request.name), std::move(fields));
}

void PmiServer::on_init(Client& client, const PmiCommand& request) {
    const bool is_two = request.find("pmi_version") == "2";
    if (!is_two && request.find("pmi_version") != "1") {
        return answer(client, request, {{"pmi_version", "2"}, {"pmi_subversion", "0"}},
                      "unknown version of PMI");
    }
    answer(client, request,
           {{"pmi_version", is_two ? "2" : "1"}, {"pmi_subversion", is_two ? "0" : "1"}});
    client.joined = true;
    ++client.program;
    const auto oldest =
        std::min_element(clients_.begin(), clients_.end(),
                         [](const auto& a, const auto& b) { return a->program < b->program; });
    books_.erase(books_.begin(), books_.lower_bound((*oldest)->program));
    if (is_two) client.reader.set_dialect(PmiDialect::Two);
}

void PmiServer::on_full_init(Client& client, const PmiCommand& request) {
    answer(client, request,
           {{"pmi-version", "2"},
            {"pmi-subversion", "0"},
            {"rank", pmi_text(client.task)},
            {"size", pmi_text(launch_.total_tasks())},
            {"appnum", "0"},
            {"pmijobid", name_},
            {"debugged", kFalse},
            {"pmiverbose", kFalse}});
}

void PmiServer::on_maxes(Client& client, const PmiCommand& request) {
    reply(client, request, "maxes",
          {{"kvsname_max", pmi_text(kNameMax)},
           {"keylen_max", pmi_text(kKeyMax)},
           {"vallen_max", pmi_text(kValueMax)}});
}

void PmiServer::on_application(Client& client, const PmiCommand& request) {
    answer(client, request, {{"appnum", "0"}});
}

void PmiServer::on_universe(Client& client, const PmiCommand& request) {
    answer(client, request, {{"size", pmi_text(launch_.total_tasks())}});
}

void PmiServer::on_name(Client& client, const PmiCommand& request) {
    const bool is_two = client.reader.dialect() == PmiDialect::Two;
    answer(client, request, {{is_two ? "jobid" : "kvsname", name_}});
}

void PmiServer::on_put(Client& client, const PmiCommand& request) {
    const std::string key = request.find("key").value_or(""),
                      value = request.find("value").value_or("");
    if (key.empty()) return answer(client, request, {}, "no key is given");
    Book& book = book_of(client);
    if (book.bytes + key.size() + value.size() > sizes::kExchange / 2) {
        return answer(client, request, {}, "the pairs of the step are too large");
    }
    book.bytes += key.size() + value.size();
    book.pairs[key] = value;
    fresh_.add_keys(key);
    fresh_.add_values(value);
    answer(client, request);
}

void PmiServer::on_get(Client& client, const PmiCommand& request) {
    const std::string key = request.find("key").value_or("");
    const bool is_two = client.reader.dialect() == PmiDialect::Two;
    const Book& book = book_of(client);
    const auto found = book.pairs.find(key);
    std::optional<std::string> value;
    if (found != book.pairs.end()) value = found->second;
    if (!value && !is_two) value = job_attribute(key);
    if (value) {
        return answer(client, request, is_two ? found_fields(value) : Fields{{"value", *value}});
    }
    if (is_two) return answer(client, request, found_fields({}));
    answer(client, request, {{"value", "unknown"}}, "no such key");
}

void PmiServer::on_fence(Client& client, const PmiCommand& request) {
    if (client.fencing) return cut_off(client, "a second fence before the end of the first");
    client.fencing = true;
    client.fence = request;
    if (++fencing_ < clients_.size()) return;
    wire::StepOutput output;
    output.mutable_exchange()->set_key(pmi_text(++fences_));
    fresh_.SerializeToString(output.mutable_exchange()->mutable_data());
    fresh_.Clear();
    incoming_.clear();
    handlers_.send(output);
}

Result<void> PmiServer::on_input(const wire::StepInput& input) {
    const wire::Exchanged& result = input.exchanged();
    if (fencing_ < clients_.size() || result.key() != pmi_text(fences_)) {
        return Error{ErrorCode::BadArgument, "a fence that no task waits for"};
    }
    if (incoming_.size() + result.data().size() > sizes::kExchange) {
        return Error{ErrorCode::BadArgument, "the result of a fence is too large"};
    }
    incoming_ += result.data();
    if (result.last()) end_fence();
    return {};
}

void PmiServer::end_fence() {
    wire::PmiPairs all;
    all.ParseFromString(std::exchange(incoming_, {}));
    Book& book = book_of(*clients_.front());
    for (int i = 0; i < std::min(all.keys_size(), all.values_size()); ++i) {
        const auto [place, is_new] = book.pairs.insert_or_assign(all.keys(i), all.values(i));
        if (is_new) book.bytes += place->first.size() + place->second.size();
    }
    fencing_ = 0;
    for (auto& client : clients_) {
        client->fencing = false;
        if (!client->stream->closed()) answer(*client, client->fence);
    }
}

void PmiServer::on_put_node(Client& client, const PmiCommand& request) {
    const std::string key = request.find("key").value_or(""),
                      value = request.find("value").value_or("");
    Book& book = book_of(client);
    if (book.bytes + key.size() + value.size() > sizes::kExchange / 2) {
        return answer(client, request, {}, "the attributes of the node are too large");
    }
    book.bytes += key.size() + value.size();
    book.node_attributes[key] = value;
    answer(client, request);
    for (auto& each : clients_) {
        std::vector<PmiCommand> awaited = std::exchange(each->awaited, {});
        for (const PmiCommand& question : awaited) {
            if (!each->stream->closed()) on_get_node(*each, question);
        }
    }
}

void PmiServer::on_get_node(Client& client, const PmiCommand& request) {
    const Book& book = book_of(client);
    const auto found = book.node_attributes.find(request.find("key").value_or(""));
    if (found != book.node_attributes.end()) {
        return answer(client, request, found_fields(found->second));
    }
    if (request.find("wait") != kTrue) return answer(client, request, found_fields({}));
    if (client.awaited.size() >= kAwaitedMax)
        return cut_off(client, "too many questions that wait");
    client.awaited.push_back(request);
}

std::optional<std::string> PmiServer::job_attribute(std::string_view key) const {
    if (key == "universeSize") return pmi_text(launch_.total_tasks());
    const bool fits = launch_.process_mapping().size() < kValueMax;
    if (key == "PMI_process_mapping" && fits) return launch_.process_mapping();
    return {};
}

void PmiServer::on_get_job(Client& client, const PmiCommand& request) {
    answer(client, request, found_fields(job_attribute(request.find("key").value_or(""))));
}

// Another program of the same task may follow.
void PmiServer::on_finalize(Client& client, const PmiCommand& request) {
    client.joined = false;
    answer(client, request);
    client.reader.set_dialect(PmiDialect::One);
}

void PmiServer::on_abort(Client& client, const PmiCommand& request) {
    client.joined = false;  // it is known
    wire::StepOutput output;
    wire::StepAbort& abort = *output.mutable_abort();
    const std::string code = request.find("exitcode").value_or("1");
    abort.set_task(client.task);
    abort.set_code(
        static_cast<std::int32_t>(to_number(code).value_or(1) & 0xff));  // as exit() would
    abort.set_message(request.find("msg").value_or(request.find("error_msg").value_or("")));
    handlers_.send(output);
    client.aborted = true;
}

// PMI-1 sends one command for each of the programs, and wants one answer.
void PmiServer::on_spawn(Client& client, const PmiCommand& request) {
    if (request.find("spawnssofar") != request.find("totspawns")) return;
    on_unsupported(client, request);
}

void PmiServer::on_unsupported(Client& client, const PmiCommand& request) {
    const std::string text = fmt::format("{} is not supported by Sluice", request.name);
    complain(client, text);
    answer(client, request, {}, text);
}

}  // namespace sluice

#include "mpi/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "model/errors.h"
#include "mpi/callbacks.h"
#include "mpi/information.h"
#include "os/files.h"

namespace sluice {

namespace {

Result<void> check(pmix_status_t status, const char* what) {
    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED) return {};
    return Error{ErrorCode::LaunchFailed, fmt::format("{}: {}", what, PMIx_Error_string(status))};
}

// The library frees nothing that we give it before it has called this.
void release(void* data) {
    delete static_cast<std::string*>(data);
}

void deliver(pmix_modex_cbfunc_t done, void* argument, pmix_status_t status, std::string data) {
    auto* kept = new std::string(std::move(data));
    done(status, kept->data(), kept->size(), argument, release, kept);
}

}  // namespace

PmixServer::PmixServer(Line& line, StepLayout layout, std::string directory)
    : line_(line), layout_(std::move(layout)), directory_(std::move(directory)) {}

bool PmixServer::is_ours(const pmix_proc_t& task) const {
    return layout_.name_space == task.nspace && task.rank < layout_.node_of_task.size();
}

pmix_proc_t PmixServer::process(std::uint32_t task) const {
    pmix_proc_t process;
    PMIX_LOAD_PROCID(&process, layout_.name_space.c_str(), task);
    return process;
}

Result<wire::PmixReady> PmixServer::start() {
    TRY(start_library());
    TRY(describe_step());
    wire::PmixReady ready;
    for (std::uint32_t task : layout_.local_tasks()) {
        const pmix_proc_t process = this->process(task);
        Completion registered;
        const pmix_status_t status = PMIx_server_register_client(
            &process, getuid(), getgid(), nullptr, Completion::done, &registered);
        TRY(check(registered.wait(status), "a task cannot be registered"));
        char** variables = nullptr;
        TRY(check(PMIx_server_setup_fork(&process, &variables), "a task has no environment"));
        std::string block;
        for (char** each = variables; each && *each; ++each) {
            block.append(*each).push_back('\0');
            std::free(*each);
        }
        std::free(variables);
        ready.add_variables(block);
    }
    return ready;
}

Result<void> PmixServer::start_library() {
    Information information;
    information.add(PMIX_SERVER_TMPDIR, directory_);
    information.add(PMIX_SYSTEM_TMPDIR, directory_);
    information.add(PMIX_SERVER_NSPACE, layout_.name_space + ".server");
    information.add_rank(PMIX_SERVER_RANK, layout_.own_node);
    information.add(PMIX_HOSTNAME, layout_.nodes[layout_.own_node]);
    information.add(PMIX_SERVER_TOOL_SUPPORT, false);
    pmix_server_module_t* module = callbacks_of(*this);
    TRY(check(PMIx_server_init(module, information.data(), information.size()),
              "the PMIx server cannot start"));
    watch_events();
    return {};
}

Result<void> PmixServer::describe_step() {
    char *nodes = nullptr, *tasks = nullptr;
    TRY(check(PMIx_generate_regex(layout_.node_list().c_str(), &nodes), "list of nodes"));
    TRY(check(PMIx_generate_ppn(layout_.task_lists().c_str(), &tasks), "list of tasks"));
    const std::vector<std::uint32_t>& own = layout_.local_tasks();
    const auto total = static_cast<std::uint32_t>(layout_.node_of_task.size());
    Information step;
    for (const char* key : {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_MAX_PROCS}) step.add(key, total);
    step.add(PMIX_NUM_NODES, static_cast<std::uint32_t>(layout_.nodes.size()));
    step.add(PMIX_JOBID, layout_.name_space);
    step.add_regex(PMIX_NODE_MAP, nodes);
    step.add_regex(PMIX_PROC_MAP, tasks);
    step.add(PMIX_NODEID, layout_.own_node);
    step.add(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(own.size()));
    step.add(PMIX_NODE_SIZE, static_cast<std::uint32_t>(own.size()));
    step.add(PMIX_LOCAL_PEERS, fmt::format("{}", fmt::join(own, ",")));
    step.add_rank(PMIX_LOCALLDR, own.front());
    step.add_rank(PMIX_NPROC_OFFSET, 0);
    step.add(PMIX_TMPDIR, directory_);
    step.add(PMIX_NSDIR, directory_);
    step.add(PMIX_TDIR_RMCLEAN, true);
    for (std::uint32_t task = 0; task < total; ++task) step.add_task(layout_, task);
    Completion registered;
    const pmix_status_t status =
        PMIx_server_register_nspace(layout_.name_space.c_str(), static_cast<int>(own.size()),
                                    step.data(), step.size(), Completion::done, &registered);
    std::free(nodes);
    std::free(tasks);
    return check(registered.wait(status), "the step cannot be registered");
}

void PmixServer::fence(const pmix_proc_t* tasks, std::size_t count, std::string data,
                       pmix_modex_cbfunc_t done, void* argument) {
    std::set<std::uint32_t> ranks;
    bool is_all = count == 0;
    for (std::size_t i = 0; i < count; ++i) {
        is_all = is_all || tasks[i].rank == PMIX_RANK_WILDCARD;
        ranks.insert(tasks[i].rank);
    }
    if (is_all) ranks.clear();
    const std::vector<std::uint32_t> sorted(ranks.begin(), ranks.end());
    wire::StepOutput output;
    wire::Exchange& exchange = *output.mutable_exchange();
    const std::string name = exchange_name(sorted);
    for (std::uint32_t node : layout_.nodes_of(sorted)) exchange.add_nodes(node);
    exchange.set_data(std::move(data));
    {
        const std::lock_guard lock(mutex_);
        exchange.set_key(fmt::format("{}#{}", name, ++fences_[name]));
        fencing_[exchange.key()] = {done, argument, {}};
    }
    line_.write(output);
}

pmix_status_t PmixServer::ask(const pmix_proc_t& task, pmix_modex_cbfunc_t done, void* argument) {
    if (!is_ours(task)) return PMIX_ERR_NOT_FOUND;
    wire::StepOutput output;
    wire::Parcel& parcel = *output.mutable_parcel();
    parcel.set_node(layout_.node_of_task[task.rank]);
    parcel.set_task(task.rank);
    {
        const std::lock_guard lock(mutex_);
        parcel.set_number(++questions_);
        asking_[questions_] = {done, argument, {}};
    }
    line_.write(output);
    return PMIX_SUCCESS;
}

void PmixServer::abort(const pmix_proc_t& task, int status, const char* message) {
    finalized(task);  // its end is explained
    wire::StepOutput output;
    output.mutable_abort()->set_task(task.rank);
    output.mutable_abort()->set_code(status);
    output.mutable_abort()->set_message(message);
    line_.write(output);
}

void PmixServer::finalized(const pmix_proc_t& task) {
    const std::lock_guard lock(mutex_);
    finalized_.insert(task.rank);
}

void PmixServer::lost(const pmix_proc_t& task) {
    {
        const std::lock_guard lock(mutex_);
        if (!is_ours(task) || !finalized_.insert(task.rank).second) return;
    }
    wire::StepOutput output;
    output.mutable_abort()->set_task(task.rank);
    output.mutable_abort()->set_message("has ended without MPI_Finalize");
    line_.write(output);
}

void PmixServer::on_input(const wire::StepInput& input) {
    if (input.has_exchanged()) on_exchanged(input.exchanged());
    if (input.has_parcel()) on_parcel(input.parcel());
}

void PmixServer::on_exchanged(const wire::Exchanged& result) {
    Waiting whole;
    {
        const std::lock_guard lock(mutex_);
        const auto found = fencing_.find(result.key());
        if (found == fencing_.end()) return;
        found->second.data += result.data();
        if (!result.last()) return;
        whole = std::move(found->second);
        fencing_.erase(found);
    }
    deliver(whole.done, whole.argument, PMIX_SUCCESS, std::move(whole.data));
}

void PmixServer::on_parcel(const wire::Parcel& parcel) {
    if (!parcel.answer()) return answer(parcel);
    Waiting waiting;
    {
        const std::lock_guard lock(mutex_);
        const auto found = asking_.find(parcel.number());
        if (found == asking_.end()) return;
        waiting = found->second;
        asking_.erase(found);
    }
    deliver(waiting.done, waiting.argument, parcel.status(), parcel.data());
}

// The library calls back when the task has committed its data, which may be later.
void PmixServer::answer(const wire::Parcel& question) {
    struct Answer {
        Line& line;
        wire::StepOutput output;
        void send(pmix_status_t status, std::string_view data) {
            output.mutable_parcel()->set_status(status);
            output.mutable_parcel()->set_data(data.data(), data.size());
            line.write(output);
        }
    };
    auto answer = std::make_unique<Answer>(Answer{line_, {}});
    *answer->output.mutable_parcel() = question;
    answer->output.mutable_parcel()->set_answer(true);
    const pmix_proc_t task = process(question.task());
    const auto respond = [](pmix_status_t status, char* data, std::size_t size, void* argument) {
        const std::unique_ptr<Answer> answer(static_cast<Answer*>(argument));
        answer->send(status, {data, data ? size : 0});
    };
    const pmix_status_t status = PMIx_server_dmodex_request(&task, respond, answer.get());
    if (status == PMIX_SUCCESS) {
        (void)answer.release();  // respond() owns it
    } else {
        answer->send(status, {});
    }
}

}  // namespace sluice

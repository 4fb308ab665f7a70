// stepd/pmi_server.h
//
// Serves PMI-1 and PMI-2 to the tasks of a node: their numbers, pairs that they put, and fences
// after which each task sees the pairs of all (srun --mpi=pmi2). A task can neither fill our memory
// nor make us wait: commands and pairs have limits, and a task that does not read its answers is
// not read either.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/event_loop.h"
#include "os/stream.h"
#include "stepd/pmi.h"
#include "stepd/pmi_wire.h"

namespace sluice {

class PmiServer : public Pmi {
public:
    PmiServer(EventLoop& loop, const wire::StepOrder& order, Handlers handlers);

    Result<void> start() override;
    Result<void> add_task(std::size_t local, Environment& environment, ProcessSpec& spec) override;
    void task_started(std::size_t local) override;
    Result<void> on_input(const wire::StepInput& input) override;
    std::string hint(std::size_t local) const override;
    void finish() override;

private:
    struct Client {
        std::uint32_t task = 0;
        Fd theirs;  // until the task has it
        std::unique_ptr<Stream> stream;
        PmiReader reader;
        std::uint32_t program = 0;        // of the task's programs that use PMI, from 1 on
        bool joined = false;              // between init and finalize
        bool aborted = false;             // waits to be ended, and is not listened to
        bool fencing = false;             // waits for all others
        PmiCommand fence;                 // what it asked
        std::vector<PmiCommand> awaited;  // info-getnodeattr that wait for the attribute
    };
    using Fields = PmiCommand::Fields;
    using Action = void (PmiServer::*)(Client&, const PmiCommand&);
    struct Row {
        PmiDialect dialect;
        std::string_view name;
        Action action;
    };
    static const Row kRows[];

    void on_data(Client& client, std::string_view bytes);
    void on_close(Client& client);
    void complain(const Client& client, const std::string& text);
    void cut_off(Client& client, const std::string& why);
    void reply(Client& client, const PmiCommand& request, std::string_view name, Fields fields);
    // In the dialect of the task: with "rc", and with `error` if there is one.
    void answer(Client& client, const PmiCommand& request, Fields fields = {},
                std::string_view error = {});
    void end_fence();
    std::optional<std::string> job_attribute(std::string_view key) const;

    void on_init(Client& client, const PmiCommand& request);
    void on_full_init(Client& client, const PmiCommand& request);
    void on_maxes(Client& client, const PmiCommand& request);
    void on_application(Client& client, const PmiCommand& request);
    void on_universe(Client& client, const PmiCommand& request);
    void on_name(Client& client, const PmiCommand& request);
    void on_put(Client& client, const PmiCommand& request);
    void on_get(Client& client, const PmiCommand& request);
    void on_fence(Client& client, const PmiCommand& request);
    void on_put_node(Client& client, const PmiCommand& request);
    void on_get_node(Client& client, const PmiCommand& request);
    void on_get_job(Client& client, const PmiCommand& request);
    void on_finalize(Client& client, const PmiCommand& request);
    void on_abort(Client& client, const PmiCommand& request);
    void on_spawn(Client& client, const PmiCommand& request);
    void on_unsupported(Client& client, const PmiCommand& request);

    EventLoop& loop_;
    const wire::LaunchTasks& launch_;
    std::string name_;  // of the step: "12.0"
    Handlers handlers_;
    std::vector<std::unique_ptr<Client>> clients_;  // by local number
    // What the tasks have put. Programs of a task that follow each other see nothing of those
    // before.
    struct Book {
        std::map<std::string, std::string> pairs;  // of all nodes, and of this one
        std::map<std::string, std::string> node_attributes;
        std::size_t bytes = 0;  // of both
    };
    Book& book_of(const Client& client) { return books_[client.program]; }
    std::map<std::uint32_t, Book> books_;  // by program
    wire::PmiPairs fresh_;                 // put here since the last fence
    std::size_t fencing_ = 0;              // tasks that wait
    std::uint64_t fences_ = 0;
    std::string incoming_;  // of the fence's result
    std::size_t complaints_ = 0;
};

}  // namespace sluice

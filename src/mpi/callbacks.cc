#include "mpi/callbacks.h"

#include <pmix.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "mpi/server.h"

namespace sluice {

namespace {

// The library passes nothing of ours to its callbacks.
PmixServer* the_server = nullptr;  // NOLINT(*-avoid-non-const-global-variables)

pmix_status_t on_connected(const pmix_proc_t*, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t,
                           void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* task, void*, pmix_op_cbfunc_t, void*) {
    the_server->finalized(*task);
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* task, void*, int status, const char message[],
                       pmix_proc_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    // Open MPI's word for "none".
    const bool has_message = message && std::string_view(message) != "N/A";
    the_server->abort(*task, status, has_message ? message : "");
    return PMIX_OPERATION_SUCCEEDED;
}

// The data are ours to free.
pmix_status_t on_fence(const pmix_proc_t tasks[], std::size_t count, const pmix_info_t*,
                       std::size_t, char* data, std::size_t size, pmix_modex_cbfunc_t done,
                       void* argument) {
    the_server->fence(tasks, count, data ? std::string(data, size) : std::string(), done, argument);
    std::free(data);
    return PMIX_SUCCESS;
}

pmix_status_t on_question(const pmix_proc_t* task, const pmix_info_t*, std::size_t,
                          pmix_modex_cbfunc_t done, void* argument) {
    return the_server->ask(*task, done, argument);
}

// Events of the tasks of this node come from the library itself; no others are reported.
pmix_status_t on_register_events(pmix_status_t*, std::size_t, const pmix_info_t*, std::size_t,
                                 pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_deregister_events(pmix_status_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

void on_event(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t*,
              std::size_t, pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t done,
              void* argument) {
    if (status == PMIX_ERR_LOST_CONNECTION && source) the_server->lost(*source);
    if (done) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, argument);
}

}  // namespace

// What is absent (spawn, publish, connect, groups, ...) is refused by the library as not supported.
pmix_server_module_t* callbacks_of(PmixServer& server) {
    static pmix_server_module_t module{};
    the_server = &server;
    module.client_connected2 = on_connected;
    module.client_finalized = on_finalized;
    module.abort = on_abort;
    module.fence_nb = on_fence;
    module.direct_modex = on_question;
    module.register_events = on_register_events;
    module.deregister_events = on_deregister_events;
    return &module;
}

void watch_events() {
    PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_event, nullptr, nullptr);
}

}  // namespace sluice

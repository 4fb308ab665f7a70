// mpi/callbacks.h
//
// The functions that the PMIx library calls. They have no place for an object: there is one server
// in a process.
#pragma once

#include <pmix_server.h>

namespace sluice {

class PmixServer;

pmix_server_module_t* callbacks_of(PmixServer& server);
void watch_events();  // from now on, tasks that are lost

}  // namespace sluice

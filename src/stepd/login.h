// stepd/login.h
//
// The environment that a user would have after logging in (--get-user-env, --export=NONE).
#pragma once

#include <chrono>

#include "os/user.h"
#include "stepd/environment.h"

namespace sluice {

// What little is known without running anything: HOME, USER, LOGNAME, SHELL, PATH.
Environment minimal_environment(const User& user);

// Runs the user's login shell, in the process that becomes the script. A shell that does not answer
// in time is killed and leaves the minimal environment.
Environment login_environment(const User& user, std::chrono::milliseconds timeout);

}  // namespace sluice

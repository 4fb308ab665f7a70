// os/twin.h
//
// The one-shot tools are linked statically, because the dynamic loader takes longer than their
// work. What a static program cannot do is ask the system's plugins: NSS for users and hosts,
// libmunge. A tool that comes to need them becomes its twin, which is the same program linked
// dynamically, at PREFIX/lib/sluice/<name>: same arguments, same environment, from the start.
//
// For that a static tool leaves no traces until its end: it writes its output then, hands back
// what it has read from its input, and says keep_this_program() before it changes anything.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

bool is_static_program();

// A static program becomes its twin here, so that the call does not return, unless it is too late
// for that. Any other simply goes on.
void use_twin();

// Before any use of the plugins: use_twin(), and whether this program can go on to use them.
bool may_use_plugins();

// From now on something has happened that must not happen twice.
void keep_this_program();

// True: this program can still become its twin.
bool has_twin();

// Where the twin of the program at `path` is: "/usr/sbin/x" has it at "/usr/lib/sluice/x".
std::string twin_of(std::string_view path);

// What was read from descriptor `fd` can be read from there once more.
void hand_back_input(int fd, std::string_view bytes);

}  // namespace sluice

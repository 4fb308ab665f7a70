// cli/common/tool.h
//
// What every tool has in common: how it was called, where its words go, and how it says that
// something went wrong. A tool is `int run(const Invocation&, Client&, Streams&)`, so that tests
// can call it without a cluster; main.cc only hands it the real world (run_tool).
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/common/environment.h"

namespace sluice {

class Client;

struct Invocation {
    std::string tool;               // "sbatch": how errors are prefixed
    std::vector<std::string> args;  // after the program's name
    Environment environment;
    std::string directory;          // current one
    bool has_name_services = true;  // false: a static program
};

// Standard input, output and error. out() may keep text back until flush().
class Streams {
public:
    virtual ~Streams() = default;
    virtual void out(std::string_view text) = 0;
    // The same, without a copy where the stream keeps the text.
    // NOLINTNEXTLINE(performance-unnecessary-value-param)
    virtual void out_long(std::string text) { out(text); }
    virtual void err(std::string_view text) = 0;    // goes out at once, after what out() was given
    virtual Result<std::string> read_all() = 0;     // standard input to its end
    virtual bool read_line(std::string& line) = 0;  // false: end of input
    virtual bool out_is_terminal() const = 0;
    virtual void flush() = 0;
};

// "sbatch: error: ..." and its kin; each line of a longer text gets the prefix.
void print_error(Streams& streams, const Invocation& invocation, std::string_view text);
void print_warning(Streams& streams, const Invocation& invocation, std::string_view text);
void print_fatal(Streams& streams, const Invocation& invocation, std::string_view text);
void print_info(Streams& streams, const Invocation& invocation, std::string_view text);
// A request that the controller refused: what was wrong with it, then the line that scripts look
// for.
void print_refusal(Streams& streams, const Invocation& invocation, std::string_view what,
                   const Error& error);
// A mistake on the command line that getopt would report, with the hint to --help.
void print_usage_error(Streams& streams, const Invocation& invocation, const Error& error);
void print_version(Streams& streams);

// The code for "something of Slurm's went wrong": SLURM_EXIT_ERROR, else `code`.
int exit_code_for_error(const Invocation& invocation, int code = 1);

using ToolFunction = int (*)(const Invocation&, Client&, Streams&);
// Runs the tool with the process's own arguments, environment, streams and cluster.
int run_tool(std::string_view tool, int argc, char** argv, ToolFunction run);
// The same in a static program, which can talk to a controller of this host only. Where the
// controller is elsewhere, or an argument begins with one of `needs_names`, the process is replaced
// by the dynamic program of that name in libexec/sluice, before anything is read or written.
int run_static_tool(std::string_view tool, int argc, char** argv, ToolFunction run,
                    std::initializer_list<std::string_view> needs_names);

}  // namespace sluice

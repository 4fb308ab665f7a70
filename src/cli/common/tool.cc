#include "cli/common/tool.h"

#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/text.h"
#include "cli/client/client.h"
#include "model/errors.h"
#include "model/times.h"
#include "model/version.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

void print_lines(Streams& streams, std::string_view prefix, std::string_view text) {
    std::string lines;
    for (std::string_view line : split(text, '\n'))
        fmt::format_to(std::back_inserter(lines), "{}{}\n", prefix, line);
    streams.err(lines);
}

class ProcessStreams : public Streams {
public:
    ~ProcessStreams() override { flush(); }

    void out(std::string_view text) override {
        append(STDOUT_FILENO, text);
        if (pending_.back().text.size() >= kPendingMax) flush();
    }
    void out_long(std::string text) override {
        pending_.push_back({STDOUT_FILENO, std::move(text)});
        flush();
    }
    void err(std::string_view text) override {
        append(STDERR_FILENO, text);
        flush();
    }
    Result<std::string> read_all() override {
        std::string text = std::move(input_);
        while (read_some()) {
            text += input_;
            input_.clear();
        }
        return text;
    }
    bool read_line(std::string& line) override {
        std::size_t end = 0;
        while ((end = input_.find('\n')) == std::string::npos && read_some()) {
        }
        line = input_.substr(0, end);
        bool any = !input_.empty();
        input_.erase(0, end == std::string::npos ? end : end + 1);
        return any;
    }
    bool out_is_terminal() const override { return isatty(STDOUT_FILENO); }
    void flush() override {
        for (const Piece& piece : pending_) write_all(piece.fd, piece.text);
        pending_.clear();
    }
    // A pipe takes what there is to write at once.
    bool is_brief() const {
        return pending_.empty() ||
               (pending_.size() == 1 && pending_.front().text.size() <= PIPE_BUF);
    }

private:
    static constexpr std::size_t kPendingMax = 1u << 20;

    struct Piece {
        int fd;
        std::string text;
    };

    void append(int fd, std::string_view text) {
        if (pending_.empty() || pending_.back().fd != fd) pending_.push_back({fd, {}});
        pending_.back().text += text;
    }

    // Appends what comes next to input_; false at the end.
    bool read_some() {
        char buffer[65536];
        ssize_t size = read(STDIN_FILENO, buffer, sizeof buffer);
        if (size <= 0) return false;
        input_.append(buffer, static_cast<std::size_t>(size));
        return true;
    }

    std::vector<Piece> pending_;
    std::string input_;  // read, not yet given out
};

std::string current_directory(const Environment& environment) {
    char buffer[PATH_MAX];
    if (getcwd(buffer, sizeof buffer)) return buffer;
    return std::string(environment.find("PWD").value_or("/"));
}

}  // namespace

void print_error(Streams& streams, const Invocation& invocation, std::string_view text) {
    // Compat: errors about times are printed without the name of the tool.
    const std::size_t line = text.find('\n');
    if (text.starts_with(kNoMoment) && line != std::string_view::npos) {
        streams.err(text.substr(0, line + 1));
        text.remove_prefix(line + 1);
    }
    print_lines(streams, invocation.tool + ": error: ", text);
}

void print_warning(Streams& streams, const Invocation& invocation, std::string_view text) {
    print_lines(streams, invocation.tool + ": warning: ", text);
}

void print_fatal(Streams& streams, const Invocation& invocation, std::string_view text) {
    print_lines(streams, invocation.tool + ": fatal: ", text);
}

void print_info(Streams& streams, const Invocation& invocation, std::string_view text) {
    print_lines(streams, invocation.tool + ": ", text);
}

void print_refusal(Streams& streams, const Invocation& invocation, std::string_view what,
                   const Error& error) {
    if (!error.detail.empty()) print_error(streams, invocation, error.detail);
    print_error(streams, invocation, fmt::format("{}: {}", what, text_of(error.code)));
    if (!error.hint.empty()) print_info(streams, invocation, error.hint);
}

void print_usage_error(Streams& streams, const Invocation& invocation, const Error& error) {
    streams.err(fmt::format("{0}: {1}\nTry \"{0} --help\" for more information\n", invocation.tool,
                            error.detail));
    if (!error.hint.empty()) print_info(streams, invocation, error.hint);
}

void print_version(Streams& streams) {
    streams.out(fmt::format("{}\n", kVersionLine));
}

int exit_code_for_error(const Invocation& invocation, int code) {
    std::optional<std::string_view> asked = invocation.environment.find("SLURM_EXIT_ERROR");
    if (!asked) return code;
    std::optional<std::uint64_t> number = to_number(*asked);
    return number && *number > 0 && *number < 256 ? static_cast<int>(*number) : code;
}

namespace {

Invocation invocation_of_process(std::string_view tool, int argc, char** argv) {
    Invocation invocation{.tool = std::string(tool), .environment = Environment::of_process()};
    for (int i = 1; i < argc; ++i) invocation.args.emplace_back(argv[i]);
    invocation.directory = current_directory(invocation.environment);
    return invocation;
}

int run_and_exit(const Invocation& invocation, ClusterClient& client, ToolFunction run) {
    ProcessStreams streams;
    int code = run(invocation, client, streams);
    // The reader of our output may be slow: close the connection first.
    if (!streams.is_brief()) client.hang_up();
    streams.flush();
    _exit(code);  // the kernel frees a long listing faster than its destructors do
}

}  // namespace

int run_tool(std::string_view tool, int argc, char** argv, ToolFunction run) {
    const Invocation invocation = invocation_of_process(tool, argc, argv);
    ClusterClient client(invocation);
    return run_and_exit(invocation, client, run);
}

int run_static_tool(std::string_view tool, int argc, char** argv, ToolFunction run,
                    std::initializer_list<std::string_view> needs_names) {
    Invocation invocation = invocation_of_process(tool, argc, argv);
    invocation.has_name_services = false;
    const bool needs_name = std::any_of(
        invocation.args.begin(), invocation.args.end(), [&](const std::string& argument) {
            return std::any_of(needs_names.begin(), needs_names.end(),
                               [&](std::string_view start) { return argument.starts_with(start); });
        });
    std::optional<LocalController> controller;
    if (!needs_name) controller = find_local_controller(invocation.environment);
    if (controller) {
        ClusterClient client(invocation, std::move(*controller));
        return run_and_exit(invocation, client, run);
    }
    const std::string path =
        fmt::format("{}/../libexec/sluice/{}", directory_of(own_program_path()), tool);
    execv(path.c_str(), argv);
    write_all(STDERR_FILENO, fmt::format("{}: error: {}\n", tool, os_error(path).detail));
    return 1;
}

}  // namespace sluice

#include "os/twin.h"

#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "os/files.h"

namespace sluice {

namespace {

// A program without an interpreter has no dynamic loader.
bool has_no_interpreter() {
    auto is_interpreter = [](dl_phdr_info* program, std::size_t, void* found) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
            if (program->dlpi_phdr[i].p_type == PT_INTERP) *static_cast<bool*>(found) = true;
        }
        return 1;  // the first one is the program itself
    };
    bool found = false;
    dl_iterate_phdr(is_interpreter, &found);
    return !found;
}

// The one thing here that outlives a call: whether this process has done something already.
bool& is_kept() {
    static bool kept = false;
    return kept;
}

// The words that this process was started with, as the kernel has them.
std::vector<char*> split_arguments(std::string& bytes) {
    std::vector<char*> arguments;
    for (std::size_t at = 0; at < bytes.size(); at += std::strlen(&bytes[at]) + 1) {
        arguments.push_back(&bytes[at]);
    }
    arguments.push_back(nullptr);
    return arguments;
}

[[noreturn]] void become_twin() {
    const std::string path = twin_of(own_program_path());
    int failure = 0;
    if (Result<std::string> bytes = read_file("/proc/self/cmdline")) {
        execv(path.c_str(), split_arguments(*bytes).data());
        failure = errno;
    } else {
        failure = ENOENT;
    }
    write_all(STDERR_FILENO, fmt::format("{}: error: cannot run {}, which this needs: {}\n",
                                         base_name(path), path, std::strerror(failure)));
    _exit(1);
}

}  // namespace

bool is_static_program() {
    static const bool is_static = has_no_interpreter();
    return is_static;
}

std::string twin_of(std::string_view path) {
    return fmt::format("{}/lib/sluice/{}", directory_of(directory_of(path)), base_name(path));
}

bool has_twin() {
    return is_static_program() && !is_kept();
}

void use_twin() {
    if (has_twin()) become_twin();
}

bool may_use_plugins() {
    use_twin();
    return !is_static_program();
}

void keep_this_program() {
    is_kept() = true;
}

void hand_back_input(int fd, std::string_view bytes) {
    Fd copy(memfd_create("input", MFD_CLOEXEC));
    bool done = copy && write_all(copy.get(), bytes) && lseek(copy.get(), 0, SEEK_SET) == 0 &&
                dup2(copy.get(), fd) == fd;
    if (!done) keep_this_program();  // the twin would find nothing to read
}

}  // namespace sluice

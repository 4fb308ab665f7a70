#include "stepd/enter.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/text.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"
#include "os/private_directories.h"
#include "os/process.h"
#include "os/self.h"
#include "os/user.h"

namespace sluice {

namespace {

struct Entry {
    std::optional<uid_t> named;
    bool has_mounts = false, shared_mounts = false;
    std::vector<PrivateDirectory> directories;
    struct Identity {
        uid_t user;
        gid_t group;
        std::string directory;
        pid_t parent;
    };
    std::optional<Identity> becomes;
    std::vector<std::string> argv;
};

// Each word has so many values after it; slurmd wrote them.
Result<Entry> parse(const std::vector<std::string_view>& words) {
    Entry entry;
    std::size_t at = 0;
    const auto has = [&](std::string_view word, std::size_t values) {
        return words[at] == word && at + values < words.size();
    };
    const auto number = [&](std::size_t i) {
        return static_cast<std::uint32_t>(to_number(words[at + i]).value_or(UINT32_MAX));
    };
    for (; at < words.size() && words[at] != "--"; ++at) {
        if (has("name", 1)) {
            entry.named = number(1);
            at += 1;
        } else if (has("mounts", 1)) {
            entry.has_mounts = true;
            entry.shared_mounts = words[at + 1] == "shared";
            at += 1;
        } else if (has("show", 2)) {
            entry.directories.push_back({std::string(words[at + 1]), std::string(words[at + 2])});
            at += 2;
        } else if (has("become", 4)) {
            entry.becomes = {number(1), number(2), std::string(words[at + 3]),
                             static_cast<pid_t>(number(4))};
            at += 4;
        } else {
            return Error{ErrorCode::BadArgument, std::string(words[at])};
        }
    }
    for (++at; at < words.size(); ++at) entry.argv.emplace_back(words[at]);
    if (entry.argv.empty()) return Error{ErrorCode::BadArgument, "no program"};
    return entry;
}

Result<void> become_user(const Entry::Identity& wanted, const User& user) {
    setenv("USER", user.name.c_str(), 1);
    setenv("HOME", user.home.c_str(), 1);
    TRY(become(user));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != wanted.parent) _exit(1);  // it ended before
    if (chdir(wanted.directory.c_str()) != 0) return os_error(wanted.directory);
    return {};
}

// The look-ups first: they need the machine's own directories.
Result<void> prepare(const Entry& entry) {
    std::optional<User> user;
    if (entry.becomes) {
        user = TRY(find_user_with_groups(entry.becomes->user, entry.becomes->group));
        if (!user)
            return Error{ErrorCode::UserUnknown,
                         fmt::format("uid {} is not known on this node", entry.becomes->user)};
    }
    if (entry.named) {
        const std::optional<User> found = find_user(*entry.named);
        const std::string name = found ? found->name : std::to_string(*entry.named);
        setenv("SLURM_JOB_USER", name.c_str(), 1);
    }
    if (entry.has_mounts) TRY(enter_private_directories(entry.directories, entry.shared_mounts));
    return entry.becomes ? become_user(*entry.becomes, *user) : Result<void>{};
}

}  // namespace

int enter(const std::vector<std::string_view>& words) {
    const Result<Entry> entry = parse(words);
    if (!entry) {
        write_all(STDERR_FILENO, supervisor_line("enter: " + to_string(entry.error())));
        return EINVAL;
    }
    if (const Result<void> done = prepare(*entry); !done) {
        const std::string& why = done.error().detail;
        if (entry->becomes) {
            write_all(STDOUT_FILENO, fmt::format("problem {}\n", why));
        } else {
            write_all(STDERR_FILENO,
                      supervisor_line(fmt::format("{}: {}", entry->argv.front(), why)));
        }
        return 1;
    }
    const Error error = replace_program(entry->argv);
    const int number = errno;
    write_all(STDERR_FILENO, supervisor_line("execve(): " + error.detail));
    return number;
}

}  // namespace sluice

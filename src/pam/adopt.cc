// pam_slurm_adopt.so: a user without a job on this node cannot log in. The processes of a login
// belong to the container of one of the user's jobs (PrologFlags=Contain). slurmd knows the jobs
// and moves the process that asks; see agent/adoption.h for the question and the answer.
#define PAM_SM_ACCOUNT
#define PAM_SM_SESSION
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pam/options.h"

namespace sluice {

namespace {

constexpr int kError = 2, kInfo = 3, kDebug = 5;  // of log_level=
constexpr int kAnswerSeconds = 10;

struct AdoptAnswer {
    char text[512] = "";
    bool is(const char* word) const { return std::strncmp(text, word, std::strlen(word)) == 0; }
};

class AdoptModule {
public:
    AdoptModule(pam_handle_t* handle, const AdoptOptions& options)
        : handle_(handle), options_(options) {}

    int run() {
        if (options_.bad) {
            say(kError, LOG_ERR, "option '%s' is not supported", options_.bad);
            return PAM_SYSTEM_ERR;
        }
        const char* name = nullptr;
        if (pam_get_user(handle_, &name, nullptr) != PAM_SUCCESS || !name) return PAM_SESSION_ERR;
        const passwd* user = pam_modutil_getpwnam(handle_, name);
        if (!user) {
            say(kError, LOG_ERR, "user '%s' is not known", name);
            return PAM_USER_UNKNOWN;
        }
        if (user->pw_uid == 0) return PAM_IGNORE;  // root repairs nodes
        AdoptAnswer answer;
        if (!ask(user->pw_uid, answer)) return PAM_SYSTEM_ERR;
        return decide(name, answer);
    }

private:
    template <typename... Values>
    void say(int level, int priority, const char* format, Values... values) {
        if (level <= options_.log_level) pam_syslog(handle_, priority, format, values...);
    }

    int decide(const char* name, const AdoptAnswer& answer) {
        if (answer.is("job ")) {
            say(kInfo, LOG_INFO, "the login of %s is part of %s", name, answer.text);
            return PAM_SUCCESS;
        }
        if (answer.is("none")) return without_job(name);
        if (answer.is("several ")) {
            if (options_.unknown == AdoptOptions::Unknown::Allow) return PAM_SUCCESS;
            pam_error(handle_, "Access denied by pam_slurm_adopt: you have %s jobs on this node",
                      answer.text + std::strlen("several "));
            return PAM_PERM_DENIED;
        }
        say(kError, LOG_ERR, "the login of %s is in no job: %s", name, answer.text);
        pam_error(handle_, "Access denied by pam_slurm_adopt: your job could not be joined");
        return PAM_PERM_DENIED;
    }

    int without_job(const char* name) {
        say(kInfo, LOG_INFO, "%s has no job on this node", name);
        if (options_.no_jobs == AdoptOptions::NoJobs::Ignore) return PAM_IGNORE;
        pam_error(handle_,
                  "Access denied by pam_slurm_adopt: you have no active jobs on this node");
        return PAM_PERM_DENIED;
    }

    bool ask(uid_t user, AdoptAnswer& answer) {
        const int fd = connect_slurmd();
        if (fd < 0) return false;
        char question[64];
        const bool newest = options_.unknown == AdoptOptions::Unknown::Newest;
        const int length = std::snprintf(question, sizeof question, "adopt %u %s\n", user,
                                         newest ? "newest" : "only");
        bool is_answered = send(fd, question, static_cast<std::size_t>(length), MSG_NOSIGNAL) ==
                           static_cast<ssize_t>(length);
        is_answered = is_answered && receive(fd, answer);
        close(fd);
        if (!is_answered) say(kError, LOG_ERR, "slurmd of node %s has not answered", node());
        return is_answered;
    }

    // To the end of the line.
    static bool receive(int fd, AdoptAnswer& answer) {
        std::size_t size = 0;
        while (size < sizeof answer.text - 1) {
            const ssize_t count = recv(fd, answer.text + size, sizeof answer.text - 1 - size, 0);
            if (count <= 0) break;
            size += static_cast<std::size_t>(count);
        }
        char* end = static_cast<char*>(std::memchr(answer.text, '\n', size));
        if (end) *end = '\0';
        return end != nullptr;
    }

    int connect_slurmd() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::size_t space = sizeof address.sun_path - 1;  // after the zero byte
        const int length = std::snprintf(address.sun_path + 1, space, "sluice.adopt.%s", node());
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || length <= 0 || static_cast<std::size_t>(length) >= space) return -1;
        const timeval limit{kAnswerSeconds, 0};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                                 static_cast<std::size_t>(length));
        if (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 && is_root(fd))
            return fd;
        say(kError, LOG_ERR, "slurmd of node %s does not listen, or PrologFlags lacks Contain",
            node());
        close(fd);
        return -1;
    }

    // Any user could have taken the name of the socket.
    static bool is_root(int fd) {
        ucred peer{};
        socklen_t size = sizeof peer;
        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
    }

    // Of this host, up to the first dot.
    const char* node() {
        if (options_.node) return options_.node;
        if (host_[0] == '\0' && gethostname(host_, sizeof host_ - 1) == 0) {
            if (char* dot = std::strchr(host_, '.')) *dot = '\0';
            say(kDebug, LOG_DEBUG, "the node is %s", host_);
        }
        return host_;
    }

    pam_handle_t* handle_;
    const AdoptOptions& options_;
    char host_[256] = "";
};

int run_module(pam_handle_t* handle, int count, const char** arguments) {
    const AdoptOptions options = parse_adopt_options(count, arguments);
    return AdoptModule(handle, options).run();
}

}  // namespace

}  // namespace sluice

extern "C" {

[[gnu::visibility("default")]] int pam_sm_acct_mgmt(pam_handle_t* handle, int, int count,
                                                    const char** arguments) {
    return sluice::run_module(handle, count, arguments);
}

[[gnu::visibility("default")]] int pam_sm_open_session(pam_handle_t* handle, int, int count,
                                                       const char** arguments) {
    return sluice::run_module(handle, count, arguments);
}

[[gnu::visibility("default")]] int pam_sm_close_session(pam_handle_t*, int, int, const char**) {
    return PAM_SUCCESS;
}
}

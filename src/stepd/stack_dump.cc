#include "stepd/stack_dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "os/process.h"

namespace sluice {

namespace {

constexpr const char* kUsual[] = {"/usr/bin/py-spy", "/usr/local/bin/py-spy"};
constexpr std::size_t kProcessesMost = 64;
constexpr std::size_t kTextMost = 64u << 10;  // of one process
constexpr std::chrono::seconds kPatience{20};

std::string program_of(const std::string& configured) {
    if (!configured.empty()) return configured;
    for (const char* path : kUsual) {
        if (access(path, X_OK) == 0) return path;
    }
    return {};
}

}  // namespace

void StackDump::start(const std::string& program, const User& user, const std::vector<pid_t>& pids,
                      std::function<void(const std::string&)> say) {
    if (child_ > 0 || !left_.empty()) return;
    program_ = program_of(program);
    if (program_.empty()) return;
    user_ = user;
    say_ = std::move(say);
    left_.assign(pids.begin(), pids.end());
    if (left_.size() > kProcessesMost) left_.resize(kProcessesMost);
    next();
}

void StackDump::stop() {
    left_.clear();
    finish(false);
}

void StackDump::next() {
    int ends[2];
    if (left_.empty() || pipe2(ends, O_CLOEXEC) != 0) return left_.clear();
    output_ = Fd(ends[0]);
    const Fd input(ends[1]);
    const pid_t pid = left_.front();
    left_.pop_front();
    const Result<pid_t> child =
        spawn({.program = program_,
               .argv = {program_, "dump", "--pid", fmt::format("{}", pid)},
               .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + user_.home},
               .directory = "/",
               .user = geteuid() == 0 ? &user_ : nullptr,
               .out = input.get()});
    if (!child) {
        log_error("{}: {}", program_, child.error().detail);
        output_.reset();
        return left_.clear();
    }
    child_ = *child;
    text_.clear();
    fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    loop_.watch(output_.get(), EPOLLIN, [this](std::uint32_t) { on_output(); });
    patience_ = loop_.after(kPatience, [this] {
        finish(false);
        next();
    });
}

void StackDump::on_output() {
    char buffer[4096];
    const ssize_t count = read(output_.get(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) {
        text_.append(buffer, static_cast<std::size_t>(count));
        if (text_.size() < kTextMost) return;
    }
    finish(true);
    next();
}

// The supervisor reaps the child.
void StackDump::finish(bool was_complete) {
    if (child_ <= 0) return;
    loop_.cancel(patience_);
    loop_.forget(output_.get());
    output_.reset();
    if (!was_complete || text_.size() >= kTextMost) kill(child_, SIGKILL);
    child_ = -1;
    if (was_complete && !trim(text_).empty()) say_(text_);
}

}  // namespace sluice

#include "stepd/x11.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/check.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "os/error.h"
#include "os/files.h"
#include "os/socket.h"

namespace sluice {

namespace {

constexpr std::uint32_t kPortBase = 6000;
// ssh begins at 10, and hardly gets beyond 19.
constexpr std::uint32_t kFirstDisplay = 20, kDisplays = 480;
constexpr std::size_t kClientsMax = 256;
constexpr std::size_t kCookieMax = 1024;
constexpr std::string_view kMethod = "MIT-MAGIC-COOKIE-1";

std::string counted(std::string_view text) {
    std::string bytes{static_cast<char>(text.size() >> 8), static_cast<char>(text.size() & 0xff)};
    return bytes.append(text);
}

}  // namespace

// The directory is root's, so that the user cannot put a link where we are about to write.
Result<void> write_authority(const std::string& path, std::string_view content, const User& user) {
    unlink(path.c_str());
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file || !write_all(file.get(), content) ||
        (geteuid() == 0 && fchown(file.get(), user.uid, user.gid) != 0)) {
        return Error{ErrorCode::NodeUnable, os_error(fmt::format("x11: {}", path)).detail};
    }
    return {};
}

std::string authority_entry(std::uint32_t number, std::string_view cookie) {
    constexpr std::string_view kAnyAddress("\xff\xff\0\0", 4);  // the family and an empty address
    return std::string(kAnyAddress) + counted(fmt::to_string(number)) + counted(kMethod) +
           counted(cookie);
}

X11Display::X11Display(EventLoop& loop, Send send, std::function<void()> on_drained)
    : loop_(loop),
      send_(std::move(send)),
      channels_(loop,
                {[this](std::uint32_t number, std::string_view data) { tell(number, data, false); },
                 [this](std::uint32_t number) { tell(number, "", true); }, std::move(on_drained)}) {
}

Result<std::unique_ptr<X11Display>> X11Display::open(EventLoop& loop, const wire::StepOrder& order,
                                                     const User& user, Send send,
                                                     std::function<void()> on_drained) {
    std::unique_ptr<X11Display> display(
        new X11Display(loop, std::move(send), std::move(on_drained)));
    const wire::X11Forwarding& demand = order.tasks().spec().x11();
    if (demand.cookie().size() > kCookieMax)
        return Error{ErrorCode::LaunchFailed, "x11: the cookie is too long"};
    TRY(display->listen());
    display->screen_ = demand.screen();
    const std::string path =
        fmt::format("{}/xauth.{}.{}", order.directory(), print_step(StepId{order.run().step()}),
                    order.run().restarts());
    TRY(write_authority(path, authority_entry(display->number_, demand.cookie()), user));
    display->authority_ = path;
    return display;
}

X11Display::~X11Display() {
    if (listener_) loop_.forget(listener_.get());
    if (!authority_.empty()) unlink(authority_.c_str());
}

// From a random number on: steps that start together do not try the same ones.
Result<void> X11Display::listen() {
    std::uint32_t start = 0;
    CHECK(getrandom(&start, sizeof start, 0) == sizeof start);
    for (std::uint32_t i = 0; i < kDisplays; ++i) {
        number_ = kFirstDisplay + (start % kDisplays + i) % kDisplays;
        Result<Fd> listener =
            listen_tcp(static_cast<std::uint16_t>(kPortBase + number_), "127.0.0.1");
        if (!listener) continue;
        listener_ = std::move(*listener);
        loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
        return {};
    }
    return Error{ErrorCode::NodeUnable, "x11: no display number is free on this node"};
}

void X11Display::accept() {
    while (Fd client = accept_connection(listener_)) {
        if (channels_.size() >= kClientsMax) continue;
        const std::uint32_t number = next_++;
        channels_.add(number, std::move(client));
        tell(number, "", false);
    }
}

void X11Display::tell(std::uint32_t number, std::string_view data, bool closed) {
    wire::X11Data message;
    message.set_connection(number);
    message.set_data(data.data(), data.size());
    message.set_closed(closed);
    send_(message);
}

void X11Display::on_data(const wire::X11Data& data) {
    channels_.send(data.connection(), data.data());
    if (data.closed()) channels_.end(data.connection());
}

void X11Display::set_variables(Environment& environment) const {
    environment.set("DISPLAY", fmt::format("localhost:{}.{}", number_, screen_));
    environment.set("XAUTHORITY", authority_);
}

}  // namespace sluice

#include "cli/common/x11.h"

#include <fmt/format.h>

#include <chrono>

#include "base/text.h"
#include "model/batch_x11.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/socket.h"

namespace sluice {

namespace {

constexpr std::uint32_t kPortBase = 6000;
constexpr std::uint32_t kDisplayMax = 59535;
constexpr std::chrono::seconds kConnectTime{5};
constexpr std::string_view kMethod = "MIT-MAGIC-COOKIE-1";
constexpr std::uint32_t kFamilyLocal = 256;

// The fields of an entry: a number of two bytes, and texts with their length before them.
class AuthorityReader {
public:
    explicit AuthorityReader(std::string_view bytes) : rest_(bytes) {}
    std::optional<std::uint32_t> number() {
        if (rest_.size() < 2) return {};
        const auto high = static_cast<unsigned char>(rest_[0]);
        const auto low = static_cast<unsigned char>(rest_[1]);
        rest_.remove_prefix(2);
        return std::uint32_t{high} << 8 | low;
    }
    std::optional<std::string_view> text() {
        const std::optional<std::uint32_t> size = number();
        if (!size || rest_.size() < *size) return {};
        const std::string_view found = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return found;
    }

private:
    std::string_view rest_;
};

Error bad_display(std::string_view text) {
    return {
        ErrorCode::BadArgument,
        fmt::format("Cannot use X11 forwarding: DISPLAY={} is not [host]:display[.screen]", text)};
}

}  // namespace

Result<XServer> parse_display(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return bad_display(text);
    const std::string_view numbers = text.substr(colon + 1);
    const std::size_t dot = numbers.find('.');
    const std::optional<std::uint64_t> display = to_number(numbers.substr(0, dot));
    const std::optional<std::uint64_t> screen =
        to_number(dot == std::string_view::npos ? "0" : numbers.substr(dot + 1));
    if (!display || *display > kDisplayMax || !screen || *screen > kDisplayMax)
        return bad_display(text);
    XServer server{.host = std::string(text.substr(0, colon)),
                   .display = static_cast<std::uint32_t>(*display),
                   .screen = static_cast<std::uint32_t>(*screen)};
    if (server.host == "unix") server.host.clear();
    return server;
}

std::string find_cookie(std::string_view authority, const XServer& server, std::string_view host) {
    const std::string display = fmt::to_string(server.display);
    AuthorityReader reader(authority);
    while (const std::optional<std::uint32_t> family = reader.number()) {
        const auto address = reader.text(), number = reader.text(), method = reader.text(),
                   data = reader.text();
        if (!data) break;
        const bool is_meant = (number->empty() || *number == display) && *method == kMethod;
        // The home directory may be shared: each host has its own display of that number.
        if (is_meant && (*family != kFamilyLocal || *address == host)) return std::string(*data);
    }
    return {};
}

Result<XServer> find_x_server(const Environment& environment, const Config& config) {
    const std::string_view display = environment.find("DISPLAY").value_or("");
    if (display.empty())
        return Error{ErrorCode::BadArgument,
                     "No DISPLAY variable set, cannot setup x11 forwarding."};
    XServer server = TRY(parse_display(display));
    std::string path(environment.find("XAUTHORITY").value_or(""));
    if (path.empty()) path = fmt::format("{}/.Xauthority", environment.find("HOME").value_or(""));
    if (const Result<std::string> authority = read_file(path))
        server.cookie = find_cookie(*authority, server, host_name());
    if (server.cookie.empty()) {
        return Error{
            ErrorCode::BadArgument,
            fmt::format("Could not retrieve magic cookie of DISPLAY={} from {}. Cannot use X11 "
                        "forwarding.",
                        display, path)};
    }
    if (!config.prolog_flags.x11)
        return Error{ErrorCode::NotSupported,
                     "Unable to allocate resources: X11 forwarding not available"};
    return server;
}

Result<std::string> display_for_script(const XServer& server) {
    const bool is_local =
        server.host.empty() || server.host == "localhost" || server.host.starts_with("127.");
    if (is_local) {
        return Error{
            ErrorCode::BadArgument,
            fmt::format("Cannot use X11 forwarding: only this host can reach DISPLAY={}:{}; "
                        "a batch script needs one of the form host:number",
                        server.host, server.display)};
    }
    return print_batch_display(fmt::format("{}:{}.{}", server.host, server.display, server.screen),
                               server.cookie);
}

Result<Fd> connect_x_server(const XServer& server) {
    if (server.host.empty()) return connect_path(fmt::format("/tmp/.X11-unix/X{}", server.display));
    const auto port = static_cast<std::uint16_t>(kPortBase + server.display);
    Connection connection = TRY(connect_to({server.host, port, "X"}, kConnectTime));
    return std::move(connection.fd);
}

}  // namespace sluice

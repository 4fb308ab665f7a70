// model/state_location.cc
#include "model/state_location.h"

#include <cstddef>

namespace sluice {
namespace {

constexpr std::string_view kHidden = "***";

void hide(std::string& text, std::size_t from, std::size_t end) {
    text.replace(from, end - from, kHidden);
}

}  // namespace

bool is_shared_state(std::string_view location) {
    return location.starts_with("postgresql://") || location.starts_with("postgres://");
}

std::string without_password(std::string_view location) {
    std::string shown(location);
    if (!is_shared_state(location)) return shown;
    constexpr std::string_view kOption = "password=";  // also sslpassword
    for (std::size_t at = shown.find(kOption); at != std::string::npos;
         at = shown.find(kOption, at + kOption.size())) {
        const std::size_t end = shown.find('&', at);
        hide(shown, at + kOption.size(), end == std::string::npos ? shown.size() : end);
    }
    // user:password@, before the path. A password may have any character that is not reserved.
    const std::size_t begin = shown.find("://") + 3;
    const std::size_t path = shown.find('/', begin);
    const std::size_t at = shown.rfind('@', path);
    if (at == std::string::npos || at < begin) return shown;
    const std::size_t colon = shown.find(':', begin);
    if (colon < at) hide(shown, colon + 1, at);
    return shown;
}

}  // namespace sluice

// config/canonical.cc: see canonical.h.
#include "config/canonical.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/lines.h"

namespace sluice {

Result<std::string> canonical_config(const std::string& path) {
    std::string text;
    TRY(for_each_line(TRY(read_text_file(path)), path, read_text_file,
                      [&](const Line& line) -> Result<void> {
                          for (const Setting& setting : line.settings)
                              text += fmt::format("{}={}\n", to_lower(setting.key), setting.value);
                          return {};
                      }));
    return text;
}

}  // namespace sluice

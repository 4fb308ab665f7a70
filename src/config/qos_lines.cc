// QOS lines: qualities of service for a new accounting database.
#include <algorithm>

#include "base/text.h"
#include "config/draft.h"
#include "model/qos_keys.h"

namespace sluice {

Result<void> take_qos_line(Draft& draft, const Line& line) {
    const std::string name = to_lower(line.settings.front().value);  // Compat: as sacctmgr does
    if (name.empty()) return error_at(line, "QOS=: expected a name");
    QosDefinitions& all = draft.config.qos;
    if (std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.first == name; }))
        return error_at(line, "QOS={}: given twice", name);
    KeyTexts keys;
    for (std::size_t i = 1; i < line.settings.size(); ++i)
        keys.emplace_back(line.settings[i].key, line.settings[i].value);
    Result<QosChange> change = parse_qos_change(keys);
    if (!change) return error_at(line, "QOS={}: {}", name, trim(change.error().detail));
    all.emplace_back(name, *std::move(change));
    return {};
}

}  // namespace sluice

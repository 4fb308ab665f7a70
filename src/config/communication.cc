// What slurm.conf says about connections: keys of TLS, which Sluice does not have yet, and the
// words of CommunicationParameters.
#include <algorithm>

#include "config/setters.h"
#include "config/values.h"

namespace sluice {

namespace {

constexpr const char* kTlsKeys[] = {"TLSType",     "TLSParameters",     "CertgenType",
                                    "CertmgrType", "CertgenParameters", "CertmgrParameters"};
constexpr std::string_view kEffectiveWords[] = {"NoCtldInAddrAny", "NoInAddrAny"};

}  // namespace

// An administrator who asks for TLS must not get plain connections instead.
Result<void> complete_communication(Config& config) {
    for (const char* key : kTlsKeys) {
        auto found = config.as_written.find(key);
        if (found == config.as_written.end() || found->second.empty()) continue;
        const bool is_type = std::string_view(key) == "TLSType";
        if (is_type && equals_ignoring_case(found->second, "tls/none")) continue;
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("{}: {}={}: TLS is not supported by Sluice; remove the key{}",
                                 base_name(config.path), key, found->second,
                                 is_type ? ", or set TLSType=tls/none" : "")};
    }
    for (std::string_view word : split(config.communication_parameters, ',')) {
        word = trim(word);
        auto is_word = [&](std::string_view known) { return equals_ignoring_case(word, known); };
        if (word.empty() || std::ranges::any_of(kEffectiveWords, is_word)) continue;
        config.warnings.push_back(
            fmt::format("{}: CommunicationParameters={} has no effect in Sluice",
                        base_name(config.path), word));
    }
    return {};
}

}  // namespace sluice

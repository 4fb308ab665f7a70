#include "model/stage_in.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::string_view kStream = ",stream";
constexpr std::size_t kNameBytes = 255;  // NAME_MAX of Linux

Error invalid(std::string why) {
    return {ErrorCode::BadArgument, std::move(why)};
}

std::string_view without_slashes(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return path;
}

// The manifest of a dataset of sdata pack stands for its directory.
std::string_view last_part(std::string_view path) {
    constexpr std::string_view kManifest = "/manifest.json";
    if (path.size() > kManifest.size() && path.ends_with(kManifest))
        path.remove_suffix(kManifest.size());
    return path.substr(path.rfind('/') + 1);
}

Result<void> check(const StageIn& one) {
    if (!one.source.starts_with('/')) return invalid("the source is no absolute path");
    if (one.source == "/") return invalid("the source is the root directory");
    if (one.source.size() > sizes::kPath) return invalid("the source is too long");
    const bool is_entry = !one.name.empty() && one.name != "." && one.name != ".." &&
                          one.name.find('/') == std::string::npos;
    if (!is_entry || one.name.size() > kNameBytes)
        return invalid(fmt::format("'{}' is no name for an entry of $SCRATCH", one.name));
    // ",steam" would be a part of the name.
    if (one.name.find(',') != std::string::npos && one.name != last_part(one.source))
        return invalid(fmt::format("'{}': only ,stream can follow the name", one.name));
    const std::string whole = one.source + one.name;
    if (std::any_of(whole.begin(), whole.end(), [](char c) { return c == '\n' || c == '\0'; }))
        return invalid("a line break");
    return {};
}

std::string print(const StageIn& one) {
    return fmt::format("{}:{}{}", one.source, one.name, one.is_stream ? kStream : "");
}

}  // namespace

Result<StageIn> parse_stage_in(std::string_view value, std::string_view directory) {
    StageIn parsed;
    parsed.is_stream = value.ends_with(kStream);
    if (parsed.is_stream) value.remove_suffix(kStream.size());
    const std::size_t colon = value.rfind(':');
    const std::string_view source = without_slashes(value.substr(0, colon));
    if (source.empty()) return invalid("a source is missing");
    const bool is_absolute = source.starts_with('/');
    parsed.source = is_absolute ? std::string(source) : fmt::format("{}/{}", directory, source);
    parsed.name = colon == value.npos ? last_part(source) : value.substr(colon + 1);
    TRY(check(parsed));
    return parsed;
}

Result<std::string> with_stage_in(const std::string& text, const StageIn& added) {
    const std::vector<StageIn> all = TRY(parse_stage_ins(text));
    for (const StageIn& one : all) {
        if (one.name == added.name)
            return invalid(fmt::format("$SCRATCH/{} has a source already", added.name));
    }
    if (all.size() >= kStageInCount)
        return invalid(fmt::format("more than {} sources", kStageInCount));
    const std::string longer = text.empty() ? print(added) : text + "\n" + print(added);
    if (longer.size() > sizes::kStageIn) return invalid("too many sources");
    return longer;
}

Result<std::vector<StageIn>> parse_stage_ins(std::string_view text) {
    std::vector<StageIn> all;
    if (text.empty()) return all;
    for (const std::string_view line : split(text, '\n')) {
        const bool is_printed = line.starts_with('/') && line.find(':') != line.npos;
        if (!is_printed) return invalid("a path or a name is missing");
        if (all.size() >= kStageInCount)
            return invalid(fmt::format("more than {} sources", kStageInCount));
        all.push_back(TRY(parse_stage_in(line, "")));
    }
    return all;
}

std::string shown_stage_ins(std::string_view text) {
    std::string shown(text);
    std::replace(shown.begin(), shown.end(), '\n', ',');
    return shown;
}

std::string stage_socket(std::string_view node, std::string_view scratch_base) {
    return fmt::format("sluice.stage.{}.{:x}", node, source_hash(scratch_base));
}

// FNV-1a.
std::uint64_t source_hash(std::string_view source) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : source) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 1099511628211u;
    }
    return hash;
}

}  // namespace sluice

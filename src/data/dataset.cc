#include "data/dataset.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "data/crc32c.h"
#include "os/files.h"

namespace sluice::data {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::string_view kIndexHeading = "# sluice index 1: offset length size crc32c label path";

Error damaged(std::string_view what) {
    return Error{{}, fmt::format("it is damaged: {}", what)};
}

std::string print_crc(std::uint32_t crc) {
    return fmt::format("{:08x}", crc);
}

std::optional<std::uint32_t> parse_crc(std::string_view text) {
    std::uint32_t crc = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), crc, 16);
    if (wrong != std::errc{} || print_crc(crc) != text) return {};
    return crc;
}

// Bytes that are not UTF-8 would make the JSON invalid; so would not be found again.
std::string escape(std::string_view text) {
    std::string out;
    for (const char each : text) {
        if (each == '%' || static_cast<unsigned char>(each) < 0x20 || each == 0x7f ||
            static_cast<unsigned char>(each) >= 0x80)
            out += fmt::format("%{:02X}", static_cast<unsigned char>(each));
        else
            out += each;
    }
    return out;
}

std::optional<std::string> unescape(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        unsigned byte = 0;
        const std::string_view digits = text.substr(at + 1, 2);
        const auto [end, wrong] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || wrong != std::errc{} || end != digits.data() + 2) return {};
        out += static_cast<char>(byte);
        at += 2;
    }
    return out;
}

Json json_of(const Shard& shard) {
    return {{"name", shard.name},
            {"records", shard.records},
            {"bytes", shard.bytes},
            {"crc32c", print_crc(shard.crc)},
            {"index_crc32c", print_crc(shard.index_crc)}};
}

Manifest manifest_from(const Json& json) {
    Manifest manifest;
    if (json.at("format") == format_name(Format::WebDataset)) manifest.format = Format::WebDataset;
    manifest.records = json.at("records");
    manifest.bytes = json.at("bytes");
    for (const Json& each : json.at("classes"))
        manifest.classes.push_back(unescape(each.get<std::string>()).value_or(""));
    for (const Json& each : json.at("shards")) {
        manifest.shards.push_back(
            {.name = each.at("name"),
             .records = each.at("records"),
             .bytes = each.at("bytes"),
             .crc = parse_crc(each.at("crc32c").get<std::string>()).value_or(0),
             .index_crc = parse_crc(each.at("index_crc32c").get<std::string>()).value_or(0)});
    }
    return manifest;
}

std::optional<Record> parse_line(std::string_view line) {
    std::string_view fields[5];
    for (std::string_view& field : fields) {
        const std::size_t blank = line.find(' ');
        if (blank == std::string_view::npos) return {};
        field = line.substr(0, blank);
        line.remove_prefix(blank + 1);
    }
    const auto offset = to_number(fields[0]), length = to_number(fields[1]),
               size = to_number(fields[2]), label = to_number(fields[4]);
    const auto crc = parse_crc(fields[3]);
    auto path = unescape(line);
    if (!offset || !length || !size || !label || !crc || !path || *label > UINT32_MAX) return {};
    return Record{.path = std::move(*path),
                  .label = static_cast<std::uint32_t>(*label),
                  .offset = *offset,
                  .length = *length,
                  .size = *size,
                  .crc = *crc};
}

}  // namespace

std::string_view format_name(Format format) {
    return format == Format::TfRecord ? "tfrecord" : "webdataset";
}

std::string_view format_extension(Format format) {
    return format == Format::TfRecord ? "tfrecord" : "tar";
}

Result<Format> parse_format(std::string_view name) {
    if (name == "tfrecord") return Format::TfRecord;
    if (name == "webdataset" || name == "tar") return Format::WebDataset;
    return Error{{}, fmt::format("unknown format {}: expected tfrecord or webdataset", name)};
}

std::string print_manifest(const Manifest& manifest) {
    Json json{{"sluice_dataset", kVersion},  {"format", format_name(manifest.format)},
              {"records", manifest.records}, {"bytes", manifest.bytes},
              {"classes", Json::array()},    {"shards", Json::array()}};
    for (const std::string& each : manifest.classes) json["classes"].push_back(escape(each));
    for (const Shard& each : manifest.shards) json["shards"].push_back(json_of(each));
    json["crc32c"] = print_crc(crc32c(json.dump()));
    return json.dump(1) + "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
    Manifest manifest;
    try {
        const Json json = Json::parse(text);
        if (json.at("sluice_dataset") > kVersion)
            return Error{{}, "it was written by a newer version"};
        manifest = manifest_from(json);
    } catch (const Json::exception& wrong) {
        return damaged(wrong.what());
    }
    if (print_manifest(manifest) != text) return damaged("its checksum does not match");
    for (const Shard& shard : manifest.shards) {
        if (!is_safe_path(shard.name)) return damaged("a shard is outside of the dataset");
    }
    return manifest;
}

std::string manifest_path(const std::string& directory) {
    return directory + "/manifest.json";
}

Result<Manifest> read_manifest(const std::string& directory) {
    const std::string path = manifest_path(directory);
    Result<Manifest> manifest = parse_manifest(TRY(read_file(path)));
    if (!manifest) return Error{{}, fmt::format("{}: {}", path, manifest.error().detail)};
    return manifest;
}

std::string print_index(const std::vector<Record>& records) {
    std::string text = fmt::format("{}\n", kIndexHeading);
    for (const Record& each : records) {
        text += fmt::format("{} {} {} {} {} {}\n", each.offset, each.length, each.size,
                            print_crc(each.crc), each.label, escape(each.path));
    }
    return text + fmt::format("# end {}\n", print_crc(crc32c(text)));
}

Result<std::vector<Record>> parse_index(std::string_view text) {
    std::vector<Record> records;
    std::vector<std::string_view> lines = split(text, '\n');
    if (lines.size() < 3 || lines.front() != kIndexHeading) return damaged("this is no index");
    for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
        std::optional<Record> record = parse_line(lines[i]);
        if (!record) return damaged(fmt::format("line {}", i + 1));
        records.push_back(std::move(*record));
    }
    if (print_index(records) != text) return damaged("its checksum does not match");
    return records;
}

std::string index_name(std::string_view shard) {
    return fmt::format("{}.idx", shard);
}

Result<std::vector<Record>> read_index(const std::string& directory, const Shard& shard) {
    const std::string path = directory + "/" + index_name(shard.name);
    const std::string text = TRY(read_file(path));
    if (crc32c(text) != shard.index_crc)
        return Error{{}, fmt::format("{}: its checksum is not that of the manifest", path)};
    Result<std::vector<Record>> records = parse_index(text);
    if (!records) return Error{{}, fmt::format("{}: {}", path, records.error().detail)};
    return records;
}

bool is_safe_path(std::string_view path) {
    if (path.empty() || path.starts_with('/') || path.find('\0') != std::string_view::npos)
        return false;
    for (const std::string_view part : split(path, '/')) {
        if (part.empty() || part == "." || part == "..") return false;
    }
    return true;
}

}  // namespace sluice::data

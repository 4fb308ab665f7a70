#include "data/tar.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

namespace sluice::data {

namespace {

struct Header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100],
        magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
static_assert(sizeof(Header) == kTarBlock);

constexpr std::uint64_t kOctalMost = 077777777777;  // of the field for the size

template <std::size_t N>
void put(char (&field)[N], std::string_view text) {
    std::memcpy(field, text.data(), std::min(N, text.size()));
}

unsigned checksum_of(const Header& header) {
    Header copy = header;
    std::memset(copy.checksum, ' ', sizeof copy.checksum);
    unsigned sum = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&copy);
    for (std::size_t i = 0; i < sizeof copy; ++i) sum += bytes[i];
    return sum;
}

void append_block(std::string& out, char type, std::string_view name, std::string_view bytes) {
    Header header{};
    put(header.name, name);
    put(header.mode, "0000644");
    put(header.uid, "0000000");
    put(header.gid, "0000000");
    put(header.size, fmt::format("{:011o}", std::min<std::uint64_t>(bytes.size(), kOctalMost)));
    put(header.mtime, "00000000000");
    header.type = type;
    put(header.magic, std::string_view("ustar\0", 6));
    put(header.version, "00");
    put(header.user, "root");
    put(header.group, "root");
    put(header.checksum, fmt::format("{:06o}", checksum_of(header)));
    header.checksum[7] = ' ';
    out.append(reinterpret_cast<const char*>(&header), sizeof header);
    out.append(bytes);
    out.append((kTarBlock - bytes.size() % kTarBlock) % kTarBlock, '\0');
}

// "LENGTH path=NAME\n", where LENGTH counts itself.
std::string pax_line(std::string_view key, std::string_view value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest;
    while (length != rest + std::to_string(length).size())
        length = rest + std::to_string(length).size();
    return fmt::format("{} {}={}\n", length, key, value);
}

std::optional<std::uint64_t> octal(std::string_view field) {
    std::uint64_t number = 0;
    field = field.substr(0, field.find_first_of(std::string_view(" \0", 2)));
    const auto [end, wrong] = std::from_chars(field.data(), field.data() + field.size(), number, 8);
    if (wrong != std::errc{} || end != field.data() + field.size()) return {};
    return number;
}

template <std::size_t N>
std::string_view text_of(const char (&field)[N]) {
    return {field, strnlen(field, N)};
}

// The value of path= among the lines of a pax header.
std::optional<std::string> pax_path(std::string_view lines) {
    std::optional<std::string> path;
    while (!lines.empty()) {
        std::size_t length = 0;
        const auto [end, wrong] =
            std::from_chars(lines.data(), lines.data() + lines.size(), length);
        if (wrong != std::errc{} || length == 0 || length > lines.size()) break;
        std::string_view line = lines.substr(0, length - 1);
        line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
        if (line.starts_with("path=")) path = line.substr(5);
        lines.remove_prefix(length);
    }
    return path;
}

}  // namespace

void append_tar_member(std::string& out, std::string_view path, std::string_view bytes) {
    if (path.size() > sizeof(Header::name) || bytes.size() > kOctalMost) {
        std::string lines = pax_line("path", path);
        if (bytes.size() > kOctalMost) lines += pax_line("size", std::to_string(bytes.size()));
        append_block(out, 'x', "pax", lines);
    }
    append_block(out, '0', path, bytes);
}

std::string tar_end() {
    return std::string(2 * kTarBlock, '\0');
}

Result<TarMember> read_tar_member(std::string_view archive) {
    TarMember member;
    std::optional<std::string> long_path;
    std::uint64_t at = 0;
    while (true) {
        if (archive.size() < at + kTarBlock) return Error{{}, "the archive ends early"};
        Header header;
        std::memcpy(&header, archive.data() + at, sizeof header);
        if (header.name[0] == 0 && header.magic[0] == 0) return TarMember{};
        const auto checksum = octal({header.checksum, sizeof header.checksum});
        const auto size = octal({header.size, sizeof header.size});
        if (!checksum || *checksum != checksum_of(header) || !size)
            return Error{{}, "the header of a member is damaged"};
        const std::uint64_t padded = (*size + kTarBlock - 1) / kTarBlock * kTarBlock;
        at += kTarBlock;
        if (archive.size() < at + padded) return Error{{}, "the archive ends early"};
        const std::string_view bytes = archive.substr(at, *size);
        at += padded;
        if (header.type == 'x') {
            long_path = pax_path(bytes);
            continue;
        }
        member.path = long_path ? *long_path : std::string(text_of(header.name));
        member.bytes = bytes;
        member.length = at;
        return member;
    }
}

}  // namespace sluice::data

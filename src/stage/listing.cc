#include "stage/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "auth/sha256.h"
#include "base/text.h"

namespace sluice::stage {

namespace {

void append_number(std::string& text, std::uint64_t number) {
    for (int i = 0; i < 8; ++i) text.push_back(static_cast<char>(number >> (8 * i)));
}

void append_text(std::string& text, const std::string& added) {
    append_number(text, added.size());
    text += added;
}

// A large file on its own, in pieces of equal size.
void add_large(std::vector<Piece>& pieces, std::uint32_t entry, std::uint64_t size) {
    for (std::uint64_t at = 0; at < size; at += kPieceBytes)
        pieces.push_back({entry, 1, at, std::min(kPieceBytes, size - at)});
}

}  // namespace

void complete(Listing& listing) {
    std::sort(listing.entries.begin(), listing.entries.end(),
              [](const Entry& a, const Entry& b) { return a.path() < b.path(); });
    listing.bytes = listing.disk_bytes = 0;
    for (const Entry& entry : listing.entries) {
        listing.bytes += entry.size();
        listing.disk_bytes += std::min<std::uint64_t>(entry.size(), entry.disk_bytes());
    }
}

std::string key_of(const Listing& listing) {
    std::string text;
    text.reserve(listing.entries.size() * 100);
    append_text(text, listing.path);
    for (const Entry& entry : listing.entries) {
        append_text(text, entry.path());
        append_number(text, entry.kind() | (entry.is_program() ? 256u : 0u));
        append_number(text, entry.size());
        append_number(text, entry.inode());
        append_number(text, static_cast<std::uint64_t>(entry.changed_ns()));
        append_number(text, static_cast<std::uint64_t>(entry.altered_ns()));
        append_text(text, entry.target());
    }
    std::string key;
    for (const char c : sha256(text)) key += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return key;
}

std::vector<Piece> pieces_of(const Listing& listing) {
    std::vector<Piece> small, large;
    Piece open{.first = 0, .count = 0};
    const auto close = [&] {
        if (open.count > 0) small.push_back(open);
        open = {.first = 0, .count = 0};
    };
    for (std::uint32_t i = 0; i < listing.entries.size(); ++i) {
        const Entry& entry = listing.entries[i];
        if (entry.kind() == kFile && entry.size() > kPieceBytes) {
            close();
            add_large(large, i, entry.size());
            continue;
        }
        if (open.count == kPieceFiles || open.bytes + entry.size() > kPieceBytes) close();
        if (open.count == 0) open.first = i;
        ++open.count;
        open.bytes += entry.size();
    }
    close();
    small.insert(small.end(), large.begin(), large.end());
    return small;
}

bool stays_inside(std::string_view path, std::string_view target) {
    if (target.starts_with('/')) return false;
    auto depth = std::count(path.begin(), path.end(), '/');
    for (const std::string_view part : split(target, '/')) {
        if (part == "..") --depth;
        if (!part.empty() && part != "." && part != "..") ++depth;
        if (depth < 0) return false;
    }
    return true;
}

std::string printable(std::string_view path) {
    std::string text;
    for (const char c : path) {
        if (static_cast<unsigned char>(c) < ' ' || c == 127)
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            text += c;
    }
    return text;
}

}  // namespace sluice::stage

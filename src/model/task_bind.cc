// See task_bind.h.
#include "model/task_bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kListMost = 1 << 16;  // entries of a list with its repetitions
constexpr std::uint32_t kCpuMost = 4095;    // no node has one with a higher number
constexpr std::uint32_t kDomainMost = 1023;

enum class ListKind : std::uint8_t { No, Map, HexMap, Mask };

struct BindRow {
    std::string_view word;  // with a colon where a list follows
    std::size_t least;      // characters of the word that are enough
    BindKind kind;
    ListKind list = ListKind::No;
};

constexpr BindRow kCpuRows[] = {
    {"none", 2, BindKind::None},
    {"rank", 4, BindKind::Rank},
    {"map_cpu:", 8, BindKind::Map, ListKind::Map},
    {"mask_cpu:", 9, BindKind::Mask, ListKind::Mask},
    {"threads", 6, BindKind::Threads},
    {"cores", 4, BindKind::Cores},
    {"sockets", 6, BindKind::Sockets},
    {"ldoms", 4, BindKind::Domains},
    {"rank_ldom", 9, BindKind::DomainRank},
    {"map_ldom:", 9, BindKind::DomainMap, ListKind::HexMap},
    {"mask_ldom:", 10, BindKind::DomainMask, ListKind::Mask},
};

constexpr BindRow kMemRows[] = {
    {"none", 2, BindKind::None},
    {"rank", 4, BindKind::Rank},
    {"local", 5, BindKind::Local},
    {"map_mem:", 8, BindKind::Map, ListKind::HexMap},
    {"mask_mem:", 9, BindKind::Mask, ListKind::Mask},
};

struct BindGrammar {
    std::string_view option;
    std::span<const BindRow> rows;
    std::uint32_t number_most;
    bool has_prefer;
};
constexpr BindGrammar kCpuGrammar{"cpu-bind", kCpuRows, kCpuMost, false};
constexpr BindGrammar kMemGrammar{"mem-bind", kMemRows, kDomainMost, true};

Error bad_bind(std::string text) {
    return {ErrorCode::BadArgument, std::move(text)};
}

// "co", "core" and "cores" are one word.
bool is_bind_word(std::string_view text, std::string_view word, std::size_t least) {
    return text.size() >= least && starts_with_ignoring_case(word, text);
}

const BindRow* find_row(std::span<const BindRow> rows, std::string_view text) {
    for (const BindRow& row : rows) {
        const bool is_it = row.list == ListKind::No ? is_bind_word(text, row.word, row.least)
                                                    : starts_with_ignoring_case(text, row.word);
        if (is_it) return &row;
    }
    return nullptr;
}

std::optional<std::uint32_t> hex_digit(char digit) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const std::size_t value = kDigits.find(to_lower(std::string_view(&digit, 1)));
    if (value == std::string_view::npos) return {};
    return static_cast<std::uint32_t>(value);
}

std::string_view without_0x(std::string_view text) {
    return starts_with_ignoring_case(text, "0x") ? text.substr(2) : text;
}

// Whether a word that follows a list at a comma belongs to it.
bool continues_list(ListKind list, std::string_view word) {
    word = word.substr(0, word.find('*'));
    if (list == ListKind::Mask) word = without_0x(word);
    if (word.empty()) return false;
    if (list != ListKind::Mask) return word[0] >= '0' && word[0] <= '9';
    return std::all_of(word.begin(), word.end(), [](char c) { return hex_digit(c).has_value(); });
}

Error bad_number(std::string_view word, bool hex) {
    std::string_view digits = word.substr(0, word.find('*'));
    if (hex) digits = without_0x(digits);
    for (char c : digits) {
        const std::optional<std::uint32_t> value = hex_digit(c);
        if (value && (hex || *value < 10)) continue;
        return bad_bind(
            fmt::format("Failed to validate number: {}, the offending character is {}", word, c));
    }
    return bad_bind(fmt::format("Failed to validate number: {}", word));
}

std::optional<Numbers> numbers_in_mask(std::string_view text, std::uint32_t most) {
    text = without_0x(text);
    if (text.empty() || text.size() * 4 > std::size_t{most} + 1) return {};
    Numbers numbers;
    std::uint32_t place = 0;
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, place += 4) {
        const std::optional<std::uint32_t> value = hex_digit(*digit);
        if (!value) return {};
        for (std::uint32_t bit = 0; bit < 4; ++bit) {
            if ((*value >> bit & 1) != 0) numbers.push_back(place + bit);
        }
    }
    return numbers;
}

std::optional<Numbers> number_in_map(std::string_view text, std::uint32_t most, bool may_be_hex) {
    std::optional<std::uint64_t> number = to_number(text);
    if (may_be_hex && starts_with_ignoring_case(text, "0x")) {
        const std::string_view digits = without_0x(text);
        if (digits.empty() || digits.size() > 8) return {};
        number = 0;
        for (char c : digits) {
            const std::optional<std::uint32_t> value = hex_digit(c);
            if (!value) return {};
            number = *number * 16 + *value;
        }
    }
    if (!number || *number > most) return {};
    return Numbers{static_cast<std::uint32_t>(*number)};
}

template <typename ParseEntry>
Result<std::vector<Numbers>> parse_list(std::string_view list, bool hex, ParseEntry parse) {
    std::vector<Numbers> listed;
    for (std::string_view word : split(list, ',')) {
        const std::size_t star = word.find('*');
        std::optional<std::uint64_t> times = 1;
        if (star != std::string_view::npos) times = to_number(word.substr(star + 1));
        std::optional<Numbers> entry = parse(word.substr(0, star));
        if (!entry || times.value_or(0) == 0 || *times > kListMost ||
            listed.size() + *times > kListMost) {
            return bad_number(word, hex);
        }
        listed.insert(listed.end(), *times, *entry);
    }
    return listed;
}

// The words of a list from `first` on; moves `first` to the last of them.
std::string take_list(ListKind list, const std::vector<std::string_view>& words,
                      std::size_t& first) {
    std::string text(words[first].substr(words[first].find(':') + 1));
    while (first + 1 < words.size() && continues_list(list, words[first + 1])) {
        text += fmt::format(",{}", words[++first]);
    }
    return text;
}

Result<void> apply_row(TaskBind& bind, const BindGrammar& grammar, const BindRow& row,
                       const std::vector<std::string_view>& words, std::size_t& place) {
    bind.kind = row.kind;
    bind.list.clear();
    bind.listed.clear();
    if (row.list == ListKind::No) return {};
    const std::uint32_t most =
        row.kind == BindKind::Map || row.kind == BindKind::Mask ? grammar.number_most : kDomainMost;
    bind.list = take_list(row.list, words, place);
    if (bind.list.empty()) {
        return bad_bind(
            fmt::format("missing list for \"--{}={}<list>\"", grammar.option, row.word));
    }
    bind.listed = row.list == ListKind::Mask
                      ? TRY(parse_bind_mask(bind.list, most))
                      : TRY(parse_bind_map(bind.list, most, row.list == ListKind::HexMap));
    return {};
}

Result<TaskBind> parse_bind(const BindGrammar& grammar, std::string_view text) {
    TaskBind bind;
    const std::vector<std::string_view> words = split(text, ',');
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (is_bind_word(words[i], "quiet", 1)) {
            bind.verbose = false;
        } else if (is_bind_word(words[i], "verbose", 1)) {
            bind.verbose = true;
        } else if (grammar.has_prefer && is_bind_word(words[i], "prefer", 1)) {
            bind.prefer = true;
        } else if (const BindRow* row = find_row(grammar.rows, words[i])) {
            TRY(apply_row(bind, grammar, *row, words, i));
        } else {
            return bad_bind(
                fmt::format("unrecognized --{} argument \"{}\"", grammar.option, words[i]));
        }
    }
    return bind;
}

std::string_view word_of(std::span<const BindRow> rows, BindKind kind) {
    for (const BindRow& row : rows) {
        if (row.kind == kind) return row.word;
    }
    return {};
}

}  // namespace

Result<TaskBind> parse_cpu_bind(std::string_view text) {
    return parse_bind(kCpuGrammar, text);
}

Result<TaskBind> parse_mem_bind(std::string_view text) {
    return parse_bind(kMemGrammar, text);
}

std::string_view cpu_bind_word(BindKind kind) {
    return word_of(kCpuRows, kind);
}

std::string_view mem_bind_word(BindKind kind) {
    return word_of(kMemRows, kind);
}

Result<std::vector<Numbers>> parse_bind_map(std::string_view list, std::uint32_t most,
                                            bool may_be_hex) {
    return parse_list(list, false, [&](std::string_view entry) {
        return number_in_map(entry, most, may_be_hex);
    });
}

Result<std::vector<Numbers>> parse_bind_mask(std::string_view list, std::uint32_t most) {
    return parse_list(list, true,
                      [&](std::string_view entry) { return numbers_in_mask(entry, most); });
}

std::string print_mask(const Numbers& numbers, std::size_t digits) {
    const std::uint32_t last =
        numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
    std::vector<unsigned> values(std::max<std::size_t>(digits, last / 4 + 1));
    for (std::uint32_t number : numbers) {
        values[values.size() - 1 - number / 4] |= 1u << number % 4;
    }
    std::string text = "0x";
    for (unsigned value : values) text += fmt::format("{:X}", value);
    return text;
}

}  // namespace sluice

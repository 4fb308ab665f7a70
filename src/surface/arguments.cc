#include "surface/arguments.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <string_view>

#include "base/closest.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr int kLongBase = 256;  // getopt's value of the first long option; letters are below

// What getopt would have printed had it been allowed to.
class Complaint {
public:
    Complaint(std::span<const OptionSpelling> spellings, const std::string& word)
        : spellings_(spellings), word_(word) {}

    // The long option that was mistyped, or written with one dash.
    std::string hint() const {
        if (std::optional<std::string> dashes = one_dash_hint()) return *dashes;
        if (!word_.starts_with("--")) return {};
        std::string_view name = std::string_view(word_).substr(2);
        std::vector<std::string_view> names;
        for (const OptionSpelling& each : spellings_) names.emplace_back(each.name);
        std::optional<std::string_view> found = closest_word(name.substr(0, name.find('=')), names);
        return found ? fmt::format("did you mean --{}?", *found) : "";
    }
    // "-ntasks=2" for "--ntasks=2"
    std::optional<std::string> one_dash_hint() const {
        if (word_.size() < 3 || word_[0] != '-' || word_[1] == '-') return {};
        std::string_view name = std::string_view(word_).substr(1);
        name = name.substr(0, name.find('='));
        for (const OptionSpelling& each : spellings_) {
            if (name == each.name) return fmt::format("did you mean -{}?", word_);
        }
        return {};
    }

    std::string missing_argument(int optopt_value) const {
        if (optopt_value < kLongBase) {
            return fmt::format("option requires an argument -- '{}'",
                               static_cast<char>(optopt_value));
        }
        return fmt::format("option '--{}' requires an argument", spelling(optopt_value).name);
    }
    std::string not_understood(int optopt_value) const {
        if (optopt_value >= kLongBase) {
            return fmt::format("option '--{}' doesn't allow an argument",
                               spelling(optopt_value).name);
        }
        if (optopt_value != 0) {
            return fmt::format("invalid option -- '{}'", static_cast<char>(optopt_value));
        }
        std::string candidates = matches();
        if (candidates.empty()) return fmt::format("unrecognized option '{}'", word_);
        return fmt::format("option '{}' is ambiguous; possibilities:{}", word_, candidates);
    }

private:
    const OptionSpelling& spelling(int value) const {
        return spellings_[static_cast<std::size_t>(value - kLongBase)];
    }
    std::string matches() const {
        std::string_view prefix = std::string_view(word_).substr(2);
        prefix = prefix.substr(0, prefix.find('='));
        std::string found;
        for (const OptionSpelling& each : spellings_) {
            if (std::string_view(each.name).starts_with(prefix))
                found += fmt::format(" '--{}'", each.name);
        }
        return found;
    }

    std::span<const OptionSpelling> spellings_;
    const std::string& word_;
};

int has_argument(Argument argument) {
    switch (argument) {
        case Argument::None:
            return no_argument;
        case Argument::Required:
            return required_argument;
        case Argument::Optional:
            return optional_argument;
    }
    return no_argument;
}

struct Getopt {
    std::string letters;
    std::vector<option> longs;
};

Getopt getopt_tables(std::span<const OptionSpelling> spellings, OptionsEnd end) {
    Getopt tables;
    tables.letters = end == OptionsEnd::AtFirstOperand ? "+:" : ":";
    tables.longs.reserve(spellings.size() + 1);
    for (std::size_t i = 0; i < spellings.size(); ++i) {
        const OptionSpelling& each = spellings[i];
        tables.longs.push_back(
            {each.name, has_argument(each.argument), nullptr, kLongBase + static_cast<int>(i)});
        if (!each.letter) continue;
        tables.letters += each.letter;
        if (each.argument != Argument::None) tables.letters += ':';
        if (each.argument == Argument::Optional) tables.letters += ':';
    }
    tables.longs.push_back({});
    return tables;
}

}  // namespace

Result<Arguments> parse_arguments(const std::vector<std::string>& args,
                                  std::span<const OptionSpelling> spellings, OptionsEnd end) {
    std::vector<std::string> copy = args;
    copy.insert(copy.begin(), "");
    std::vector<char*> argv;
    for (std::string& word : copy) argv.push_back(word.data());
    argv.push_back(nullptr);
    Getopt tables = getopt_tables(spellings, end);
    Arguments result;
    opterr = 0;
    optind = 0;  // glibc: start afresh
    for (;;) {
        int value = getopt_long(static_cast<int>(copy.size()), argv.data(), tables.letters.c_str(),
                                tables.longs.data(), nullptr);
        if (value == -1) break;
        if (value == ':' || value == '?') {
            // A letter that is not the last of its word: getopt has not gone on to the next one.
            const auto next = static_cast<std::size_t>(optind);
            const std::string current = next < copy.size() ? argv[next] : "";
            const bool is_inside = optopt != 0 && optopt < kLongBase &&
                                   current.find(static_cast<char>(optopt)) != std::string::npos;
            const std::string word = is_inside ? current : next > 0 ? argv[next - 1] : "";
            Complaint complaint(spellings, word);
            return Error{ErrorCode::NotFound,
                         value == ':' ? complaint.missing_argument(optopt)
                                      : complaint.not_understood(optopt),
                         complaint.hint()};
        }
        auto given =
            value >= kLongBase
                ? spellings.begin() + (value - kLongBase)
                : std::find_if(spellings.begin(), spellings.end(),
                               [&](const OptionSpelling& each) { return each.letter == value; });
        GivenOption option{given->id, {}};
        if (optarg) option.value = optarg;
        // A letter with its value in the same word.
        const std::string word = argv[static_cast<std::size_t>(optind) - 1];
        if (value < kLongBase && optarg && word.ends_with(optarg) && word != optarg) {
            if (auto hint = Complaint(spellings, word).one_dash_hint()) {
                result.hints.push_back(fmt::format("{} is -{} with the value {}; {}", word,
                                                   given->letter, optarg, *hint));
            }
        }
        result.options.push_back(std::move(option));
    }
    for (auto i = static_cast<std::size_t>(optind); i < copy.size(); ++i) {
        result.operands.emplace_back(argv[i]);
    }
    return result;
}

}  // namespace sluice

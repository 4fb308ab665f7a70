#include "surface/arguments.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <string_view>

#include "model/errors.h"

namespace sluice {

namespace {

constexpr int kLongBase = 256;  // getopt's value of the first long option; letters are below

// What getopt would have printed had it been allowed to.
class Complaint {
public:
    Complaint(std::span<const OptionSpelling> spellings, const std::string& word)
        : spellings_(spellings), word_(word) {}

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
            std::string word = optind > 0 ? argv[static_cast<std::size_t>(optind) - 1] : "";
            Complaint complaint(spellings, word);
            return Error{ErrorCode::NotFound, value == ':' ? complaint.missing_argument(optopt)
                                                           : complaint.not_understood(optopt)};
        }
        auto given =
            value >= kLongBase
                ? spellings.begin() + (value - kLongBase)
                : std::find_if(spellings.begin(), spellings.end(),
                               [&](const OptionSpelling& each) { return each.letter == value; });
        GivenOption option{given->id, {}};
        if (optarg) option.value = optarg;
        result.options.push_back(std::move(option));
    }
    for (auto i = static_cast<std::size_t>(optind); i < copy.size(); ++i) {
        result.operands.emplace_back(argv[i]);
    }
    return result;
}

}  // namespace sluice

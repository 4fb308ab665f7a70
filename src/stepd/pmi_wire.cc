#include "stepd/pmi_wire.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kLengthDigits = 6;
constexpr std::string_view kManyLines = "mcmd=";  // up to the line kManyLinesEnd
constexpr std::string_view kManyLinesEnd = "endcmd\n";

Error not_pmi(std::string_view why) {
    return {ErrorCode::BadArgument, fmt::format("not a command of PMI: {}", why)};
}

// The first field is the command's name.
Result<std::optional<PmiCommand>> command_of(PmiCommand::Fields fields) {
    if (fields.empty() || (fields[0].first != "cmd" && fields[0].first != "mcmd")) {
        return not_pmi("it does not begin with cmd=");
    }
    PmiCommand command{std::move(fields[0].second), {}};
    command.fields.assign(std::make_move_iterator(fields.begin() + 1),
                          std::make_move_iterator(fields.end()));
    return std::optional(std::move(command));
}

void add_field(PmiCommand::Fields& fields, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) return;
    fields.emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

// Fields end with ';', and ';;' is a ';' in one.
PmiCommand::Fields fields_of_two(std::string_view body) {
    PmiCommand::Fields fields;
    std::string field;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] != ';') {
            field += body[i];
        } else if (i + 1 < body.size() && body[i + 1] == ';') {
            field += body[i++];
        } else {
            add_field(fields, std::exchange(field, {}));
        }
    }
    add_field(fields, field);
    return fields;
}

std::string escaped(std::string_view value) {
    std::string text;
    for (char each : value) text.append(each == ';' ? 2 : 1, each);
    return text;
}

}  // namespace

std::optional<std::string> PmiCommand::find(std::string_view field) const {
    for (const auto& [name, value] : fields) {
        if (name == field) return value;
    }
    return {};
}

std::string print_pmi(PmiDialect dialect, const PmiCommand& command) {
    const bool is_two = dialect == PmiDialect::Two;
    std::string body = "cmd=" + command.name;
    for (const auto& [name, value] : command.fields) {
        body += is_two ? fmt::format(";{}={}", name, escaped(value))
                       : fmt::format(" {}={}", name, value);
    }
    if (!is_two) return body + '\n';
    body += ';';
    return fmt::format("{:>{}}{}", body.size(), kLengthDigits, body);
}

Result<std::optional<PmiCommand>> PmiReader::next() {
    return dialect_ == PmiDialect::Two ? next_two() : next_one();
}

Result<std::optional<PmiCommand>> PmiReader::next_one() {
    const bool is_many = std::string_view(text_).starts_with(kManyLines);
    std::size_t end = is_many ? text_.find(kManyLinesEnd) : text_.find('\n');
    if (end == text_.npos && text_.size() > kPmiCommandMax) return not_pmi("it is too long");
    if (end == text_.npos) return std::optional<PmiCommand>();
    if (end > kPmiCommandMax) return not_pmi("it is too long");
    PmiCommand::Fields fields;
    std::replace(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n', ' ');
    for (std::string_view word : words(std::string_view(text_).substr(0, end))) {
        add_field(fields, word);
    }
    text_.erase(0, end + (is_many ? kManyLinesEnd.size() : 1));
    return command_of(std::move(fields));
}

Result<std::optional<PmiCommand>> PmiReader::next_two() {
    if (text_.size() < kLengthDigits) return std::optional<PmiCommand>();
    const std::string_view digits = trim(std::string_view(text_).substr(0, kLengthDigits));
    const std::optional<std::uint64_t> length = to_number(digits);
    if (!length) return not_pmi("it does not begin with its length");
    if (*length > kPmiCommandMax) return not_pmi("it is too long");
    if (text_.size() < kLengthDigits + *length) return std::optional<PmiCommand>();
    PmiCommand::Fields fields =
        fields_of_two(std::string_view(text_).substr(kLengthDigits, *length));
    text_.erase(0, kLengthDigits + *length);
    return command_of(std::move(fields));
}

}  // namespace sluice

// cli/scancel/options_test.cc: the SCANCEL_ variables, each by its effect on the request.
#include "cli/scancel/options.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string request_of(std::vector<std::string> variables, std::vector<std::string> args) {
    Invocation invocation{.tool = "scancel",
                          .args = std::move(args),
                          .environment = Environment(std::move(variables)),
                          .directory = "/"};
    Result<CancelOptions> options = read_cancel_options(invocation);
    if (!options) return "error: " + options.error().detail;
    return options->request.SerializeAsString() +
           fmt::format("verbose {} interactive {} ctld {} filter {}", options->verbose,
                       options->interactive, options->ctld, options->has_filter);
}

struct Variable {
    std::string name, option, one, two;  // no `two`: a flag
};
const Variable kVariables[] = {
    {"SCANCEL_ACCOUNT", "--account", "a", "b"}, {"SCANCEL_BATCH", "--batch", "1", ""},
    {"SCANCEL_CTLD", "--ctld", "1", ""},        {"SCANCEL_FULL", "--full", "1", ""},
    {"SCANCEL_HURRY", "--hurry", "1", ""},      {"SCANCEL_INTERACTIVE", "--interactive", "1", ""},
    {"SCANCEL_NAME", "--name", "a", "b"},       {"SCANCEL_PARTITION", "--partition", "a", "b"},
    {"SCANCEL_QOS", "--qos", "a", "b"},         {"SCANCEL_STATE", "--state", "PENDING", "RUNNING"},
    {"SCANCEL_USER", "--user", "1", "2"},       {"SCANCEL_VERBOSE", "--verbose", "1", ""},
};

TEST(ScancelVariables, DoWhatTheirOptionsDo) {
    for (const Variable& each : kVariables) {
        const std::string option = each.option + (each.two.empty() ? "" : "=" + each.one);
        const std::string by_variable = request_of({each.name + "=" + each.one}, {});
        EXPECT_EQ(by_variable, request_of({}, {option})) << each.name;
        EXPECT_NE(by_variable, request_of({}, {})) << each.name;
    }
}

// A filter of a variable in addition to that of the option would cancel other jobs.
TEST(ScancelVariables, DoNotCountWhereTheOptionIsGiven) {
    for (const Variable& each : kVariables) {
        const std::string option = each.option + (each.two.empty() ? "" : "=" + each.two);
        EXPECT_EQ(request_of({each.name + "=" + each.one}, {option}), request_of({}, {option}))
            << each.name;
    }
}

}  // namespace
}  // namespace sluice

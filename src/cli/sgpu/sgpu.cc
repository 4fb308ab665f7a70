#include "cli/sgpu/sgpu.h"

#include <poll.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/sgpu/show.h"
#include "model/errors.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

enum Option : std::size_t {
    kBy,
    kNodes,
    kUser,
    kMinutes,
    kWatch,
    kPoints,
    kWidth,
    kAscii,
    kNoHeader,
    kJsonOutput,
    kCsv,
    kVersionText,
    kHelpText,
    kUsageText
};

struct OptionRow {
    OptionSpelling spelling;
    const char* value;
    const char* help;
};
constexpr Argument kNone = Argument::None, kValue = Argument::Required;
// clang-format off
constexpr OptionRow kOptions[] = {
    {{"by",        'b', kValue, kBy},          "gpu|node|job|user", "a line for each of these (gpu)"},
    {{"nodelist",  'w', kValue, kNodes},       "nodes",   "only these nodes"},
    {{"user",      'u', kValue, kUser},        "names",   "only GPUs of jobs of these users"},
    {{"minutes",   'm', kValue, kMinutes},     "number",  "length of the history (30)"},
    {{"iterate",   'i', kValue, kWatch},       "seconds", "show it again and again"},
    {{"points",    0,   kValue, kPoints},      "number",  "of each GPU at most, in --csv and --json (2000)"},
    {{"width",     0,   kValue, kWidth},       "columns", "width of charts (60)"},
    {{"ascii",     0,   kNone,  kAscii},       nullptr,   "charts of ASCII characters"},
    {{"noheader",  'h', kNone,  kNoHeader},    nullptr,   "no headings"},
    {{"json",      0,   kNone,  kJsonOutput},  nullptr,   "print all samples as JSON"},
    {{"csv",       0,   kNone,  kCsv},         nullptr,   "print all samples as comma separated values"},
    {{"version",   'V', kNone,  kVersionText}, nullptr,   "print the version and exit"},
    {{"help",      0,   kNone,  kHelpText},    nullptr,   "show this text"},
    {{"usage",     0,   kNone,  kUsageText},   nullptr,   "show this text"},
};
// clang-format on

constexpr std::int64_t kMinutesMost = 60 * 24 * 366;

struct Wanted {
    GpuGroup group = GpuGroup::Gpu;
    std::string nodes;
    std::vector<std::string> users;
    std::int64_t minutes = 30;
    std::optional<std::int64_t> iterate;
    std::int64_t points = 2000;
    bool json = false, csv = false;
    GpuLooks looks;
    std::optional<std::string> job;
};

std::string help_text() {
    constexpr std::size_t kColumn = 30;
    return "Usage: sgpu [OPTIONS] [JOBID]\nShows what the GPUs of the cluster do, or the course of "
           "a job.\n\n" +
           help_lines(sgpu_option_help(), kColumn);
}

Result<std::int64_t> number_in(const GivenOption& option, std::string_view name, std::int64_t least,
                               std::int64_t most) {
    const std::optional<std::uint64_t> number = to_number(*option.value);
    const bool is_right = number && *number >= static_cast<std::uint64_t>(least) &&
                          *number <= static_cast<std::uint64_t>(most);
    if (is_right) return static_cast<std::int64_t>(*number);
    return Error{ErrorCode::BadArgument, fmt::format("--{}={}: a number from {} to {} is needed",
                                                     name, *option.value, least, most)};
}

Result<GpuGroup> group_in(const std::string& value) {
    constexpr std::string_view kWords[] = {"gpu", "node", "job", "user"};
    for (std::size_t i = 0; i < std::size(kWords); ++i) {
        if (kWords[i] == value) return static_cast<GpuGroup>(i);
    }
    return Error{ErrorCode::BadArgument,
                 fmt::format("--by={}: gpu, node, job or user is needed", value)};
}

Result<void> take(const GivenOption& option, Wanted& wanted) {
    if (option.id == kBy) wanted.group = TRY(group_in(*option.value));
    if (option.id == kNodes) wanted.nodes = *option.value;
    if (option.id == kUser) wanted.users = split_list(*option.value);
    if (option.id == kMinutes) wanted.minutes = TRY(number_in(option, "minutes", 1, kMinutesMost));
    if (option.id == kWatch) wanted.iterate = TRY(number_in(option, "iterate", 1, 86'400));
    if (option.id == kPoints) wanted.points = TRY(number_in(option, "points", 1, 20'000));
    if (option.id == kWidth)
        wanted.looks.width = static_cast<std::size_t>(TRY(number_in(option, "width", 10, 500)));
    if (option.id == kAscii) wanted.looks.blocks = false;
    if (option.id == kNoHeader) wanted.looks.header = false;
    if (option.id == kJsonOutput) wanted.json = true;
    if (option.id == kCsv) wanted.csv = true;
    return {};
}

Result<Wanted> wanted_from(const Arguments& given, const Environment& environment) {
    Wanted wanted;
    std::string locale;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (locale.empty()) locale = std::string(environment.find(name).value_or(""));
    }
    wanted.looks.blocks = to_lower(locale).find("utf") != std::string::npos;
    for (const GivenOption& option : given.options) TRY(take(option, wanted));
    if (given.operands.size() > 1) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}: one job is needed", join(given.operands, " "))};
    }
    if (!given.operands.empty()) wanted.job = given.operands.front();
    if (wanted.json && wanted.csv)
        return Error{ErrorCode::BadArgument, "--json and --csv exclude each other"};
    return wanted;
}

class Sgpu {
public:
    Sgpu(const Wanted& wanted, const Invocation& invocation, Client& client, Streams& streams)
        : wanted_(wanted), invocation_(invocation), client_(client), streams_(streams) {}

    int run() {
        for (;;) {
            const Result<void> shown = wanted_.job ? show_job() : show_now();
            if (!shown) {
                print_error(streams_, invocation_, to_string(shown.error()));
                return 1;
            }
            streams_.flush();
            if (!wanted_.iterate) return has_failed_ ? 1 : 0;
            poll(nullptr, 0, static_cast<int>(*wanted_.iterate * 1000));
            streams_.out(streams_.out_is_terminal() ? "\033[H\033[2J" : "\n");
        }
    }

private:
    bool is_raw() const { return wanted_.json || wanted_.csv; }

    std::vector<GpuCourse> fetch(const std::vector<wire::NodeAddress>& nodes,
                                 const GpuQuestion& question) {
        return fetch_courses(client_, nodes, question, [&](const Error& error) {
            has_failed_ = true;
            print_error(streams_, invocation_, to_string(error));
        });
    }

    void print_raw(const std::vector<GpuCourse>& courses, const FoundJob* job) {
        streams_.out(wanted_.json ? gpu_json(courses, job)
                                  : gpu_csv(courses, wanted_.looks.header));
    }

    Result<void> show_now() {
        const auto nodes = TRY(find_gpu_nodes(client_, wanted_.nodes));
        const std::int64_t now = std::time(nullptr);
        const std::int64_t from = now - wanted_.minutes * 60;
        const std::int64_t points =
            is_raw() ? wanted_.points : static_cast<std::int64_t>(2 * wanted_.looks.spark_width);
        std::vector<GpuCourse> courses =
            fetch(nodes, {.from = from, .points = static_cast<std::uint32_t>(points)});
        std::erase_if(courses, [&](const GpuCourse& course) {
            const auto& users = wanted_.users;
            return !users.empty() &&
                   std::find(users.begin(), users.end(), course.user) == users.end();
        });
        if (is_raw()) {
            print_raw(courses, nullptr);
        } else {
            streams_.out(gpu_table(courses, wanted_.group, wanted_.looks, from, now));
        }
        return {};
    }

    Result<void> show_job() {
        const JobRef ref = TRY(parse_job_ref(*wanted_.job));
        const FoundJob job = TRY(find_job(client_, ref, *wanted_.job));
        const auto nodes = TRY(find_gpu_nodes(client_, job.nodes));
        constexpr std::int64_t kMargin = 600;  // clocks differ
        const std::int64_t to = job.end == 0 ? 0 : job.end + kMargin;
        const auto points = static_cast<std::uint32_t>(
            is_raw() ? wanted_.points : static_cast<std::int64_t>(2 * wanted_.looks.width));
        const std::vector<GpuCourse> courses =
            fetch(nodes, {.job = job.id, .from = job.start - kMargin, .to = to, .points = points});
        if (is_raw()) {
            print_raw(courses, &job);
        } else if (courses.empty()) {
            return Error{ErrorCode::NotSupported,
                         fmt::format("no samples of GPUs of job {}", *wanted_.job)};
        } else {
            streams_.out(gpu_charts(job, courses, wanted_.looks));
        }
        return {};
    }

    const Wanted& wanted_;
    const Invocation& invocation_;
    Client& client_;
    Streams& streams_;
    bool has_failed_ = false;
};

}  // namespace

std::vector<OptionHelp> sgpu_option_help() {
    std::vector<OptionHelp> all;
    for (const OptionRow& row : kOptions) {
        all.push_back({.name = row.spelling.name,
                       .letter = row.spelling.letter,
                       .value = row.value ? row.value : "",
                       .text = row.help});
    }
    return all;
}

int run_sgpu(const Invocation& invocation, Client& client, Streams& streams) {
    std::vector<OptionSpelling> spellings;
    for (const OptionRow& row : kOptions) spellings.push_back(row.spelling);
    const Result<Arguments> given =
        parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    for (const GivenOption& option : given->options) {
        if (option.id == kVersionText) return print_version(streams), 0;
        if (option.id == kHelpText || option.id == kUsageText) return streams.out(help_text()), 0;
    }
    const Result<Wanted> wanted = wanted_from(*given, invocation.environment);
    if (!wanted) {
        print_error(streams, invocation, to_string(wanted.error()));
        return 1;
    }
    if (!has_configuration(invocation, client, streams)) return 1;
    return Sgpu(*wanted, invocation, client, streams).run();
}

}  // namespace sluice

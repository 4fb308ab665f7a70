// model/moment.cc: parsing of times.
//
// A time is a date and a time of day in any order, each at most once, or "now" with an offset.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "base/text.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::int64_t kMomentMax = 253370764800;  // beginning of the year 9999
constexpr std::int64_t kDay = 86400;

struct Word {
    std::string_view text;
    int hour;
};
constexpr Word kHours[] = {
    {"midnight", 0}, {"elevenses", 11}, {"noon", 12}, {"fika", 15}, {"teatime", 16}};

struct Unit {
    std::string_view name;
    std::int64_t seconds;
};
// Compat: whole words only, "now+1h" is refused by Slurm too.
constexpr Unit kUnits[] = {
    {"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", kDay}, {"week", 7 * kDay}};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

struct Date {
    int year, month, day;
};

// Reads from the left; every take_ either consumes what it asked for or changes nothing.
class Reader {
public:
    explicit Reader(std::string_view text) : size_(text.size()), rest_(text) {}

    // The position of the error: the number of correct characters before it.
    std::size_t wrong() const { return wrong_.value_or(position()); }
    void went_wrong_at(std::size_t position) { wrong_ = position; }
    std::size_t position() const { return size_ - rest_.size(); }

    bool done() const { return rest_.empty(); }
    void skip_blanks() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
    }
    bool take(char c) {
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool at_word(std::string_view word) const { return rest_.starts_with(word); }
    bool take_word(std::string_view word) {
        if (!at_word(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    std::string_view digits() const {
        std::size_t end = 0;
        while (end < rest_.size() && is_digit(rest_[end])) ++end;
        return rest_.substr(0, end);
    }
    // A number from `first` to `last`, of `least` to two digits.
    std::optional<int> take_number(std::size_t least, int first, int last) {
        const std::size_t size = digits().size();
        if (size >= least && size <= 2) return take_digits(size, first, last);
        went_wrong_at(position() + std::min<std::size_t>(size, 2));
        return {};
    }
    // The next `count` digits, more may follow.
    std::optional<int> take_digits(std::size_t count, int first, int last) {
        const int number = static_cast<int>(*to_number(digits().substr(0, count)));
        if (number < first || number > last) {
            went_wrong_at(position());
            return {};
        }
        rest_.remove_prefix(count);
        return number;
    }
    std::optional<std::uint64_t> take_count() {
        std::optional<std::uint64_t> number = to_number(digits());
        if (number) rest_.remove_prefix(digits().size());
        return number;
    }
    bool at_full_date() const {  // "2026-01-31"
        constexpr std::string_view kShape = "dddd-dd-dd";
        for (std::size_t i = 0; i < kShape.size(); ++i) {
            const char c = i < rest_.size() ? rest_[i] : '\0';
            if (kShape[i] == 'd' ? !is_digit(c) : c != kShape[i]) return false;
        }
        return true;
    }
    char after_digits() const {
        std::size_t end = digits().size();
        return end < rest_.size() ? rest_[end] : '\0';
    }

private:
    std::size_t size_;
    std::string_view rest_;
    std::optional<std::size_t> wrong_;  // if it is not the current position
};

// "+10", "+ 2 hours", "-1day"; the number alone counts seconds.
std::optional<std::int64_t> read_offset(Reader& reader) {
    reader.skip_blanks();
    if (reader.done()) return 0;
    bool minus = reader.take('-');
    if (!minus && !reader.take('+')) return {};
    reader.skip_blanks();
    reader.went_wrong_at(reader.position() - 1);  // Compat: the position of the character before
    std::optional<std::uint64_t> count = reader.take_count();
    if (!count || *count > static_cast<std::uint64_t>(kMomentMax)) return {};
    reader.went_wrong_at(reader.position() - 1);
    reader.skip_blanks();
    std::int64_t unit = 1;
    if (!reader.done()) {
        unit = 0;
        for (const Unit& row : kUnits) {
            if (reader.take_word(row.name)) unit = row.seconds;
        }
        if (unit == 0) return {};
        reader.take_word("s");
        reader.skip_blanks();
        reader.went_wrong_at(reader.position());
        if (!reader.done()) return {};
    }
    std::int64_t length = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(*count), unit, &length)) return {};
    return minus ? -length : length;
}

std::tm local(Time time) {
    std::time_t seconds = to_unix(time);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

Date date_of(const std::tm& parts) {
    return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday};
}

// mktime finds the UTC offset of that day, and carries day 32 into the next month.
std::int64_t moment_of(const Date& date, int second_of_day) {
    std::tm parts{};
    parts.tm_year = date.year - 1900;
    parts.tm_mon = date.month - 1;
    parts.tm_mday = date.day;
    parts.tm_hour = second_of_day / 3600;
    parts.tm_min = second_of_day / 60 % 60;
    parts.tm_sec = second_of_day % 60;
    parts.tm_isdst = -1;
    return std::mktime(&parts);
}

// Works on lower case text.
class MomentParser {
public:
    MomentParser(std::string_view text, Time now, PassedTime passed)
        : reader_(text), now_(to_unix(now)), today_(date_of(local(now))), passed_(passed) {}

    std::optional<std::int64_t> parse() {
        reader_.skip_blanks();
        if (reader_.done()) return {};
        if (reader_.take_word("now")) return parse_from_now();
        if (reader_.take_word("uts")) return parse_unix_time();
        while (!reader_.done()) {
            if (!parse_part()) return {};
            skip_between();
        }
        return put_together();
    }
    std::size_t wrong() const { return reader_.wrong(); }

private:
    std::optional<std::int64_t> parse_from_now() {
        std::optional<std::int64_t> offset = read_offset(reader_);
        std::int64_t moment = 0;
        if (!offset || __builtin_add_overflow(now_, *offset, &moment)) return {};
        return moment;
    }

    std::optional<std::int64_t> parse_unix_time() {
        reader_.went_wrong_at(0);
        std::optional<std::uint64_t> seconds = reader_.take_count();
        if (!seconds || !reader_.done()) return {};
        if (*seconds > static_cast<std::uint64_t>(kMomentMax)) return {};
        return static_cast<std::int64_t>(*seconds);
    }

    // A date and a time may be joined by "T" or "-".
    void skip_between() {
        reader_.skip_blanks();
        if (!date_ || clock_ || reader_.at_word("teatime")) return;
        if (!reader_.take('-')) reader_.take('t');
    }

    bool parse_part() {
        if (reader_.take_word("today")) return set_date(today_);
        if (reader_.take_word("tomorrow")) {
            return set_date({today_.year, today_.month, today_.day + 1});
        }
        for (const Word& word : kHours) {
            if (reader_.take_word(word.text)) return set_clock(word.hour * 3600);
        }
        char next = reader_.after_digits();
        return next == ':' || next == 'a' || next == 'p' ? parse_clock() : parse_date();
    }

    // "16:00", "16:00:30", "5:30pm", "5pm".
    bool parse_clock() {
        const std::size_t start = reader_.position();
        std::optional<int> hour = reader_.take_number(1, 0, 23), minute = 0, second = 0;
        if (!hour) return false;
        if (reader_.take(':')) {
            minute = reader_.take_number(2, 0, 59);
            if (!minute) return false;
            if (reader_.take(':')) second = reader_.take_number(2, 0, 59);
        }
        if (!second) return false;
        reader_.skip_blanks();
        bool am = reader_.take_word("am"), pm = !am && reader_.take_word("pm");
        if (am || pm) {
            if (*hour < 1 || *hour > 12) {
                reader_.went_wrong_at(start);
                return false;
            }
            *hour = *hour % 12 + (pm ? 12 : 0);
        }
        return set_clock(*hour * 3600 + *minute * 60 + *second);
    }

    // "2026-01-31", "013126", "1/31", "1/31/26", "1.31.26".
    bool parse_date() {
        const std::size_t length = reader_.digits().size();
        if (length == 4) return parse_written_out();
        if (length == 6) return parse_six_digits();
        if (length > 2) return false;
        std::optional<int> month = reader_.take_number(1, 1, 12);
        if (!month) return false;
        char mark = reader_.take('/') ? '/' : '.';
        if (mark == '.' && !reader_.take('.')) return false;
        std::optional<int> day = reader_.take_number(1, 1, 31);
        if (!day) return false;
        if (!reader_.take(mark)) {
            year_given_ = false;
            // 29 February is checked against a leap year: the year is chosen later.
            return set_checked_date(2000, *month, *day);
        }
        std::optional<int> year = reader_.take_number(2, 0, 99);
        return year && set_checked_date(2000 + *year, *month, *day);
    }

    // Compat: a wrong shape is an error at its first digit.
    bool parse_written_out() {
        if (!reader_.at_full_date()) return false;
        int year = *reader_.take_digits(4, 0, 9999);
        reader_.take('-');
        std::optional<int> month = reader_.take_number(2, 1, 12);
        if (!month) return false;
        reader_.take('-');
        std::optional<int> day = reader_.take_number(2, 1, 31);
        return day && set_checked_date(year, *month, *day);
    }

    bool parse_six_digits() {
        std::optional<int> month = reader_.take_digits(2, 1, 12);
        if (!month) return false;
        std::optional<int> day = reader_.take_digits(2, 1, 31);
        return day && set_checked_date(2000 + *reader_.take_digits(2, 0, 99), *month, *day);
    }

    bool set_checked_date(int year, int month, int day) {
        std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
        return year >= 1900 && date.ok() && set_date({year, month, day});
    }

    bool set_date(const Date& date) {
        if (date_) return false;
        date_ = date;
        return true;
    }
    bool set_clock(int second_of_day) {
        if (clock_) return false;
        clock_ = second_of_day;
        return true;
    }

    std::int64_t put_together() const {
        bool ahead = passed_ == PassedTime::MeansNext;
        if (!date_) {
            std::int64_t moment = moment_of(today_, *clock_);
            Date tomorrow{today_.year, today_.month, today_.day + 1};
            return ahead && moment < now_ ? moment_of(tomorrow, *clock_) : moment;
        }
        if (year_given_) return moment_of(*date_, clock_.value_or(0));
        Date date{today_.year, date_->month, date_->day};
        bool passed = std::pair(date.month, date.day) < std::pair(today_.month, today_.day);
        if (ahead && passed) ++date.year;
        return moment_of(date, clock_.value_or(0));
    }

    Reader reader_;
    std::int64_t now_;
    Date today_;
    PassedTime passed_;
    std::optional<Date> date_;
    std::optional<int> clock_;
    bool year_given_ = true;
};

}  // namespace

Result<Time> parse_moment(std::string_view text, Time now, PassedTime passed) {
    std::string lowered = to_lower(text);
    MomentParser parser(lowered, now, passed);
    std::optional<std::int64_t> moment = parser.parse();
    if (!moment || *moment < 0 || *moment > kMomentMax) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}{}): {}", kNoMoment, moment ? 0 : parser.wrong(), text)};
    }
    return from_unix(*moment);
}

}  // namespace sluice

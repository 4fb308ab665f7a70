// Time limits and moments.
#include <cstdlib>
#include <string>

#include "fuzz.h"
#include "model/times.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    static const bool utc = setenv("TZ", "UTC", 1) == 0;  // an hour that occurs twice reads as one
    CHECK(utc);
    constexpr Time kNow = from_unix(1794774932);
    if (Result<TimeLimit> limit = parse_time_limit(text)) {
        Result<TimeLimit> again = parse_time_limit(print_time_limit(*limit));
        CHECK(again && *again == *limit);
    }
    for (PassedTime passed : {PassedTime::MeansNext, PassedTime::IsMeant}) {
        Result<Time> moment = parse_moment(text, kNow, passed);
        if (!moment) continue;
        Result<Time> again = parse_moment(print_moment(*moment), kNow);
        CHECK(again && *again == *moment);
    }
    print_moment(kNow, text, kNow);
}

}  // namespace sluice

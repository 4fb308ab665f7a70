// stage/staging.h
//
// What sluice-stage does for one job: all its sources, one after the other.
#pragma once

#include "stage.pb.h"
#include "stage/cache.h"
#include "stage/copy.h"
#include "stage/fetch.h"
#include "stage/report_line.h"
#include "stage/shard_stream.h"

namespace sluice {
struct StageIn;
}

namespace sluice::stage {

class Staging {
public:
    Staging(const wire::StageOrder& order, ReportLine& line) : order_(order), line_(line) {}

    // Everything is in $SCRATCH, or why it is not.
    Result<void> run();

private:
    Result<void> stage_all(SourceReader& reader);
    Result<void> stage_one(SourceReader& reader, const StageIn& one, std::size_t number);
    bool is_there_already(const StageIn& one) const;
    std::unique_ptr<Copy> kept_copy(const std::string& key) const;
    // With a place the job sees the files as they arrive.
    Result<std::unique_ptr<Copy>> make_copy(SourceReader& reader, Listing listing,
                                            const std::string& key,
                                            const StreamPlace* stream_place);
    Result<void> fill(SourceReader& reader, Listing listing, const std::string& key,
                      const StreamPlace* stream_place);
    Result<void> stream_copy(SourceReader& reader, Listing listing, const std::string& key,
                             const StreamPlace& place);
    static Result<void> finish_stream(const Copy& copy, const StreamPlace& place);
    void tell_first_shard();
    std::string job() const;  // "12.0"

    const wire::StageOrder& order_;
    ReportLine& line_;
    std::optional<Cache> cache_;
    std::size_t streams_left_ = 0;  // with the one that arrives
};

}  // namespace sluice::stage

#include "stage/staging.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "model/stage_in.h"
#include "os/error.h"
#include "os/files.h"
#include "stage/job_tree.h"

namespace sluice::stage {

namespace {

constexpr unsigned kVerifyThreads = 4;

bool exists(const std::string& path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0;
}

}  // namespace

std::string Staging::job() const {
    return fmt::format("{}.{}", order_.run().job(), order_.run().restarts());
}

Result<void> Staging::run() {
    SourceReader reader = TRY(SourceReader::start({order_.user(), order_.group()}, kFetchThreads));
    line_.start();
    Result<void> done = stage_all(reader);
    if (done || order_.output().empty()) return done;
    reader.add_line(order_.output(), fmt::format("slurmd: error: stage-in on node {}: {}\n",
                                                 order_.node(), done.error().detail));
    return done;
}

Result<void> Staging::stage_all(SourceReader& reader) {
    cache_ = TRY(Cache::open(order_.cache(), order_.cache_size()));
    std::vector<StageIn> sources = TRY(parse_stage_ins(order_.stage_in()));
    std::stable_partition(sources.begin(), sources.end(),
                          [](const StageIn& one) { return !one.is_stream; });
    for (std::size_t i = 0; i < sources.size(); ++i) {
        streams_left_ = sources.size() - i;
        const Result<void> done = stage_one(reader, sources[i], i);
        if (done) continue;
        const std::string source = printable(sources[i].source);
        const std::string& why = done.error().detail;
        // Most errors begin with a path of the source.
        return why.starts_with(source) ? done
                                       : Error{ErrorCode{}, fmt::format("{}: {}", source, why)};
    }
    line_.set_phase(kStageReady);
    return {};
}

Result<void> Staging::stage_one(SourceReader& reader, const StageIn& one, std::size_t number) {
    line_.set_phase(kStageListing);
    Listing listing = TRY(reader.list(one.source));
    const std::string key = key_of(listing);
    const std::string tree = fmt::format("{}/staging.{}.{}", order_.scratch_base(), job(), number);
    const StreamPlace place{tree, order_.scratch(), one.name, {order_.user(), order_.group()}};
    line_.counters().total += listing.bytes;
    if (is_there_already(one)) {
        line_.counters().done += listing.bytes;
        return {};
    }
    TRY(cache_->pin(job(), key));
    line_.set_phase(kStageCopying);
    const Fd held = TRY(cache_->lock(key));
    std::unique_ptr<Copy> copy = kept_copy(key);
    if (copy) {
        line_.counters().done += listing.bytes;
        cache_->touch(key);
    } else {
        if (one.is_stream) return stream_copy(reader, std::move(listing), key, place);
        copy = TRY(make_copy(reader, std::move(listing), key, nullptr));
    }
    if (one.is_stream && exists(fmt::format("{}/{}", place.scratch, place.name)))
        return finish_stream(*copy, place);
    remove_tree(tree);
    Result<void> moved = make_job_tree(*copy, tree, place.owner);
    if (moved) moved = move_into_job(tree, place.scratch, place.name);
    if (!moved) remove_tree(tree);
    return moved;
}

// An earlier sluice-stage has put it there; of a stream perhaps not all.
bool Staging::is_there_already(const StageIn& one) const {
    if (!order_.is_repeated()) return false;
    const std::string path = fmt::format("{}/{}", order_.scratch(), one.name);
    return exists(path) && !(one.is_stream && exists(path + "/.sluice-staging"));
}

// An earlier sluice-stage was killed after it had put some files there.
Result<void> Staging::finish_stream(const Copy& copy, const StreamPlace& place) {
    const auto stream = TRY(ShardStream::begin(copy, place, [] {}));
    for (std::size_t i = 0; i < copy.pieces().size(); ++i) stream->on_piece(i);
    return stream->finish();
}

Result<void> Staging::stream_copy(SourceReader& reader, Listing listing, const std::string& key,
                                  const StreamPlace& place) {
    const Result<std::unique_ptr<Copy>> copy = make_copy(reader, std::move(listing), key, &place);
    return copy ? Result<void>() : copy.error();
}

// One that was damaged is of no use.
std::unique_ptr<Copy> Staging::kept_copy(const std::string& key) const {
    if (!exists(cache_->entry(key))) return nullptr;
    Result<std::unique_ptr<Copy>> kept = Copy::open(cache_->entry(key));
    if (!kept || !(*kept)->is_untouched()) return nullptr;
    if ((*kept)->was_verified_since_boot()) return *std::move(kept);
    if (!(*kept)->verify(kVerifyThreads) || !(*kept)->note_verified()) return nullptr;
    return *std::move(kept);
}

Result<std::unique_ptr<Copy>> Staging::make_copy(SourceReader& reader, Listing listing,
                                                 const std::string& key,
                                                 const StreamPlace* stream_place) {
    const std::uint64_t wanted = listing.disk_bytes;
    remove_tree(cache_->entry(key));
    remove_tree(cache_->partial(key));
    const std::uint64_t room = TRY(cache_->make_room(wanted));
    if (room < wanted) {
        return Error{ErrorCode{}, fmt::format("{} MB do not fit: {} has {} MB left", wanted >> 20,
                                              order_.cache(), room >> 20)};
    }
    const std::string partial = cache_->partial(key);
    Result<void> made = fill(reader, std::move(listing), key, stream_place);
    if (made && std::rename(partial.c_str(), cache_->entry(key).c_str()) != 0)
        made = os_error(cache_->entry(key));
    if (made) return Copy::open(cache_->entry(key));
    remove_tree(partial);
    return made.error();
}

Result<void> Staging::fill(SourceReader& reader, Listing listing, const std::string& key,
                           const StreamPlace* stream_place) {
    const std::string partial = cache_->partial(key);
    TRY(make_directories(partial, 0700));
    TRY(Cache::write_note(partial, listing.source, listing.disk_bytes));
    const std::unique_ptr<Copy> copy = TRY(Copy::begin(partial, std::move(listing)));
    if (!stream_place) {
        TRY(fetch_all(order_, key, *copy, reader, line_.counters(), {}));
        return copy->finish();
    }
    const auto stream =
        TRY(ShardStream::begin(*copy, *stream_place, [this] { tell_first_shard(); }));
    Result<void> done = fetch_all(order_, key, *copy, reader, line_.counters(),
                                  [&](std::size_t piece) { stream->on_piece(piece); });
    if (done) done = stream->finish();
    if (!done) stream->fail(done.error().detail);
    return done ? copy->finish() : done;
}

// All other sources are there: those that come in a stream are the last ones.
void Staging::tell_first_shard() {
    if (streams_left_ > 1) return;
    wire::StageReport report;
    report.mutable_ready();
    line_.set_phase(kStageStreaming);
    line_.send(report);
}

}  // namespace sluice::stage

#include "stage/plan.h"

#include <algorithm>
#include <functional>

namespace sluice::stage {

namespace {

// The node with the highest weight owns the piece: all nodes come to the same result, and the loss
// of one moves only its pieces. FNV-1a.
std::uint64_t weight(const std::string& node, std::size_t piece) {
    std::uint64_t hash = 14695981039346656037u;
    const auto mix = [&](std::uint64_t byte) { hash = (hash ^ byte) * 1099511628211u; };
    for (int i = 0; i < 4; ++i) mix((piece >> (8 * i)) & 255);
    for (const char c : node) mix(static_cast<unsigned char>(c));
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 33);
}

}  // namespace

FetchPlan::FetchPlan(std::size_t pieces, std::string me, std::vector<PlannedPeer> peers)
    : me_(std::move(me)), pieces_(pieces), left_(pieces) {
    for (PlannedPeer& peer : peers) peers_.push_back({.peer = std::move(peer)});
    choose_owners();
}

void FetchPlan::choose_owners() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        std::uint64_t highest = weight(me_, i);
        pieces_[i].owner = kMe;
        for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
            const Known& known = peers_[peer];
            if (known.is_lost || !known.peer.is_of_job) continue;
            const std::uint64_t its = weight(known.peer.name, i);
            if (its < highest) continue;
            highest = its;
            pieces_[i].owner = peer;
        }
    }
}

bool FetchPlan::may_come_from_peers(std::size_t piece) const {
    if (pieces_[piece].is_bad_elsewhere) return false;
    return std::any_of(peers_.begin(), peers_.end(), [&](const Known& known) {
        if (known.is_lost) return false;
        // One of another job gets all pieces sooner or later.
        return !known.peer.is_of_job || !known.has_answered ||
               (!known.here.empty() && known.here[piece] == 1);
    });
}

std::optional<std::size_t> FetchPlan::take_own() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        Piece& piece = pieces_[i];
        const bool is_mine = piece.owner == kMe || piece.is_bad_elsewhere;
        if (piece.state != State::Wanted || !is_mine || may_come_from_peers(i)) continue;
        piece.state = State::Taken;
        return i;
    }
    return {};
}

std::optional<std::size_t> FetchPlan::next_from_source() {
    std::unique_lock lock(mutex_);
    while (!is_over_locked()) {
        if (const std::optional<std::size_t> found = take_own()) return found;
        changed_.wait(lock);
    }
    return {};
}

std::optional<std::size_t> FetchPlan::next_own() {
    const std::lock_guard guard(mutex_);
    return take_own();
}

std::optional<std::size_t> FetchPlan::next_from_peer(std::size_t peer, const std::string& here) {
    const std::lock_guard guard(mutex_);
    if (is_over_locked()) return {};
    const bool is_of_job = peers_[peer].peer.is_of_job;
    for (std::size_t i = 0; i < pieces_.size() && i < here.size(); ++i) {
        Piece& piece = pieces_[i];
        if (piece.state != State::Wanted || piece.is_bad_elsewhere || here[i] != 1) continue;
        // From a node of another job each node of this one gets only what it owns.
        if (!is_of_job && piece.owner != kMe) continue;
        piece.state = State::Taken;
        return i;
    }
    return {};
}

void FetchPlan::done(std::size_t piece) {
    const std::lock_guard guard(mutex_);
    pieces_[piece].state = State::Here;
    if (--left_ == 0) changed_.notify_all();
}

void FetchPlan::bad(std::size_t piece) {
    const std::lock_guard guard(mutex_);
    pieces_[piece].state = State::Wanted;
    pieces_[piece].is_bad_elsewhere = true;
    changed_.notify_all();
}

void FetchPlan::heard(std::size_t peer, const std::string& here) {
    const std::lock_guard guard(mutex_);
    peers_[peer].has_answered = true;
    peers_[peer].here = here;
    changed_.notify_all();
}

void FetchPlan::lost(std::size_t peer) {
    const std::lock_guard guard(mutex_);
    peers_[peer].is_lost = true;
    choose_owners();
    changed_.notify_all();
}

void FetchPlan::stop() {
    const std::lock_guard guard(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
}

bool FetchPlan::is_over() const {
    const std::lock_guard guard(mutex_);
    return is_over_locked();
}

}  // namespace sluice::stage

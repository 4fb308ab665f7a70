// stage/plan.h
//
// Which piece comes from where. Each piece has an owner among the nodes of the job: the owner gets
// it from nodes of other jobs that have the dataset, or else reads the source; the others get it
// from the owner, or from any node that has it already. So the source is read once. A piece whose
// owner is lost gets another one. All threads of a fetch share a plan.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sluice::stage {

struct PlannedPeer {
    std::string name;
    bool is_of_job = false;
};

class FetchPlan {
public:
    // `me` is the name of this node.
    FetchPlan(std::size_t pieces, std::string me, std::vector<PlannedPeer> peers);

    // A piece to read from the source; waits while all that are left may come from peers. Nothing:
    // all pieces are here, or the fetch has failed.
    std::optional<std::size_t> next_from_source();
    // The same without waiting.
    std::optional<std::size_t> next_own();
    // A piece to get from that peer, which has those of `here`.
    std::optional<std::size_t> next_from_peer(std::size_t peer, const std::string& here);

    void done(std::size_t piece);
    // It was not what it should be: it is read from the source.
    void bad(std::size_t piece);
    // It has answered; pieces that it has are not read from the source.
    void heard(std::size_t peer, const std::string& here);
    void lost(std::size_t peer);
    void stop();
    bool is_over() const;

private:
    enum class State : std::uint8_t { Wanted, Taken, Here };
    struct Piece {
        State state = State::Wanted;
        bool is_bad_elsewhere = false;
        std::size_t owner = kMe;
    };
    struct Known {
        PlannedPeer peer;
        bool is_lost = false;
        bool has_answered = false;
        std::string here;
    };
    static constexpr std::size_t kMe = static_cast<std::size_t>(-1);

    void choose_owners();
    bool may_come_from_peers(std::size_t piece) const;
    std::optional<std::size_t> take_own();
    bool is_over_locked() const { return is_stopped_ || left_ == 0; }

    const std::string me_;
    std::vector<Piece> pieces_;
    std::vector<Known> peers_;
    std::size_t left_;
    bool is_stopped_ = false;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace sluice::stage

#include "stage/fetch.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "stage/peer.h"
#include "stage/plan.h"

namespace sluice::stage {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPauseMin{20}, kPauseMax{320};  // between two questions to a peer
constexpr milliseconds kRetry{250};                    // after a failed connection
// A peer that has nothing new for so long is lost: of this job, of another one, and one that does
// not know the dataset, perhaps because it has an older one of that name.
constexpr std::chrono::seconds kPatience{20}, kPatienceOthers{10}, kPatienceUnknown{2};

class Fetch {
public:
    Fetch(const wire::StageOrder& order, const std::string& key, Copy& copy, SourceReader& reader,
          Counters& counters, const OnPiece& on_piece)
        : order_(order),
          key_(key),
          copy_(copy),
          reader_(reader),
          counters_(counters),
          on_piece_(on_piece),
          plan_(copy.pieces().size(), order.node(), peers()) {}

    Result<void> run() {
        Result<Config> config = Config{};
        if (!addresses_.empty()) config = load_config(order_.slurm_conf());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < addresses_.size(); ++i) {
            if (config)
                threads.emplace_back([this, i, &config] { fetch_from(i, *config); });
            else
                plan_.lost(i);
        }
        for (unsigned i = 0; i < kFetchThreads; ++i)
            threads.emplace_back([this, i] { read_source(i); });
        for (std::thread& each : threads) each.join();
        if (failure_) return *failure_;
        return {};
    }

private:
    // Before plan_ is made.
    std::vector<PlannedPeer> peers() {
        const std::set<std::string> own(order_.job_nodes().begin(), order_.job_nodes().end());
        std::vector<PlannedPeer> planned;
        for (const wire::NodeAddress& address : order_.peers()) {
            if (address.name() == order_.node()) continue;
            addresses_.push_back(address);
            planned.push_back({address.name(), own.contains(address.name())});
        }
        return planned;
    }

    void read_source(unsigned channel) {
        Buffer buffer;
        while (const std::optional<std::size_t> piece = plan_.next_from_source()) {
            const Result<void> read = read_piece(channel, *piece, buffer);
            if (!read) return fail(read.error());
            counters_.read += copy_.pieces()[*piece].bytes;
            finish(*piece);
        }
    }

    Result<void> read_piece(unsigned channel, std::size_t number, Buffer& buffer) {
        const Piece& piece = copy_.pieces()[number];
        Result<std::vector<Fd>> files = reader_.open(channel, copy_.entries_of(piece), piece.first);
        if (files) return copy_.write_from(number, *files, buffer);
        return Error{ErrorCode{},
                     fmt::format("{}/{}", printable(copy_.listing().path), files.error().detail)};
    }

    void fail(const Error& error) {
        const std::lock_guard guard(mutex_);
        if (!failure_) failure_ = error;
        plan_.stop();
    }

    void finish(std::size_t piece) {
        counters_.done += copy_.pieces()[piece].bytes;
        if (on_piece_) on_piece_(piece);
        plan_.done(piece);
    }

    Clock::duration patience(std::size_t peer, bool is_known) const {
        const std::set<std::string> own(order_.job_nodes().begin(), order_.job_nodes().end());
        if (own.contains(addresses_[peer].name())) return kPatience;
        return is_known ? kPatienceOthers : kPatienceUnknown;
    }

    // All that the peer has, until it is lost or nothing is left.
    void fetch_from(std::size_t number, const Config& config) {
        Clock::time_point last_news = Clock::now();
        milliseconds pause = kPauseMin;
        std::optional<PeerNode> peer;
        bool is_known = false;
        Buffer buffer;
        while (!plan_.is_over()) {
            if (!peer) peer = connect(number, config);
            if (!peer) plan_.heard(number, "");
            Result<std::size_t> got = peer ? ask(number, *peer, is_known, buffer) : std::size_t{0};
            if (!got) peer.reset();
            if (got && *got > 0) {
                last_news = Clock::now();
                pause = kPauseMin;
                continue;
            }
            if (Clock::now() - last_news > patience(number, is_known)) return plan_.lost(number);
            std::this_thread::sleep_for(peer ? pause : kRetry);
            pause = std::min(2 * pause, kPauseMax);
        }
    }

    std::optional<PeerNode> connect(std::size_t number, const Config& config) const {
        wire::DataPeer introduction;
        introduction.set_credential(order_.credential());
        introduction.set_node(order_.node());
        Result<PeerNode> peer = PeerNode::connect(config, addresses_[number], introduction);
        if (!peer) return {};
        return *std::move(peer);
    }

    // How many pieces it gave us; an error: the connection is of no more use.
    Result<std::size_t> ask(std::size_t number, PeerNode& peer, bool& is_known, Buffer& buffer) {
        const std::string here = TRY(peer.which(key_, copy_.pieces().size()));
        is_known = !here.empty();
        plan_.heard(number, here);
        std::size_t got = 0;
        while (const std::optional<std::size_t> piece = plan_.next_from_peer(number, here)) {
            const Result<PeerNode::Answer> answer =
                peer.fetch(key_, *piece, copy_.pieces()[*piece].bytes, buffer);
            const Result<void> written =
                answer ? copy_.write(*piece, answer->bytes, answer->crc) : answer.error();
            if (!written) {
                plan_.bad(*piece);
                return written.error();
            }
            finish(*piece);
            ++got;
        }
        return got;
    }

    const wire::StageOrder& order_;
    const std::string& key_;
    Copy& copy_;
    SourceReader& reader_;
    Counters& counters_;
    const OnPiece& on_piece_;
    std::vector<wire::NodeAddress> addresses_;
    FetchPlan plan_;
    std::mutex mutex_;
    std::optional<Error> failure_;
};

}  // namespace

Result<void> fetch_all(const wire::StageOrder& order, const std::string& key, Copy& copy,
                       SourceReader& reader, Counters& counters, const OnPiece& on_piece) {
    return Fetch(order, key, copy, reader, counters, on_piece).run();
}

}  // namespace sluice::stage

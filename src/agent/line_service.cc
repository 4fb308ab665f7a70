#include "agent/line_service.h"

#include "os/stream.h"

namespace sluice {

namespace {
constexpr std::size_t kVisitsMax = 64;
constexpr std::chrono::seconds kQuestionTime{10};
}  // namespace

struct LineService::Visit {
    std::unique_ptr<Stream> stream;
    std::string question;
    Peer peer;
    EventLoop::TimerId patience = 0;
    bool has_asked = false;
    bool is_gone = false;
};

LineService::LineService(EventLoop& loop, std::size_t size_max, OnQuestion on_question)
    : loop_(loop), size_max_(size_max), on_question_(std::move(on_question)) {}

LineService::~LineService() = default;

Result<void> LineService::open(const std::string& name) {
    listener_ = TRY(listen_as(name));
    loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) {
        while (Fd connection = accept_connection(listener_)) admit(std::move(connection));
    });
    return {};
}

void LineService::admit(Fd connection) {
    const std::optional<Peer> peer = peer_of(connection);
    if (!peer || visits_.size() >= kVisitsMax) return;
    auto visit = std::make_shared<Visit>();
    visit->peer = *peer;
    visit->stream = std::make_unique<Stream>(
        loop_, std::move(connection),
        Stream::Handlers{[this, visit](std::string_view bytes) { on_data(visit, bytes); },
                         [this, visit] { leave(visit); },
                         {}});
    visit->patience = loop_.after(kQuestionTime, [this, visit] { leave(visit); });
    visits_.push_back(visit);
}

void LineService::on_data(const std::shared_ptr<Visit>& visit, std::string_view bytes) {
    if (visit->has_asked) return;
    visit->question += bytes;
    const std::size_t end = visit->question.find('\n');
    if (end == std::string::npos && visit->question.size() <= size_max_) return;
    visit->has_asked = true;
    loop_.cancel(visit->patience);
    on_question_(visit->question.substr(0, end), visit->peer,
                 [this, visit](const std::string& line) { answer(visit, line); });
}

void LineService::answer(const std::shared_ptr<Visit>& visit, const std::string& line) {
    if (visit->is_gone) return;
    if (line.empty()) return leave(visit);
    visit->stream->send(line + "\n");
    visit->stream->close_after_drain();
    if (visit->stream->closed()) leave(visit);
}

void LineService::leave(const std::shared_ptr<Visit>& visit) {
    if (visit->is_gone) return;
    visit->is_gone = true;
    loop_.cancel(visit->patience);
    loop_.later([visit] { visit->stream.reset(); });  // we are in one of its functions
    visits_.remove(visit);
}

}  // namespace sluice

#include "stepd/attached.h"

#include <algorithm>

#include "base/log.h"
#include "os/socket.h"

namespace sluice {

namespace {

constexpr std::size_t kClientsMax = 32;
constexpr std::size_t kClientBacklogMax = 1u << 20;
constexpr std::chrono::seconds kCheckInterval{5};  // a client that reads nothing for so long goes

}  // namespace

AttachedClients::AttachedClients(EventLoop& loop, Handlers handlers)
    : loop_(loop), handlers_(std::move(handlers)) {}

AttachedClients::~AttachedClients() {
    loop_.cancel(timer_);
}

void AttachedClients::add(Fd connection, const wire::StepOutput& greeting,
                          std::string_view earlier) {
    if (clients_.size() >= kClientsMax) {
        log_info("a step takes {} clients of sattach; one more was refused", kClientsMax);
        return;
    }
    set_blocking(connection, false);
    clients_.push_back(std::make_unique<Client>());
    Client& client = *clients_.back();
    client.stream = std::make_unique<Stream>(
        loop_, std::move(connection),
        Stream::Handlers{[this, &client](std::string_view bytes) { on_data(client, bytes); },
                         [this, &client] { drop(client); }, [this] { handlers_.on_drained(); }});
    std::string frame;
    append_frame(frame, greeting);
    client.stream->send(frame.append(earlier));
    if (clients_.size() == 1) timer_ = loop_.after(kCheckInterval, [this] { check(); });
}

void AttachedClients::send(const std::string& frame) {
    std::vector<Client*> all;  // one that is gone leaves clients_
    for (const auto& client : clients_) all.push_back(client.get());
    for (Client* client : all) client->stream->send(frame);
}

bool AttachedClients::is_full() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const auto& client) {
        return client->stream->backlog() > kClientBacklogMax;
    });
}

void AttachedClients::read_more(bool wanted) {
    for (const auto& client : clients_) {
        if (!client->stream->closed()) client->stream->read_more(wanted);
    }
}

void AttachedClients::on_data(Client& client, std::string_view bytes) {
    client.reader.feed(bytes);
    for (;;) {
        auto frame = client.reader.next();
        if (frame && !*frame) return;
        const Result<wire::StepInput> input =
            frame ? decode<wire::StepInput>(**frame) : Result<wire::StepInput>(frame.error());
        // Only input: signals come from srun and scancel.
        if (!input || !input->has_input()) return drop(client);
        handlers_.on_input(input->input());
    }
}

void AttachedClients::drop(Client& client) {
    const auto place = std::find_if(clients_.begin(), clients_.end(),
                                    [&](const auto& each) { return each.get() == &client; });
    if (place == clients_.end()) return;
    client.stream->close();
    // Its own function may be running.
    loop_.later([gone = std::shared_ptr<Client>(std::move(*place))] {});
    clients_.erase(place);
    loop_.later([this] { handlers_.on_drained(); });
    if (clients_.empty()) loop_.cancel(timer_);
}

void AttachedClients::check() {
    std::vector<Client*> stuck;
    for (const auto& client : clients_) {
        const std::size_t backlog = client->stream->backlog();
        if (backlog > kClientBacklogMax && backlog >= client->backlog && client->backlog > 0)
            stuck.push_back(client.get());
        client->backlog = backlog;
    }
    for (Client* client : stuck) {
        log_info("a client of sattach does not read; it was disconnected");
        drop(*client);
    }
    if (!clients_.empty()) timer_ = loop_.after(kCheckInterval, [this] { check(); });
}

}  // namespace sluice

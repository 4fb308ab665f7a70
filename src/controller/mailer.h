// controller/mailer.h
//
// Sends mail by running MailProg, one mail after the other, on its own thread: names are looked up
// and programs may hang. A mail that cannot be sent is logged and has no other effect.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/queue.h"
#include "controller/published.h"
#include "core/effect.h"
#include "os/user.h"

namespace sluice {

class Mailer {
public:
    explicit Mailer(const PublishedState& published);
    ~Mailer();  // a mail that is being sent continues; waiting ones are dropped

    // Never waits: a mail without room in the queue is dropped.
    void take(SendMail mail);

private:
    void run();
    void send(const SendMail& mail);
    void see_to_end(const std::string& program, pid_t pid);

    const PublishedState& published_;
    Queue<SendMail> queue_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

// The address; `owner` may be unknown on this machine.
std::string mail_address(const Job& job, const std::optional<User>& owner,
                         const std::string& domain);
// The job's data for MailProg, as environment variables.
std::vector<std::string> mail_variables(const SendMail& mail, const std::optional<User>& owner,
                                        const Config& config);

}  // namespace sluice

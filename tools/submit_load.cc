// tools/submit_load.cc
//
// How many durable submissions per second does a slurmctld take? Keeps its connections open, sends
// held jobs without waiting for each answer, and counts the answers.
//
//   sluice-submit-load [-n jobs] [-c connections] [-w unanswered per connection] [-p port] [-x]
//
// -x: not held, so that the scheduler works too.
#include <fmt/format.h>
#include <getopt.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "base/text.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

struct Load {
    std::uint64_t jobs = 100'000;
    std::uint64_t connections = 8;
    std::uint64_t window = 128;
    std::uint64_t port = 6817;
    bool held = true;
};

std::string request_bytes(const Load& load) {
    wire::Request request;
    const JobRequest demand{{.hold = load.held}, {.name = "load", .work_dir = "/tmp"}};
    request.mutable_submit()->set_request(encode(demand));
    request.mutable_submit()->set_script("#!/bin/sh\ntrue\n");
    request.mutable_submit()->set_environment(std::string("PATH=/usr/bin:/bin\0HOME=/root\0", 30));
    std::string bytes;
    append_frame(bytes, request);
    return bytes;
}

class Submitter {
public:
    Submitter(Fd fd, const Load& load) : fd_(std::move(fd)), load_(load) {
        wire::Hello hello;
        hello.set_version(kProtocolVersionMax);
        hello.set_program("sluice-submit-load");
        append_frame(output_, hello);
    }

    int fd() const { return fd_.get(); }
    bool wants_to_write() const { return !output_.empty(); }
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;

    // As many as may be without an answer.
    void fill(std::uint64_t& left, const std::string& request) {
        while (left > 0 && waiting_ < load_.window) {
            output_ += request;
            ++waiting_;
            --left;
        }
    }

    bool write() {
        const ssize_t size = send(fd_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
        if (size < 0) return errno == EAGAIN;
        output_.erase(0, static_cast<std::size_t>(size));
        return true;
    }

    bool read() {
        char buffer[65536];
        const ssize_t size = recv(fd_.get(), buffer, sizeof buffer, 0);
        if (size <= 0) return size < 0 && errno == EAGAIN;
        reader_.feed({buffer, static_cast<std::size_t>(size)});
        while (true) {
            const auto message = reader_.next();
            if (!message) return false;
            if (!*message) return true;
            hear(**message);
        }
    }

private:
    void hear(std::string_view message) {
        if (!welcomed_) {
            welcomed_ = true;
            return;
        }
        --waiting_;
        const auto reply = decode<wire::Reply>(message);
        if (reply && reply->has_submitted()) {
            ++accepted;
        } else if (refused++ == 0) {
            fmt::print(stderr, "refused: {}\n",
                       reply ? to_string(from_wire(reply->error())) : "malformed reply");
        }
    }

    Fd fd_;
    const Load& load_;
    std::string output_;
    FrameReader reader_;
    std::uint64_t waiting_ = 0;
    bool welcomed_ = false;
};

Result<Load> parse(int argc, char** argv) {
    Load load;
    int letter = 0;
    while ((letter = getopt(argc, argv, "n:c:w:p:x")) != -1) {
        if (letter == 'x') {
            load.held = false;
            continue;
        }
        const auto number = letter == '?' ? std::nullopt : to_number(optarg);
        if (!number || *number == 0)
            return Error{ErrorCode::BadArgument, "-n -c -w -p take numbers"};
        if (letter == 'n') load.jobs = *number;
        if (letter == 'c') load.connections = *number;
        if (letter == 'w') load.window = *number;
        if (letter == 'p') load.port = *number;
    }
    return load;
}

Result<void> run(const Load& load) {
    std::vector<Submitter> submitters;
    for (std::uint64_t i = 0; i < load.connections; ++i) {
        Connection connection =
            TRY(connect_to({"127.0.0.1", static_cast<std::uint16_t>(load.port), "slurmctld"},
                           std::chrono::seconds(5)));
        set_blocking(connection.fd, false);
        submitters.emplace_back(std::move(connection.fd), load);
    }
    const std::string request = request_bytes(load);
    std::uint64_t left = load.jobs;
    std::uint64_t done = 0, accepted = 0;
    const auto began = std::chrono::steady_clock::now();
    while (done < load.jobs) {
        std::vector<pollfd> polls;
        for (Submitter& submitter : submitters) {
            submitter.fill(left, request);
            const short events = submitter.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
            polls.push_back({submitter.fd(), events, 0});
        }
        poll(polls.data(), polls.size(), -1);
        done = accepted = 0;
        for (std::size_t i = 0; i < polls.size(); ++i) {
            Submitter& submitter = submitters[i];
            bool alive = true;
            if (polls[i].revents & POLLOUT) alive = submitter.write();
            if (alive && polls[i].revents & (POLLIN | POLLHUP)) alive = submitter.read();
            if (!alive) return Error{ErrorCode::ControllerUnreachable, "connection closed"};
            done += submitter.accepted + submitter.refused;
            accepted += submitter.accepted;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fmt::print("{} of {} accepted in {:.3f} s: {:.0f} jobs/s\n", accepted, load.jobs, took.count(),
               static_cast<double>(accepted) / took.count());
    return {};
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    const auto load = sluice::parse(argc, argv);
    const auto done = load ? sluice::run(*load) : sluice::Result<void>(load.error());
    if (done) return 0;
    fmt::print(stderr, "sluice-submit-load: {}\n", sluice::to_string(done.error()));
    return 1;
}

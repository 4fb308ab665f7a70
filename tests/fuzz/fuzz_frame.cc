// Any bytes as a stream of frames, each of them as every message that a daemon reads: errors, or
// values that go back on the wire; never a crash.
#include "fuzz.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {

namespace {

// What was accepted once is accepted again, unchanged.
template <typename Message>
void check_stable(const Message& message) {
    const auto value = from_wire(message);
    if (!value) return;
    const auto again = from_wire(to_wire(*value));
    CHECK(again.has_value());
    CHECK(*again == *value);
}

// The same for values with a list of fields.
template <typename Decode>
void check_stable(std::string_view bytes, Decode decode_value) {
    const auto value = decode_value(bytes);
    if (!value) return;
    const auto again = decode_value(encode(*value));
    CHECK(again.has_value());
    CHECK(*again == *value);
}

void read_request(const wire::Request& request) {
    check_stable(request.submit().request(), decode_request);
    check_stable(request.change_reservation(), decode_reservation_change);
    check_stable(request.update().change(), decode_job_change);
    check_stable(request.update().change(), decode_node_change);
    check_stable(request.update().change(), decode_partition_change);
    check_stable(request.set_trigger(), decode_trigger_request);
    check_stable(request.clear_triggers(), decode_trigger_choice);
    check_stable(request.list().filter());
    check_stable(request.cancel().filter());
}

void read_report(const wire::AgentReport& report) {
    check_stable(report.register_().facts(), decode_facts);
    check_stable(report.job_ended().exit());
    check_stable(report.step_ended().exit());
    check_stable(report.job_ended().use(), decode_node_use);
    check_stable(report.gpus(), decode_gpu_report);
    (void)from_wire(report.job_ended().usage());
    (void)from_wire(report.launch_result().error());
}

void read_input(const wire::StepInput& input) {
    check_stable(input.launch().job().request(), decode_request);
}

void read_frame(std::string_view frame) {
    (void)decode<wire::Hello>(frame);
    (void)decode<wire::Proof>(frame);
    if (const auto request = decode<wire::Request>(frame)) read_request(*request);
    if (const auto report = decode<wire::AgentReport>(frame)) read_report(*report);
    if (const auto input = decode<wire::StepInput>(frame)) read_input(*input);
    if (const auto listing = decode<wire::Listing>(frame)) (void)from_wire(*listing);
    check_stable(frame, decode_request);
    check_stable(frame, decode_reservation_change);
    check_stable(frame, decode_facts);
    check_stable(frame, decode_job_change);
    check_stable(frame, decode_partition_change);
    check_stable(frame, decode_node_use);
    check_stable(frame, decode_gpu_report);
}

}  // namespace

void fuzz_one(std::string_view bytes) {
    FrameReader reader(kHelloSizeMax);
    const std::size_t half = bytes.size() / 2;
    for (const std::string_view part : {bytes.substr(0, half), bytes.substr(half)}) {
        reader.feed(part);
        auto frame = reader.next();
        while (frame && *frame) {
            read_frame(**frame);
            frame = reader.next();
        }
        if (!frame) return;
    }
}

}  // namespace sluice

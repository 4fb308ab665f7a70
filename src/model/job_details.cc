// model/job_details.cc: how the texts of a job are packed.
#include "model/job_details.h"

#include <cstring>

namespace sluice {

PackedDetails::PackedDetails(const JobDetails& details) : submit_sid_(details.submit_sid) {
    auto for_each_text = [&](auto visit) {
        for (Text member : kTexts) visit(details.*member);
        for (const std::string& argument : details.script_args) visit(argument);
    };
    std::size_t count = kTextCount + details.script_args.size();
    std::size_t size = (count + 1) * sizeof(Offset);
    for_each_text([&](const std::string& text) { size += text.size(); });
    bytes_.reserve(size);
    bytes_.resize((count + 1) * sizeof(Offset));
    std::size_t place = 0;
    auto note_offset = [&] {
        auto here = static_cast<Offset>(bytes_.size());
        std::memcpy(bytes_.data() + place++ * sizeof(Offset), &here, sizeof(Offset));
    };
    for_each_text([&](const std::string& text) {
        note_offset();
        bytes_ += text;
    });
    note_offset();
}

JobDetails PackedDetails::unpacked() const {
    JobDetails details;
    for (Text member : kTexts) details.*member = text(member);
    details.script_args.reserve(script_arg_count());
    for (std::size_t i = 0; i < script_arg_count(); ++i)
        details.script_args.emplace_back(script_arg(i));
    details.submit_sid = submit_sid_;
    return details;
}

PackedDetails::Offset PackedDetails::offset(std::size_t place) const {
    Offset offset;
    std::memcpy(&offset, bytes_.data() + place * sizeof(Offset), sizeof(Offset));
    return offset;
}

std::string_view PackedDetails::at(std::size_t place) const {
    return std::string_view(bytes_).substr(offset(place), offset(place + 1) - offset(place));
}

}  // namespace sluice

#include "agent/gpu_codec.h"

namespace sluice {

namespace {

// Bits of the mask, those that change most in its first byte. Bits 0 to 4: the first values.
constexpr std::uint64_t kInterval = 1 << 5;  // another one than before
constexpr std::uint64_t kHolders = 1 << 6;
constexpr std::uint64_t kXids = 1 << 7;
constexpr int kFirstValues = 5;
constexpr std::uint64_t kMaskMost = (1 << 11) - 1;
constexpr std::size_t kListMost = 256;

std::uint64_t bit_of(std::size_t value) {
    return std::uint64_t{1} << (value < kFirstValues ? value : value + 3);
}

void put_number(std::uint64_t number, std::string& bytes) {
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
    bytes += static_cast<char>(number);
}

// Small differences of either sign become small numbers.
std::uint64_t folded(std::uint64_t difference) {
    const auto is_negative = static_cast<std::int64_t>(difference) < 0;
    return (difference << 1) ^ (is_negative ? ~std::uint64_t{0} : 0);
}
std::uint64_t unfolded(std::uint64_t number) {
    return (number >> 1) ^ (0 - (number & 1));
}

}  // namespace

void GpuEncoder::add(const GpuRecord& record, std::string& bytes) {
    const std::int64_t interval = to_unix(record.time) - to_unix(last_.time);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < GpuRecord::kValues; ++i) {
        if (record.values[i] != last_.values[i]) mask |= bit_of(i);
    }
    if (interval != interval_) mask |= kInterval;
    if (record.holders != last_.holders) mask |= kHolders;
    if (!record.xids.empty()) mask |= kXids;
    put_number(mask, bytes);
    for (std::size_t i = 0; i < GpuRecord::kValues; ++i) {
        if (mask & bit_of(i)) put_number(folded(record.values[i] - last_.values[i]), bytes);
    }
    if (mask & kInterval) put_number(folded(static_cast<std::uint64_t>(interval)), bytes);
    if (mask & kHolders) {
        put_number(record.holders.size(), bytes);
        for (const GpuHolder& each : record.holders) {
            for (std::uint32_t number : {each.job, each.restarts, each.user, each.step})
                put_number(number, bytes);
        }
    }
    if (mask & kXids) {
        put_number(record.xids.size(), bytes);
        for (std::uint32_t xid : record.xids) put_number(xid, bytes);
    }
    last_ = record;
    interval_ = interval;
}

std::optional<std::uint64_t> GpuDecoder::number() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < left_.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(left_[i]);
        number |= std::uint64_t{byte & 0x7fu} << (7 * i);
        if (byte >= 0x80) continue;
        left_.remove_prefix(i + 1);
        return number;
    }
    return {};
}

bool GpuDecoder::read_differences(std::uint64_t mask) {
    for (std::size_t i = 0; i < GpuRecord::kValues; ++i) {
        if (!(mask & bit_of(i))) continue;
        const auto difference = number();
        if (!difference) return false;
        last_.values[i] += unfolded(*difference);
    }
    if (!(mask & kInterval)) return true;
    const auto interval = number();
    if (interval) interval_ = static_cast<std::int64_t>(unfolded(*interval));
    return interval.has_value();
}

bool GpuDecoder::read_holders() {
    const auto count = number();
    if (!count || *count > kListMost) return false;
    last_.holders.resize(*count);
    for (GpuHolder& each : last_.holders) {
        for (std::uint32_t* member : {&each.job, &each.restarts, &each.user, &each.step}) {
            const auto value = number();
            if (!value || *value > 0xffffffff) return false;
            *member = static_cast<std::uint32_t>(*value);
        }
    }
    return true;
}

bool GpuDecoder::read_xids() {
    const auto count = number();
    if (!count || *count > kListMost) return false;
    last_.xids.resize(*count);
    for (std::uint32_t& xid : last_.xids) {
        const auto value = number();
        if (!value || *value > 0xffffffff) return false;
        xid = static_cast<std::uint32_t>(*value);
    }
    return true;
}

std::optional<GpuRecord> GpuDecoder::next() {
    constexpr std::int64_t kTimeMost = std::int64_t{1} << 40;
    const auto mask = number();
    if (!mask || *mask > kMaskMost || !read_differences(*mask)) return left_ = {}, std::nullopt;
    last_.xids.clear();
    if ((*mask & kHolders) && !read_holders()) return left_ = {}, std::nullopt;
    if ((*mask & kXids) && !read_xids()) return left_ = {}, std::nullopt;
    const std::int64_t before = to_unix(last_.time);
    if (interval_ > kTimeMost - before || interval_ < -before) return left_ = {}, std::nullopt;
    last_.time = from_unix(before + interval_);
    return last_;
}

}  // namespace sluice

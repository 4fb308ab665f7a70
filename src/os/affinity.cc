#include "os/affinity.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace sluice {

namespace {

constexpr std::size_t kNumberCount = 4096;  // CPUs and domains that can be named
constexpr std::size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
using Bits = std::vector<unsigned long>;

Bits bits_of(const std::vector<std::uint32_t>& numbers) {
    Bits bits(kNumberCount / kWordBits);
    for (std::uint32_t number : numbers) {
        if (number < kNumberCount) bits[number / kWordBits] |= 1ul << number % kWordBits;
    }
    return bits;
}

std::vector<std::uint32_t> numbers_in(const Bits& bits) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < kNumberCount; ++i) {
        if ((bits[i / kWordBits] >> i % kWordBits & 1) != 0) numbers.push_back(i);
    }
    return numbers;
}

}  // namespace

// The calls of the C library are made for a set of 1024 CPUs; the kernel takes any size.
bool set_cpus(pid_t pid, const std::vector<std::uint32_t>& cpus) {
    const Bits bits = bits_of(cpus);
    return syscall(SYS_sched_setaffinity, pid, bits.size() * sizeof bits[0], bits.data()) == 0;
}

std::vector<std::uint32_t> cpus_of(pid_t pid) {
    Bits bits(kNumberCount / kWordBits);
    if (syscall(SYS_sched_getaffinity, pid, bits.size() * sizeof bits[0], bits.data()) < 0)
        return {};
    return numbers_in(bits);
}

bool set_memory_policy(MemoryPolicy policy, const std::vector<std::uint32_t>& domains) {
    if (policy == MemoryPolicy::Local)
        return syscall(SYS_set_mempolicy, MPOL_LOCAL, nullptr, 0) == 0;
    const bool prefers = policy == MemoryPolicy::Prefer;
    const Bits bits = bits_of(prefers && !domains.empty() ? std::vector{domains.front()} : domains);
    return syscall(SYS_set_mempolicy, prefers ? MPOL_PREFERRED : MPOL_BIND, bits.data(),
                   kNumberCount) == 0;
}

std::vector<std::uint32_t> memory_domains() {
    Bits bits(kNumberCount / kWordBits);
    if (syscall(SYS_get_mempolicy, nullptr, bits.data(), kNumberCount, nullptr,
                MPOL_F_MEMS_ALLOWED) != 0) {
        return {};
    }
    return numbers_in(bits);
}

}  // namespace sluice

#include "os/device_filter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "os/error.h"
#include "os/fd.h"

namespace sluice {

namespace {

bpf_insn instruction(unsigned code, unsigned to, unsigned from, int offset, int number) {
    bpf_insn result{};
    result.code = static_cast<__u8>(code);
    result.dst_reg = to & 0xfu;
    result.src_reg = from & 0xfu;
    result.off = static_cast<__s16>(offset);
    result.imm = number;
    return result;
}

bpf_insn load_word(unsigned to, std::size_t offset) {
    return instruction(BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_1, static_cast<int>(offset), 0);
}

bpf_insn skip_unless_equal(unsigned what, unsigned number, int count) {
    return instruction(BPF_JMP | BPF_JNE | BPF_K, what, 0, count, static_cast<int>(number));
}

void append_answer(std::vector<bpf_insn>& program, int answer) {
    program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, answer));
    program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

long bpf(bpf_cmd command, bpf_attr& attributes) {
    return syscall(__NR_bpf, command, &attributes, sizeof attributes);
}

}  // namespace

Result<std::vector<DeviceNumber>> device_numbers(const std::vector<std::string>& files) {
    std::vector<DeviceNumber> numbers;
    for (const std::string& file : files) {
        struct stat status {};
        if (stat(file.c_str(), &status) != 0) return os_error(file);
        if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) {
            return Error{ErrorCode{}, fmt::format("{}: not a device", file)};
        }
        numbers.push_back({S_ISBLK(status.st_mode), major(status.st_rdev), minor(status.st_rdev)});
    }
    return numbers;
}

std::vector<bpf_insn> device_program(const std::vector<DeviceNumber>& denied) {
    constexpr unsigned kKind = BPF_REG_2, kMajor = BPF_REG_3, kMinor = BPF_REG_4;
    constexpr int kKindMask = 0xffff;  // the upper half says what is to be done with the device
    std::vector<bpf_insn> program = {
        load_word(kKind, offsetof(bpf_cgroup_dev_ctx, access_type)),
        instruction(BPF_ALU | BPF_AND | BPF_K, kKind, 0, 0, kKindMask),
        load_word(kMajor, offsetof(bpf_cgroup_dev_ctx, major)),
        load_word(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)),
    };
    for (const DeviceNumber& device : denied) {
        program.push_back(
            skip_unless_equal(kKind, device.block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR, 4));
        program.push_back(skip_unless_equal(kMajor, device.major, 3));
        program.push_back(skip_unless_equal(kMinor, device.minor, 2));
        append_answer(program, 0);
    }
    append_answer(program, 1);
    return program;
}

Result<void> attach_device_filter(const std::string& directory,
                                  const std::vector<DeviceNumber>& denied) {
    const std::vector<bpf_insn> instructions = device_program(denied);
    bpf_attr load{};
    load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    load.insns = reinterpret_cast<std::uintptr_t>(instructions.data());
    load.insn_cnt = static_cast<__u32>(instructions.size());
    load.license = reinterpret_cast<std::uintptr_t>("");
    const Fd program(static_cast<int>(bpf(BPF_PROG_LOAD, load)));
    if (!program) return os_error("BPF_PROG_LOAD of the device program");
    const Fd cgroup(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!cgroup) return os_error(directory);
    bpf_attr attach{};
    attach.target_fd = static_cast<__u32>(cgroup.get());
    attach.attach_bpf_fd = static_cast<__u32>(program.get());
    attach.attach_type = BPF_CGROUP_DEVICE;
    attach.attach_flags = BPF_F_ALLOW_MULTI;
    if (bpf(BPF_PROG_ATTACH, attach) == 0) return {};
    return os_error(fmt::format("BPF_PROG_ATTACH of the device program to {}", directory));
}

}  // namespace sluice

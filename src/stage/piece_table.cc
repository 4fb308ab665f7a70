#include "stage/piece_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "os/error.h"
#include "os/fd.h"

namespace sluice::stage {

namespace {
constexpr const char* kName = "pieces";
}

Result<PieceTable> PieceTable::create(int directory, std::size_t count) {
    const Fd file(openat(directory, kName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file || ftruncate(file.get(), static_cast<off_t>(count * sizeof(Row))) != 0)
        return os_error(kName);
    return open(directory, true);
}

Result<PieceTable> PieceTable::open(int directory, bool writable) {
    const Fd file(openat(directory, kName, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) return os_error(kName);
    const auto bytes = static_cast<std::size_t>(status.st_size);
    if (bytes == 0) return PieceTable(nullptr, 0);
    const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* mapped = mmap(nullptr, bytes, access, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED) return os_error(kName);
    return PieceTable(static_cast<Row*>(mapped), bytes / sizeof(Row));
}

PieceTable::PieceTable(PieceTable&& other) noexcept
    : rows_(std::exchange(other.rows_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PieceTable::~PieceTable() {
    if (rows_) munmap(rows_, size_ * sizeof(Row));
}

bool PieceTable::is_here(std::size_t piece) const {
    return rows_[piece].is_here.load(std::memory_order_acquire) == 1;
}

void PieceTable::set_here(std::size_t piece, std::uint32_t crc) {
    rows_[piece].crc = crc;
    rows_[piece].is_here.store(1, std::memory_order_release);
}

}  // namespace sluice::stage

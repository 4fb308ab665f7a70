// Does main_quick_start.cc work with this C library? CMake builds the two together and runs them:
// what the start has to bring up is used here, and 0 is the answer if all of it is there.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

thread_local int number_of_thread = 7;
const std::string kMadeBeforeMain(100, 'x');

bool catches_exceptions() {
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception& error) {
        return std::string(error.what()) == "thrown";
    }
}

bool runs_threads() {
    int seen = 0;
    std::thread([&] { seen = ++number_of_thread; }).join();
    return seen == 8 && number_of_thread == 7;
}

// All sizes between those at which memcpy() and its like change their ways.
bool copies(std::size_t size_max) {
    auto from = std::make_unique<char[]>(size_max + 1);
    auto to = std::make_unique<char[]>(size_max + 1);
    for (std::size_t size = 1; size <= size_max; size = size * 5 / 3 + 1) {
        std::memset(from.get(), static_cast<int>(size % 100 + 1), size);
        std::memcpy(to.get() + 1, from.get(), size);
        if (std::memcmp(to.get() + 1, from.get(), size) != 0) return false;
        std::memmove(to.get(), to.get() + 1, size);
        to[size] = 0;
        if (std::strlen(to.get()) != size) return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const bool works = argc > 0 && argv[0] && kMadeBeforeMain.size() == 100 &&
                       setenv("NAME", "value", 1) == 0 && std::getenv("NAME") &&
                       catches_exceptions() && runs_threads() && copies(10'000'000);
    return works ? 0 : 1;
}

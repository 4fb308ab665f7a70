// sluice-relay: started by slurmd for a part of a step's nodes. Descriptor 3 is the connection of
// srun, descriptor 4 a file with the LaunchTree, the argument is the path of slurm.conf.
#include <unistd.h>

#include <csignal>

#include "config/config.h"
#include "model/errors.h"
#include "os/files.h"
#include "protocol/convert.h"
#include "relay/relay.h"

namespace sluice {
namespace {

constexpr int kSrunFd = 3, kTreeFd = 4;

Result<void> run(const std::string& config_path, Fd srun) {
    const Config config = TRY(load_settings(config_path));
    wire::LaunchTree tree;
    if (!tree.ParseFromFileDescriptor(kTreeFd) || tree.nodes().empty())
        return Error{ErrorCode::ProtocolError, "the order of a relay cannot be read"};
    close(kTreeFd);
    EventLoop loop;
    Relay relay(loop, config, std::move(srun), std::move(tree));
    relay.launch();
    loop.run();
    return {};
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    std::signal(SIGPIPE, SIG_IGN);
    const sluice::Result<void> done = sluice::run(argv[1], sluice::Fd(sluice::kSrunFd));
    return done ? 0 : 1;
}

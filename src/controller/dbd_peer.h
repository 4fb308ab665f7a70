// controller/dbd_peer.h
//
// slurmdbd, as the controller sees it. When the first host does not answer, the backup is asked.
#pragma once

#include "auth/authenticator.h"
#include "controller/accountant.h"
#include "net/peer.h"

namespace sluice {

class DbdPeer : public AccountingPeer {
public:
    DbdPeer(const PublishedState& published, Authenticator& authenticator)
        : published_(published), live_(published.config.get()), authenticator_(authenticator) {}

    Result<std::uint64_t> last_delivered() override { return deliver({}); }
    Result<std::uint64_t> deliver(const std::vector<NumberedFact>& facts) override;
    Result<void> keep_script(const std::string& hash, std::string_view bytes) override;
    Result<std::shared_ptr<const Policy>> policy_after(std::uint64_t version) override;
    Result<std::vector<UsageImport>> imports_after(std::uint64_t number) override;

private:
    Result<wire::Reply> ask(const wire::Request& request);
    std::string own_name() const;

    const PublishedState& published_;
    const std::shared_ptr<const LiveConfig>
        live_;  // of the start; keys of accounting need a restart
    Authenticator& authenticator_;
    std::mutex mutex_;  // the accountant's thread and that of a change ask
    DaemonPeer peer_;
};

}  // namespace sluice

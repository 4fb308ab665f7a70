// controller/controller.h
//
// The parts of slurmctld: the store, the core's thread, the store's thread and the server, in the
// order of their dependencies.
#pragma once

#include <memory>
#include <string>

#include "auth/launch_credential.h"
#include "controller/accountant.h"
#include "controller/committer.h"
#include "controller/ctld_host.h"
#include "controller/fleet.h"
#include "controller/loop.h"
#include "controller/mailer.h"
#include "controller/services.h"

namespace sluice {

struct StartOptions {
    bool clear_state = false;                 // -c
    bool ignore_state_errors = false;         // -i
    std::function<void()> on_fenced = [] {};  // another controller has taken over: see Committer
};

class Controller {
public:
    // Loads the state and starts to serve.
    static Result<std::unique_ptr<Controller>> start(std::shared_ptr<const LiveConfig> config,
                                                     const StartOptions& options);
    ~Controller();

    void reconfigure();  // SIGHUP: errors go to the log
    void stop();         // answers accepted requests, then ends

private:
    Controller(std::unique_ptr<Store> store, CredentialSigner signer,
               std::unique_ptr<Authenticator> authenticator,
               std::shared_ptr<const LiveConfig> config);
    Result<void> open_accounting(std::shared_ptr<const Policy> stored);
    Result<void> recover(const StartOptions& options);

    std::unique_ptr<Store> store_;
    CredentialSigner signer_;
    std::unique_ptr<Authenticator> authenticator_;
    Inbox inbox_{kInboxSize};
    PublishedState published_;
    Services services_;
    CtldHost host_{services_};
    Server server_;
    Fleet fleet_;
    Mailer mailer_{published_};
    JobPrograms programs_{published_, inbox_};
    std::unique_ptr<Cluster> cluster_;               // until the loop takes it
    std::unique_ptr<AccountingService> accounting_;  // null: slurmdbd has the database
    std::unique_ptr<Accountant> accountant_;
    std::unique_ptr<Committer> committer_;
    std::unique_ptr<Loop> loop_;
};

}  // namespace sluice

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
#include "controller/lease_keeper.h"
#include "controller/loop.h"
#include "controller/mailer.h"
#include "controller/services.h"

namespace sluice {

// What a controller of several has when it becomes the active one.
struct Takeover {
    std::unique_ptr<Store> store;
    StoredState state;
    const LeaseKeeper& keeper;                       // has the lease
    std::function<void()> before_listening = [] {};  // the standby leaves its ports
};

struct StartOptions {
    bool clear_state = false;                 // -c
    bool ignore_state_errors = false;         // -i
    std::function<void()> on_fenced = [] {};  // another controller has taken over: see Committer
    std::optional<Takeover> takeover = {};    // absent: there is one controller
};

AuthSettings auth_settings(const LiveConfig& live);

class Controller {
public:
    // Loads the state and starts to serve.
    static Result<std::unique_ptr<Controller>> start(std::shared_ptr<const LiveConfig> config,
                                                     StartOptions options);
    ~Controller();

    void reconfigure();  // SIGHUP: errors go to the log
    void stop();         // answers accepted requests, then ends

private:
    Controller(std::unique_ptr<Store> store, CredentialSigner signer,
               std::unique_ptr<Authenticator> authenticator,
               std::shared_ptr<const LiveConfig> config);
    void tell_triggers_of_start();
    Result<void> open_accounting(std::shared_ptr<const Policy> stored);
    Result<void> recover(StartOptions& options);
    Result<StoredState> load_state(const StartOptions& options);

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
    PowerPrograms power_programs_{published_, inbox_};
    TriggerPrograms triggers_{published_};
    std::unique_ptr<Cluster> cluster_;               // until the loop takes it
    std::unique_ptr<AccountingService> accounting_;  // null: slurmdbd has the database
    std::unique_ptr<Accountant> accountant_;
    std::unique_ptr<Committer> committer_;
    std::unique_ptr<Loop> loop_;
};

}  // namespace sluice

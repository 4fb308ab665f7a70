// See dbd_peer.h.
#include "controller/dbd_peer.h"

#include "auth/handshake.h"
#include "model/accounting_question.h"
#include "model/errors.h"
#include "model/policy_fields.h"
#include "model/preempt.h"
#include "model/used_fields.h"
#include "os/socket.h"
#include "protocol/fact_codec.h"
#include "protocol/field_codec.h"

namespace sluice {

Result<std::uint64_t> DbdPeer::deliver(const std::vector<NumberedFact>& facts) {
    wire::Request request;
    wire::DeliverFacts& message = *request.mutable_deliver_facts();
    message.set_cluster(live_->config.cluster_name);
    for (const NumberedFact& each : facts) {
        wire::DeliverFacts::Row& row = *message.add_rows();
        row.set_number(each.sequence);
        row.set_kind(static_cast<std::uint32_t>(each.fact.index()));
        row.set_fact(encode(each.fact));
    }
    return TRY(ask(request)).delivered();
}

Result<void> DbdPeer::keep_script(const std::string& hash, std::string_view bytes) {
    wire::Request request;
    request.mutable_keep_script()->set_hash(hash);
    request.mutable_keep_script()->set_script(std::string(bytes));
    TRY(ask(request));
    return {};
}

Result<std::shared_ptr<const Policy>> DbdPeer::policy_after(std::uint64_t version) {
    wire::Request request;
    wire::AskPolicy& message = *request.mutable_ask_policy();
    message.set_cluster(live_->config.cluster_name);
    message.set_version(version);
    message.set_host(own_name());
    message.set_port(live_->config.slurmctld_port);
    message.set_gang(parse_preempt_words(published_.config.get()->config.preempt_mode).gang);
    const wire::Reply reply = TRY(ask(request));
    if (reply.rows().rows_size() == 0) return std::shared_ptr<const Policy>();
    Policy policy;
    TRY(field_codec::get_fields(reply.rows().rows(0), policy));
    return std::make_shared<const Policy>(std::move(policy));
}

Result<std::vector<UsageImport>> DbdPeer::imports_after(std::uint64_t number) {
    AccountingQuestion question;
    question.kind = AccountingQuestion::Kind::Imports;
    question.cluster = live_->config.cluster_name;
    question.after = number;
    wire::Request request;
    field_codec::put_fields(question, *request.mutable_ask_accounting());
    const wire::Reply reply = TRY(ask(request));
    std::vector<UsageImport> imports;
    for (const std::string& row : reply.rows().rows())
        TRY(field_codec::get_fields(row, imports.emplace_back()));
    return imports;
}

// As SlurmctldHost names it.
std::string DbdPeer::own_name() const {
    const std::vector<ControllerHost>& hosts = live_->config.controllers;
    for (const ControllerHost& host : hosts)
        if (is_local_address(host.name) || is_local_address(host.address)) return host.name;
    return hosts.empty() ? host_name() : hosts.front().name;
}

Result<wire::Reply> DbdPeer::ask(const wire::Request& request) {
    const Config& config = live_->config;
    std::vector<PeerHost> hosts;
    for (const std::string& host : {config.accounting_host, config.accounting_backup_host}) {
        if (host.empty()) continue;
        hosts.push_back({{.address = host, .port = config.accounting_port, .daemon = "slurmdbd"},
                         dbd_destination(host)});
    }
    const std::lock_guard guard(mutex_);
    return peer_.ask({"slurmctld", live_->slurm_user, authenticator_}, config, hosts, request);
}

}  // namespace sluice

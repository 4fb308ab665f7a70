// cli/scontrol/hosts.cc
//
// scontrol show hostnames, hostlist, hostlistsorted. Launch scripts call these thousands of times,
// on compute nodes too: nothing here reads slurm.conf or opens a connection.
#include "base/text.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "os/files.h"

namespace sluice {

namespace {

// "-" is standard input, a path a file; both hold names separated by commas, blanks or newlines.
Result<std::string> list_text(Session& session, const std::string& list) {
    std::string text = list;
    if (list == "-") {
        text = TRY(session.streams.read_all());
    } else if (list.starts_with('/')) {
        text = TRY(read_file(list));
    } else {
        return text;
    }
    std::string joined;
    for (std::string_view word : words(text)) {
        if (!joined.empty() && !joined.ends_with(',')) joined += ',';
        joined += word;
    }
    return joined;
}

}  // namespace

int show_hosts(Session& session, std::string_view entity, const std::string* list) {
    const bool expands = entity == "hostnames";
    std::string text;
    if (list) {
        Result<std::string> read = list_text(session, *list);
        if (!read) {
            print_error(session.streams, session.invocation, to_string(read.error()));
            return 1;
        }
        text = std::move(*read);
    } else if (expands) {
        text = session.invocation.environment.find("SLURM_JOB_NODELIST").value_or("");
    } else {
        session.streams.err("invalid encode argument\n");
        return 1;
    }
    if (text.empty()) {
        // Compat: an empty list is complained about, but no failure.
        print_error(session.streams, session.invocation, "host list is empty");
        return 0;
    }
    Result<Hostlist> hosts = Hostlist::parse(text);
    if (!hosts) {
        print_error(session.streams, session.invocation, fmt::format("Invalid hostlist: {}", text));
        return 1;
    }
    std::string out;
    if (expands) {
        for (const std::string& name : hosts->names()) out.append(name).append("\n");
    } else {
        out = (entity == "hostlistsorted" ? hosts->sorted() : *hosts).to_string() + "\n";
    }
    session.streams.out(out);
    return 0;
}

}  // namespace sluice

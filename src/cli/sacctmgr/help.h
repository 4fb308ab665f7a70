// cli/sacctmgr/help.h
//
// sacctmgr --help.
#pragma once

#include <string_view>

namespace sluice {

constexpr std::string_view kSacctmgrHelp = R"(sacctmgr [<OPTION>] [<COMMAND>]
    Options:
      -h, --help          show this text
      -i, --immediate     make changes without asking
      -n, --noheader      no header line
      -o, --oneliner      one record per line (always)
      -p, --parsable      '|' after each value
      -P, --parsable2     '|' between values
      -Q, --quiet         do not print the changes
      -r, --readonly      refuse changes
      -s, --associations  show users and accounts with their associations
      -v, --verbose       print the changes
      -V, --version       print the version and exit
          --json[=PARSER], --yaml[=PARSER]
                          show as a document: accounts, associations, qos, tres, users
    Commands (without one, they are read from standard input):
      add <ENTITY> <SPECS>                     account, cluster, coordinator, qos, resource, user
      modify <ENTITY> [where] <SPECS> set <SPECS>
      delete <ENTITY> [where] <SPECS>
      show <ENTITY> [<SPECS>] [format=<FIELD>[%[-]<WIDTH>],...]
                                               also association, configuration, event, problem,
                                               reservation, runawayjobs, transaction, tres, wckey
      dump <CLUSTER> [file=<FILE>]             write accounts and users of a cluster to a file
      load [file=]<FILE> [clean] [cluster=<NAME>]
                                               make what a file of dump says; all of it or nothing
      archive dump [Directory=<DIR>] Purge...After=<AGE>... [Jobs] [Steps] [Events] ...
                                               delete old rows; those named go to a file first
      archive load File=<FILE>                 add the rows of such a file
      ping, reconfigure, shutdown, version, help
    In a session: exit, quit, immediate, parsable, quiet, readonly, verbose; !! repeats.
    Specifications:
      accounts   Names= Clusters= Description= Organization= Parent= and limits
      users      Names= Accounts= Clusters= Partitions= DefaultAccount= DefaultWCKey= WCKeys=
                 AdminLevel= (None, Operator, Administrator) NewName= and limits
      clusters   Names= Classification= and limits of the whole cluster
      resources  Names= Server= Type=License Count= Description= ServerType= Clusters=
                 PercentAllowed= Allowed=
      coordinators  Names= Accounts=
      listings   WithAssoc WithCoord WithDeleted WithSubAccounts WithClusters Tree OnlyDefaults
                 WOLimits WOPInfo WOPLimits Start= End= Actors= Actions= Users= Nodes= States=
    Limits of accounts, users and clusters (TRES such as cpu=8,mem=64G,gres/gpu=2; -1 removes one):
      Fairshare= (or parent) Priority= QOS= QOS+= QOS-= DefaultQOS= Comment=
      GrpTRES= GrpTRESMins= GrpTRESRunMins= GrpJobs= GrpJobsAccrue= GrpSubmitJobs= GrpWall=
      MaxTRES= MaxTRESPerNode= MaxTRESMins= MaxTRESRunMins= MaxJobs= MaxJobsAccrue=
      MaxSubmitJobs= MaxWall= MinPrioThreshold=
    Keys of a QOS:
      Description= Priority= Preempt= (= += -=) PreemptMode= PreemptExemptTime= GraceTime=
      UsageFactor= UsageThreshold= LimitFactor= MinPrioThreshold=
      MaxTRESPerJob= MaxTRESPerNode= MinTRESPerJob= MaxTRESMins= MaxWall=
      GrpTRES= GrpTRESMins= GrpTRESRunMins= GrpJobs= GrpJobsAccrue= GrpSubmitJobs= GrpWall=
      MaxTRESPerUser= MaxTRESRunMinsPerUser= MaxJobsPerUser= MaxJobsAccruePerUser=
      MaxSubmitJobsPerUser= and the same with PerAccount
      Flags= (= += -=) DenyOnLimit, EnforceUsageThreshold, NoDecay, NoReserve, OverPartQOS,
      PartitionMaxNodes, PartitionMinNodes, PartitionTimeLimit, Relative, RequiresReservation,
      UsageFactorSafe
    "create" is "add", "update" is "modify", "remove" is "delete", "list" is "show".
)";

}  // namespace sluice

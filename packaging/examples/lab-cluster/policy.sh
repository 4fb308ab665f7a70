#!/bin/sh
# Makes the QOS, accounts and users of the example. Can be run again after labs.cfg was edited.
set -e
here=$(dirname "$0")

# The QOS exist once. sacctmgr ends with 1 if there is nothing to add.
add_qos() {
    sacctmgr -nP show qos "$1" format=name | grep -qx "$1" || sacctmgr -i add qos "$@"
}

add_qos debug MaxTRESPerUser=gres/gpu=5
add_qos short
add_qos long
add_qos user-overcap
add_qos overcap

sacctmgr -i load file="$here/labs.cfg"

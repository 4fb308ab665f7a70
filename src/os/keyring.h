// os/keyring.h
//
// The kernel's key rings: Kerberos tickets and keys of encrypted directories live there.
#pragma once

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {

// From now on we and our children have a session keyring of our own: what slurmd's holds is not
// seen any more. Nothing happens where the kernel has none.
inline void leave_session_keyring() {
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
}

}  // namespace sluice

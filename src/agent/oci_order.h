// agent/oci_order.h
#pragma once

#include "config/config.h"
#include "order.pb.h"

namespace sluice {

// oci.conf, as a supervisor is told it.
wire::OciRuntime oci_order(const OciConfig& config);

}  // namespace sluice

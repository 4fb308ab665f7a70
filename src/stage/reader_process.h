// stage/reader_process.h
#pragma once

#include <vector>

#include "stage/reader.h"

namespace sluice::stage {

// Becomes the user and answers questions until the other side closes; returns the exit status.
int run_reader(const ReaderUser& user, int control, const std::vector<Fd>& channels);

}  // namespace sluice::stage

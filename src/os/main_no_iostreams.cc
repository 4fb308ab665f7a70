// Part of static programs only. Protobuf's headers include <iostream>, and whatever includes it
// sets up the standard streams with all their locales before main(): a tenth of a tool's start.
// Nothing in them uses those, so here is a set-up that does nothing. Being linked first, it keeps
// the library's own out of the program.
#include <ios>

std::ios_base::Init::Init() = default;
std::ios_base::Init::~Init() = default;

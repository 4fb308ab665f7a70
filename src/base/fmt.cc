// base/fmt.cc
//
// Debian ships fmt as headers and a shared library; tools that must start in a millisecond want it
// inside. So its definitions are compiled here, once, instead of in every file.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template char decimal_point_impl<char>(locale_ref);
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
}  // namespace detail
FMT_END_NAMESPACE

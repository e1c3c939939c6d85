// Compiled for processors with these vectors (CMakeLists.txt). Whatever is instantiated here for a double alone must be
// inlined: another file's code could end up with this one's.
#include "delta/at_once.hpp"

namespace gambrel::delta_detail {

const AtOnceFunctions* at_once_avx512() {
#ifdef __AVX512F__
    static constexpr AtOnceFunctions functions = at_once_in_lanes<8>();
    return &functions;
#else
    return nullptr;
#endif
}

}  // namespace gambrel::delta_detail

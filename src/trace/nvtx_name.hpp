// What the text of an NVTX range says: a name or, of torch.autograd.profiler.emit_nvtx, an operator with its shapes.
#pragma once

#include <cstdint>
#include <string_view>

namespace gambrel::trace_detail {

// "aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], [3, 4]]": an operator of torch.autograd.profiler.emit_nvtx.
struct NvtxName {
    std::string_view name, sizes;
    std::int64_t sequence = -1;
    bool op = false;
};
NvtxName nvtx_name(std::string_view text);

}  // namespace gambrel::trace_detail

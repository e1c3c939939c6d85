#include "trace/nvtx_name.hpp"

#include <algorithm>

#include "trace/json_token.hpp"

namespace gambrel::trace_detail {

NvtxName nvtx_name(std::string_view text) {
    NvtxName out{text, {}, -1, false};
    const auto end = std::min(text.find(", seq = "), text.find(", op_id = "));
    if (end != std::string_view::npos) {
        out.name = text.substr(0, end);
        out.op = true;
        if (const auto at = text.find(", seq = "); at != std::string_view::npos) {
            const auto digits = text.substr(at + 8, text.find(',', at + 8) - at - 8);
            out.sequence = integer(digits).value_or(-1);
        }
    }
    if (const auto at = text.find("sizes = ["); at != std::string_view::npos) {
        std::size_t depth = 0;
        for (std::size_t i = at + 8; i < text.size(); ++i) {
            depth += text[i] == '[' ? 1 : 0;
            if (text[i] == ']' && --depth == 0) {
                out.sizes = text.substr(at + 8, i - at - 7);
                break;
            }
        }
    }
    out.op |= out.name.starts_with("aten::") || out.name.starts_with("torch::") || out.name.starts_with("autograd::");
    return out;
}

}  // namespace gambrel::trace_detail

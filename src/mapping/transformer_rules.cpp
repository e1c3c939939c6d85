// How libraries run attention and experts where nothing says so.
#include <algorithm>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {

Mapping attention_mapping(const Layer& layer, const Machine& machine, const SmLimits&) {
    const auto& a = std::get<Attention>(layer.op);
    Mapping m;
    m.family = KernelFamily::attention;
    m.pipe = fitting_pipe(layer, {}, machine);
    m.threads = 128;
    m.registers = 255;
    m.cta = {128, 64, static_cast<std::int32_t>(std::min<std::int64_t>(a.head_dim, 1024))};
    return m;
}

Mapping experts_mapping(const Layer& layer, const Machine& machine, const SmLimits&) {
    Mapping m;
    m.family = KernelFamily::experts;
    m.pipe = fitting_pipe(layer, {}, machine);
    m.threads = 256;
    m.registers = 255;
    m.cta = {64, 128, 64};
    return m;
}

}  // namespace gambrel::mapping_detail

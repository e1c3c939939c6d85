// CUPTI's range profiler over the model: it counts what the model's caches moved. Strict about the order of calls and
// the sizes of their structures. PTX_COUNTERS_DENIED is a code that enabling them returns; PTX_CHIP a chip's name, and
// one without memory of its own ("GB20B") does not know the metric of DRAM.
#include <cstdlib>
#include <cstring>
#include <string>

#include "gpu.hpp"
#include "measure/cuda/cupti.hpp"

namespace {

using namespace gambrel::measure_detail;

constexpr int kInvalid = 1, kNotReady = 22;

struct Session {
    bool initialized = false, enabled = false, configured = false, started = false, stopped = false, decoded = false;
    int metrics = 0, hosts = 0;
};
Session& session() {
    static Session one;
    return one;
}
std::string chip() {
    const char* name = std::getenv("PTX_CHIP");
    return name != nullptr ? name : "GA100";
}
// The sizes that NVIDIA's headers of CUDA 13.0 give.
bool is_sized(const CuptiHead& p, std::size_t size) { return p.size == size && p.none == nullptr; }
int host_object, range_object;

}  // namespace

extern "C" {

int cuptiProfilerInitialize(CuptiInitialize* p) {
    session() = {};
    session().initialized = true;
    return is_sized(*p, 16) ? 0 : kInvalid;
}
int cuptiDeviceGetChipName(CuptiChipName* p) {
    static std::string name;
    name = chip();
    p->chip = name.c_str();
    return is_sized(*p, 32) && p->device == 0 ? 0 : kInvalid;
}
int cuptiProfilerHostInitialize(CuptiHostInitialize* p) {
    if (!is_sized(*p, 48) || p->profiler != 0 || p->chip == nullptr) return kInvalid;
    ++session().hosts;
    return p->host = reinterpret_cast<CuptiHostObject*>(&host_object), 0;
}
int cuptiProfilerHostDeinitialize(CuptiHost* p) { return --session().hosts, is_sized(*p, 24) ? 0 : kInvalid; }
int cuptiProfilerHostConfigAddMetrics(CuptiAddMetrics* p) {
    if (!is_sized(*p, 40)) return kInvalid;
    for (std::size_t i = 0; i < p->count; ++i)
        if (chip() == "GB20B" && std::string(p->metrics[i]).starts_with("dram")) return kInvalid;
    return session().metrics = static_cast<int>(p->count), 0;
}
int cuptiProfilerHostGetConfigImageSize(CuptiImageSize* p) { return p->bytes = 64, is_sized(*p, 32) ? 0 : kInvalid; }
int cuptiProfilerHostGetConfigImage(CuptiImage* p) {
    return std::memset(p->image, 7, p->bytes), is_sized(*p, 40) ? 0 : kInvalid;
}
int cuptiRangeProfilerEnable(CuptiEnable* p) {
    if (const char* code = std::getenv("PTX_COUNTERS_DENIED")) return std::atoi(code);
    if (!session().initialized || !is_sized(*p, 32) || p->context == nullptr) return kInvalid;
    session().enabled = true;
    return p->ranges = reinterpret_cast<CuptiRangeObject*>(&range_object), 0;
}
int cuptiRangeProfilerDisable(CuptiRange* p) { return session().enabled = false, is_sized(*p, 24) ? 0 : kInvalid; }
int cuptiRangeProfilerGetCounterDataSize(CuptiCounterSize* p) {
    if (!is_sized(*p, 64) || p->most_nodes < p->most_ranges || static_cast<int>(p->count) != session().metrics)
        return kInvalid;
    return p->bytes = 256, 0;
}
int cuptiRangeProfilerCounterDataImageInitialize(CuptiCounterImage* p) {
    return std::memset(p->image, 0, p->bytes), is_sized(*p, 40) ? 0 : kInvalid;
}
int cuptiRangeProfilerSetConfig(CuptiConfig* p) {
    const bool right = is_sized(*p, 90) && session().enabled && p->config_bytes == 64 && p->config[0] == 7 &&
                       p->range == 1 && p->replay == 2 && p->most_ranges == 1 && p->levels == 1;
    return session().configured = right, right ? 0 : kInvalid;
}
int cuptiRangeProfilerStart(CuptiRange* p) {
    if (!session().configured || !is_sized(*p, 24)) return kNotReady;
    session().started = true;
    ptx::current_gpu()->moved = {};
    return 0;
}
int cuptiRangeProfilerStop(CuptiStop* p) {
    if (!session().started || !is_sized(*p, 41)) return kNotReady;
    return session().started = false, session().stopped = true, p->all_passes = 1, 0;
}
int cuptiRangeProfilerDecodeData(CuptiDecode* p) {
    if (!session().stopped || !is_sized(*p, 32)) return kNotReady;
    p->dropped = ptx::current_gpu()->moved.launches == 1 ? 0 : 1;  // one range, one launch
    return session().decoded = true, 0;
}
int cuptiProfilerHostEvaluateToGpuValues(CuptiEvaluate* p) {
    if (!session().decoded || !is_sized(*p, 72) || p->bytes != 256 || p->range != 0) return kNotReady;
    const ptx::Gpu::Moved& moved = ptx::current_gpu()->moved;
    for (std::size_t i = 0; i < p->count; ++i) {
        const std::string metric = p->metrics[i];
        p->values[i] = metric == "l1tex__t_bytes.sum" ? moved.l1 : metric == "lts__t_bytes.sum" ? moved.l2 : moved.dram;
    }
    return 0;
}

}  // extern "C"

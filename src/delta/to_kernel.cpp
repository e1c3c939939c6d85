#include <algorithm>

#include <gambrel/delta.hpp>

namespace gambrel {
namespace {

template <class Q>
Amount<Q> modelled(double value, std::string_view rule) {
    return {Q{value}, Origin::modelled, Symbol(rule)};
}

std::uint32_t whole(std::int64_t n) { return static_cast<std::uint32_t>(std::max<std::int64_t>(1, n)); }

}  // namespace

// A layer that runs several times is a group of as many launches; amounts are of all of them.
Kernel to_kernel(const Layer& layer, const Prediction& p, const Hardware& hardware) {
    Kernel k;
    k.name = Symbol(layer.name);
    k.phase = Symbol(name(layer.pass));
    k.launches = static_cast<std::uint64_t>(std::max(1.0, layer.repeat));
    const double n = layer.repeat;
    k.time = modelled<Seconds>(p.time * n, "delta.time");
    k.work[p.mapping.pipe] = modelled<Flops>(p.flop * n, "network.flop");
    for (const Pipe pipe : {Pipe::fp32, Pipe::fp16, Pipe::tensor_fp16})
        if (!k.work[pipe]) k.work[pipe] = modelled<Flops>(0, "network.flop");
    k.bytes[Level::l1] = modelled<Bytes>(p.traffic.l1.total() * n, "delta.l1");
    k.bytes[Level::l2] = modelled<Bytes>(p.traffic.l2.total() * n, "delta.l2");
    k.bytes[Level::dram] = modelled<Bytes>(p.traffic.dram.total() * n, "delta.dram");
    k.clock = modelled<Frequency>(hardware.clock, "machine.clock");
    if (p.flop <= 0) k.zero_flop_launches = k.launches;
    if (p.mapping.family == KernelFamily::tiled)
        k.shape = LaunchShape{{whole(p.grid.rows), whole(p.grid.columns), whole(p.grid.batch * p.grid.split_k)},
                              {whole(p.mapping.threads), 1, 1}};
    return k;
}

}  // namespace gambrel

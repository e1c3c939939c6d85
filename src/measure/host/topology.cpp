#include "measure/host/topology.hpp"

#include <algorithm>

#include <hwloc.h>

namespace gambrel::measure_detail {

struct HostTopology::Impl {
    hwloc_topology_t topology = nullptr;
    std::vector<hwloc_obj_t> cores;
};

HostTopology::HostTopology() : impl_(std::make_unique<Impl>()) {}

HostTopology::~HostTopology() {
    if (impl_->topology) hwloc_topology_destroy(impl_->topology);
}

Result<std::unique_ptr<HostTopology>> HostTopology::load() {
    std::unique_ptr<HostTopology> made(new HostTopology);
    Impl& in = *made->impl_;
    if (hwloc_topology_init(&in.topology) != 0) return failure("hwloc", "cannot begin to read the topology");
    if (hwloc_topology_load(in.topology) != 0) return failure("hwloc", "cannot read the topology of this machine");
    // hwloc knows what cgroups allow; what taskset or mpirun bound this process to must be asked for.
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(in.topology, bound, HWLOC_CPUBIND_PROCESS) != 0)
        hwloc_bitmap_copy(bound, hwloc_topology_get_allowed_cpuset(in.topology));
    hwloc_obj_t core = nullptr;
    while ((core = hwloc_get_next_obj_by_type(in.topology, HWLOC_OBJ_CORE, core)) != nullptr)
        if (hwloc_bitmap_intersects(core->cpuset, bound) != 0) in.cores.push_back(core);
    hwloc_bitmap_free(bound);
    if (in.cores.empty()) return failure("hwloc", "shows no core that this process may use");
    return made;
}

int HostTopology::cores() const { return static_cast<int>(impl_->cores.size()); }

std::vector<DeviceLevel> HostTopology::levels() const {
    std::vector<DeviceLevel> found;
    for (hwloc_obj_t o = impl_->cores.front(); o != nullptr; o = o->parent) {
        Level level{};
        if (o->type == HWLOC_OBJ_L1CACHE)
            level = Level::l1;
        else if (o->type == HWLOC_OBJ_L2CACHE)
            level = Level::l2;
        else if (o->type == HWLOC_OBJ_L3CACHE)
            level = Level::l3;
        else
            continue;
        const auto sharers = std::count_if(impl_->cores.begin(), impl_->cores.end(), [&](hwloc_obj_t c) {
            return hwloc_bitmap_isincluded(c->cpuset, o->cpuset) != 0;
        });
        if (o->attr->cache.size > 0)
            found.push_back({level, Bytes{static_cast<double>(o->attr->cache.size)}, static_cast<int>(sharers)});
    }
    const auto memory = static_cast<double>(hwloc_get_root_obj(impl_->topology)->total_memory);
    if (memory > 0) found.push_back({Level::dram, Bytes{memory}, cores()});
    return found;
}

std::string HostTopology::cpu_fact(const char* name) const {
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
        const hwloc_obj_t o = hwloc_get_obj_by_type(impl_->topology, type, 0);
        const char* fact = o ? hwloc_obj_get_info_by_name(o, name) : nullptr;
        if (fact) return fact;
    }
    return {};
}

bool HostTopology::bind_to(int core) const {
    hwloc_cpuset_t one = hwloc_bitmap_dup(impl_->cores.at(static_cast<std::size_t>(core))->cpuset);
    hwloc_bitmap_singlify(one);
    const bool bound = hwloc_set_cpubind(impl_->topology, one, HWLOC_CPUBIND_THREAD) == 0;
    hwloc_bitmap_free(one);
    return bound;
}

}  // namespace gambrel::measure_detail

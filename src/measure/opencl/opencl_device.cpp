#include "measure/opencl/opencl_device.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "measure/gpu/device_number.hpp"
#ifdef GAMBREL_HAVE_OPENCL
#include "measure/gpu/probes.hpp"
#include "measure/opencl/opencl_backend.hpp"
#endif

namespace gambrel::measure_detail {

#ifdef GAMBREL_HAVE_OPENCL

namespace {

using Api = std::shared_ptr<const OpenclApi>;

std::vector<cl_device_id> all_devices(const OpenclApi& api) {
    cl_uint platforms = 0;
    if (api.clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS) return {};
    std::vector<cl_platform_id> ids(platforms);
    api.clGetPlatformIDs(platforms, ids.data(), nullptr);
    std::vector<cl_device_id> all;
    for (cl_platform_id platform : ids) {
        cl_uint count = 0;
        if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
        const std::size_t before = all.size();
        all.resize(before + count);
        api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data() + before, nullptr);
    }
    return all;
}

std::string text_of(const OpenclApi& api, cl_device_id device, cl_device_info what) {
    std::size_t size = 0;
    if (api.clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string text(size, '\0');
    api.clGetDeviceInfo(device, what, size, text.data(), nullptr);
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
    return text;
}

template <class T>
T number_of(const OpenclApi& api, cl_device_id device, cl_device_info what) {
    T value{};
    return api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

Target target_of(const OpenclApi& api, cl_device_id device) {
    Target target;
    target.dialect = Dialect::opencl;
    target.cpu = (number_of<cl_device_type>(api, device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    const std::string extensions = text_of(api, device, CL_DEVICE_EXTENSIONS);
    target.fp64 = extensions.find("cl_khr_fp64") != std::string::npos;
    target.fp16 = extensions.find("cl_khr_fp16") != std::string::npos;
    // A GPU that prefers scalars still packs two halves in a register.
    const auto width = [&](cl_device_info what, int least) {
        return std::clamp(static_cast<int>(number_of<cl_uint>(api, device, what)), least, 16);
    };
    target.lanes[Pipe::fp64] = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 1);
    target.lanes[Pipe::fp32] = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1);
    target.lanes[Pipe::fp16] = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 2);
    target.lanes[Pipe::int32] = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 1);
    target.vec_words = target.cpu ? std::clamp(target.lanes[Pipe::int32], 4, 16) : 4;
    target.shared_bytes = static_cast<std::int64_t>(number_of<cl_ulong>(api, device, CL_DEVICE_LOCAL_MEM_SIZE));
    return target;
}

DeviceInfo info_of(const OpenclApi& api, cl_device_id device, const Target& target) {
    DeviceInfo info;
    info.kind = DeviceKind::opencl;
    info.name = text_of(api, device, CL_DEVICE_NAME);
    info.id = fmt::format("{} {}", info.name, text_of(api, device, CL_DRIVER_VERSION));
    info.detail =
        fmt::format("{}, driver {}", text_of(api, device, CL_DEVICE_VERSION), text_of(api, device, CL_DRIVER_VERSION));
    info.units = std::max(1, static_cast<int>(number_of<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS)));
    if (const auto mhz = number_of<cl_uint>(api, device, CL_DEVICE_MAX_CLOCK_FREQUENCY); mhz > 0)
        info.clock = Frequency(mhz * 1e6);
    const auto add = [&](Level level, cl_device_info what, int sharers) {
        const auto bytes = number_of<cl_ulong>(api, device, what);
        if (bytes > 0) info.levels.push_back({level, Bytes(static_cast<double>(bytes)), sharers});
    };
    // CPUs keep __local in ordinary memory: no level of its own.
    if (number_of<cl_device_local_mem_type>(api, device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL)
        add(Level::shared, CL_DEVICE_LOCAL_MEM_SIZE, 1);
    // OpenCL reports one cache, the last. A CPU device is this host, whose C library reports the inner ones.
    if (target.cpu) {
        if (const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE); l1 > 0)
            info.levels.push_back({Level::l1, Bytes(static_cast<double>(l1)), 1});
        if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0)
            info.levels.push_back({Level::l2, Bytes(static_cast<double>(l2)), 1});
    }
    add(target.cpu ? Level::l3 : Level::l2, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, info.units);
    add(Level::dram, CL_DEVICE_GLOBAL_MEM_SIZE, info.units);
    if (const Machine* known = find_in_catalogue(info.name)) info.theoretical = *known;
    return info;
}

}  // namespace

Result<std::unique_ptr<Device>> open_opencl_device(std::string_view rest) {
    const auto api = open_opencl();
    if (!api) return tl::unexpected(api.error());
    const std::vector<cl_device_id> devices = all_devices(**api);
    const auto number = device_number("opencl", rest, devices.size());
    if (!number) return tl::unexpected(number.error());
    const Target target = target_of(**api, devices[*number]);
    DeviceInfo info = info_of(**api, devices[*number], target);
    auto backend = make_opencl_backend(*api, devices[*number], target);
    if (!backend) return tl::unexpected(backend.error());
    const int units = info.units;
    return make_gpu_device(std::move(info), {std::move(*backend), units});
}

std::vector<DeviceFound> find_opencl_devices() {
    const auto api = open_opencl();
    if (!api) return {};
    std::vector<DeviceFound> found;
    for (cl_device_id device : all_devices(**api))
        found.push_back({fmt::format("opencl:{}", found.size()), text_of(**api, device, CL_DEVICE_NAME)});
    return found;
}

#else

Result<std::unique_ptr<Device>> open_opencl_device(std::string_view) {
    return failure("opencl",
                   "this gambrel was built without the OpenCL headers; install opencl-headers and build again");
}
std::vector<DeviceFound> find_opencl_devices() { return {}; }

#endif

}  // namespace gambrel::measure_detail

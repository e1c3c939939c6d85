#ifdef GAMBREL_HAVE_OPENCL
#include "measure/opencl/opencl_api.hpp"

#include <array>

#include <fmt/format.h>

namespace gambrel::measure_detail {

Result<std::shared_ptr<const OpenclApi>> open_opencl() {
    const std::array<std::string, 2> names{"libOpenCL.so.1", "libOpenCL.so"};
    auto library = DynamicLibrary::open("GAMBREL_OPENCL", names);
    if (!library) return tl::unexpected(library.error());
    auto api = std::make_shared<OpenclApi>();
    api->library = std::move(*library);
    std::vector<std::string> missing;
#define GAMBREL_NEED(name) api->library.need(api->name, #name, missing);
    GAMBREL_OPENCL_FUNCTIONS(GAMBREL_NEED)
#undef GAMBREL_NEED
    if (auto all = check_missing(api->library, missing); !all) return tl::unexpected(all.error());
    return api;
}

std::string opencl_error(cl_int code) {
    struct Named {
        cl_int code;
        const char* name;
    };
    constexpr std::array kNames{Named{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
                                Named{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
                                Named{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
                                Named{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
                                Named{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
                                Named{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
                                Named{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
                                Named{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
                                Named{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
                                Named{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
                                Named{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
                                Named{-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};
    for (const Named& known : kNames)
        if (known.code == code) return fmt::format("{} ({})", known.name, code);
    return fmt::format("OpenCL error {}", code);
}

}  // namespace gambrel::measure_detail
#endif

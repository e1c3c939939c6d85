#include "measure/cuda/nvrtc.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

// From cc 9.0 on the strongest instructions belong to one architecture each, which the "a" asks for. NVRTC 11.8 lists
// 90 but refuses sm_90a.
bool has_accelerated_form(int cc, int compiler_major) { return cc >= 90 && compiler_major >= 12; }

}  // namespace

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(int driver) {
    const auto names = cuda_library_names("libnvrtc.so", {"13", "12", "11.2"}, driver);
    auto library = DynamicLibrary::open("GAMBREL_NVRTC", names);
    if (!library) {
        Errors errors = library.error();
        errors.front().what += "; it comes with the CUDA toolkit and as a Python package";
        return tl::unexpected(std::move(errors));
    }
    auto made = std::make_shared<Nvrtc>();
    made->library_ = std::move(*library);
    std::vector<std::string> missing;
    const auto need = [&](auto& function, const char* name) { made->library_.need(function, name, missing); };
    need(made->version_, "nvrtcVersion");
    need(made->error_text_, "nvrtcGetErrorString");
    need(made->create_, "nvrtcCreateProgram");
    need(made->destroy_, "nvrtcDestroyProgram");
    need(made->compile_, "nvrtcCompileProgram");
    need(made->log_size_, "nvrtcGetProgramLogSize");
    need(made->log_, "nvrtcGetProgramLog");
    need(made->ptx_size_, "nvrtcGetPTXSize");
    need(made->ptx_, "nvrtcGetPTX");
    if (auto all = check_missing(made->library_, missing); !all) return tl::unexpected(all.error());
    made->cubin_size_ = made->library_.find<int(Handle, std::size_t*)>("nvrtcGetCUBINSize");
    made->cubin_ = made->library_.find<int(Handle, char*)>("nvrtcGetCUBIN");
    made->version_(&made->major_, &made->minor_);
    const auto count = made->library_.find<int(int*)>("nvrtcGetNumSupportedArchs");
    const auto list = made->library_.find<int(int*)>("nvrtcGetSupportedArchs");
    int size = 0;
    if (count != nullptr && list != nullptr && count(&size) == 0 && size > 0) {
        made->supported_.resize(static_cast<std::size_t>(size));
        list(made->supported_.data());
        std::sort(made->supported_.begin(), made->supported_.end());
    }
    return made;
}

std::string Nvrtc::version() const { return fmt::format("{}.{}", major_, minor_); }

std::string Nvrtc::architecture_for(ComputeCapability cc) const {
    const int wanted = cc.major * 10 + cc.minor;
    // A compiler from before 11.2 does not list its architectures; it knows those up to Ampere, and makes PTX only.
    if (supported_.empty() || cubin_ == nullptr) return fmt::format("compute_{}", std::min(wanted, 80));
    if (std::binary_search(supported_.begin(), supported_.end(), wanted))
        return fmt::format("sm_{}{}", wanted, has_accelerated_form(wanted, major_) ? "a" : "");
    const auto newer = std::upper_bound(supported_.begin(), supported_.end(), wanted);
    return newer == supported_.begin() ? "" : fmt::format("compute_{}", *std::prev(newer));
}

Result<Nvrtc::Binary> Nvrtc::compile(const KernelSource& source, const std::string& architecture) const {
    const auto text_of = [this](int code) { return std::string(error_text_(code)); };
    Handle program = nullptr;
    const std::string name = source.entry + ".cu";
    if (const int code = create_(&program, source.text.c_str(), name.c_str(), 0, nullptr, nullptr); code != 0)
        return failure("nvrtc", fmt::format("nvrtcCreateProgram failed: {}", text_of(code)));
    const std::string option = "--gpu-architecture=" + architecture;
    const std::array<const char*, 2> options{option.c_str(), "--std=c++14"};
    if (const int code = compile_(program, static_cast<int>(options.size()), options.data()); code != 0) {
        auto error =
            failure(fmt::format("nvrtc {}: kernel {}", version(), source.entry),
                    fmt::format("does not compile for {}: {}\n{}", architecture, text_of(code), log_of(program)));
        destroy_(&program);
        return error;
    }
    Binary binary;
    binary.ptx = architecture.starts_with("compute_");
    std::size_t size = 0;
    int code = binary.ptx ? ptx_size_(program, &size) : cubin_size_(program, &size);
    if (code == 0) {
        binary.image.resize(size);
        code = binary.ptx ? ptx_(program, binary.image.data()) : cubin_(program, binary.image.data());
    }
    destroy_(&program);
    if (code != 0) return failure("nvrtc", fmt::format("the compiled kernel cannot be read: {}", text_of(code)));
    return binary;
}

std::string Nvrtc::log_of(Handle program) const {
    std::size_t size = 0;
    if (log_size_(program, &size) != 0 || size == 0) return {};
    std::string log(size, '\0');
    if (log_(program, log.data()) != 0) return {};
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
}

}  // namespace gambrel::measure_detail

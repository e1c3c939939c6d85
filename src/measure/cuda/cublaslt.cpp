#include "measure/cuda/cublaslt.hpp"

#include <fmt/format.h>

namespace gambrel::measure_detail {

Result<std::shared_ptr<const CublasLt>> open_cublaslt(int driver) {
    const auto names = cuda_library_names("libcublasLt.so", {"13", "12", "11"}, driver);
    auto library = DynamicLibrary::open("GAMBREL_CUBLASLT", names);
    if (!library) return tl::unexpected(library.error());
    auto made = std::make_shared<CublasLt>();
    made->library = std::move(*library);
    std::vector<std::string> missing;
    const auto need = [&](auto& function, const char* name) { made->library.need(function, name, missing); };
    need(made->create, "cublasLtCreate");
    need(made->destroy, "cublasLtDestroy");
    need(made->descriptor_create, "cublasLtMatmulDescCreate");
    need(made->descriptor_set, "cublasLtMatmulDescSetAttribute");
    need(made->descriptor_destroy, "cublasLtMatmulDescDestroy");
    need(made->layout_create, "cublasLtMatrixLayoutCreate");
    need(made->layout_destroy, "cublasLtMatrixLayoutDestroy");
    need(made->preference_create, "cublasLtMatmulPreferenceCreate");
    need(made->preference_set, "cublasLtMatmulPreferenceSetAttribute");
    need(made->preference_destroy, "cublasLtMatmulPreferenceDestroy");
    need(made->heuristic, "cublasLtMatmulAlgoGetHeuristic");
    need(made->matmul, "cublasLtMatmul");
    if (auto all = check_missing(made->library, missing); !all) return tl::unexpected(all.error());
    if (const int code = made->create(&made->handle); code != 0) {
        made->handle = nullptr;
        return failure(made->library.path(), fmt::format("cublasLtCreate failed: status {}", code));
    }
    return made;
}

}  // namespace gambrel::measure_detail

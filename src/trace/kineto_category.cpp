#include <array>

#include "trace/kineto_event.hpp"

namespace gambrel::trace_detail {

// The spellings of 2021 beside those of later years; ROCm, XPU and other back ends write the same words for GPU work.
Category category_of(std::string_view cat) {
    struct Word {
        std::string_view text;
        Category category;
    };
    static constexpr std::array<Word, 27> kWords = {{{"cpu_op", Category::op},
                                                     {"kernel", Category::kernel},
                                                     {"cuda_runtime", Category::call},
                                                     {"python_function", Category::python},
                                                     {"cuda_driver", Category::call},
                                                     {"gpu_memcpy", Category::copy},
                                                     {"gpu_memset", Category::memset},
                                                     {"user_annotation", Category::annotation},
                                                     {"Operator", Category::op},
                                                     {"Kernel", Category::kernel},
                                                     {"Runtime", Category::call},
                                                     {"Driver", Category::call},
                                                     {"Memcpy", Category::copy},
                                                     {"Memset", Category::memset},
                                                     {"User Annotation", Category::annotation},
                                                     {"concurrent_kernel", Category::kernel},
                                                     {"memcpy", Category::copy},
                                                     {"memset", Category::memset},
                                                     {"hip_runtime", Category::call},
                                                     {"hip_driver", Category::call},
                                                     {"xpu_runtime", Category::call},
                                                     {"xpu_driver", Category::call},
                                                     {"privateuse1_runtime", Category::call},
                                                     {"privateuse1_driver", Category::call},
                                                     {"PythonFunction", Category::python},
                                                     {"Python", Category::python},
                                                     {"cuda_profiler_range", Category::counters}}};
    for (const auto& [text, category] : kWords)
        if (cat == text) return category;
    return Category::other;
}

// Before Kineto the profiler wrote no categories: a process is "CPU functions" or "CUDA functions".
Category category_of_process(std::string_view pid) {
    if (pid == "CPU functions") return Category::op;
    return pid == "CUDA functions" ? Category::kernel : Category::other;
}

}  // namespace gambrel::trace_detail

// Compiled kernels of one probe, each compiled when first asked for: sets of different sizes want different shapes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

class Programs {
public:
    explicit Programs(Backend& backend) : backend_(&backend) {}

    Result<const Program*> get(const KernelSource& source) {
        auto& slot = compiled_[source.entry + '\n' + source.text];
        if (slot == nullptr) {
            auto made = backend_->compile(source);
            if (!made) return tl::unexpected(made.error());
            slot = std::move(*made);
        }
        return slot.get();
    }

private:
    Backend* backend_;
    std::map<std::string, std::unique_ptr<Program>> compiled_;
};

}  // namespace gambrel::measure_detail

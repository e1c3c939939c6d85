// What is on this machine: ncu and its version, and the GPU. Asks ncu and nvidia-smi; links with neither.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/ingest.hpp>

namespace gambrel::app {

struct NcuTool {
    std::string path;
    std::optional<NcuVersion> version;  // absent if it would not say
};

// --ncu, then PATH, then the places where NVIDIA's installers put it, newest first.
Result<NcuTool> find_ncu(const std::string& flag);

struct TargetGpu {
    std::string name;  // empty if only the compute capability is known
    std::string chip;  // "GA100" if the catalogue knows it
    ComputeCapability cc;
    std::vector<std::string> notes;
};

// --cc, then --gpu (a machine of the catalogue or a machine file), then nvidia-smi.
Result<TargetGpu> find_gpu(const std::string& machine, const std::string& cc);

}  // namespace gambrel::app

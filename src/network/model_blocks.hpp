// The layers of a transformer, block by block: fused as serving engines run them, or every operator of eager PyTorch by
// itself. Equal blocks are one layer each with `repeat`.
#pragma once

#include <string>

#include "network/model_config.hpp"

namespace gambrel::network_detail {

class ModelBlocks {
public:
    ModelBlocks(const TransformerConfig& config, const ModelOptions& options);
    void add_all(Network& network);

    // Valid after add_all: elements of the whole model; of this GPU; their bytes as stored.
    [[nodiscard]] double parameters() const { return parameters_; }
    [[nodiscard]] double local_parameters() const { return local_parameters_; }
    [[nodiscard]] Bytes weight_bytes() const { return weight_bytes_; }

private:
    // `rows` x `cols` elements of each tensor.
    struct Vector {
        StreamingKind kind;
        double rows, cols;
        double read = 1, written = 1, parameters = 0, table_rows = 0;
    };
    void linear(const std::string& name, std::int64_t rows, std::int64_t outputs, std::int64_t inputs, double share);
    void vector(const std::string& name, const Vector& vector);
    void norm(const std::string& name, bool with_residual);
    void all_reduce(const std::string& name);
    void attention_block(std::int64_t window, double repeat);
    void latent_attention();
    void fused_attention(std::int64_t window);
    void eager_attention();
    void gelu_by_parts(const std::string& name, double rows, double columns);
    void dense_block(const std::string& name, std::int64_t intermediate);
    void expert_block();
    void count(double elements, double share, bool quantized);
    Layer& push(const std::string& name);

    const TransformerConfig& c_;
    const ModelOptions& o_;
    Network* network_ = nullptr;
    Precision precision_;
    std::int64_t tokens_, gpus_, heads_, kv_heads_;  // heads of this GPU
    double repeat_ = 1;
    double parameters_ = 0, local_parameters_ = 0;
    Bytes weight_bytes_;
};

}  // namespace gambrel::network_detail

// Writes a built-in network down layer by layer: each step takes tensors, adds one layer and gives its output.
// Invariant: shapes follow from the steps; no size is written twice. It knows no particular network.
#pragma once

#include <string>
#include <vector>

#include <gambrel/network.hpp>

namespace gambrel::network_detail {

struct Tensor {
    std::int64_t n = 1, c = 1, h = 1, w = 1;
    bool trained = false;  // something before it learns
    [[nodiscard]] double elements() const {
        return static_cast<double>(n) * static_cast<double>(c) * static_cast<double>(h) * static_cast<double>(w);
    }
};

struct ConvStep {
    std::int64_t k = 1, filter = 1, stride = 1, pad = 0, dilation = 1, groups = 1;
    bool bias = false;
};
struct PoolStep {
    std::int64_t filter = 2, stride = 2, pad = 0;
    bool ceil = false;  // an output for a window that hangs over the edge, as Caffe pools
};

class NetworkBuilder {
public:
    NetworkBuilder(std::string name, std::string note);

    Tensor input(const std::string& name, Tensor shape);
    Tensor conv(const std::string& name, Tensor in, const ConvStep& step);
    // Output size stride * in; runs as the dgrad of the convolution that maps the other way.
    Tensor conv_transposed(const std::string& name, Tensor in, const ConvStep& step, std::int64_t output_padding = 0);
    Tensor conv_bn_relu(const std::string& name, Tensor in, const ConvStep& step);
    Tensor conv_bias_relu(const std::string& name, Tensor in, ConvStep step);
    Tensor fc(const std::string& name, Tensor in, std::int64_t outputs);
    // y = x W with x of `rows` x in.w
    Tensor linear(const std::string& name, Tensor in, std::int64_t outputs);
    Tensor batched_gemm(const std::string& name, const Gemm& gemm, Tensor out);

    Tensor batch_norm(const std::string& name, Tensor in);
    Tensor relu(const std::string& name, Tensor in) { return pointwise(name, in, StreamingKind::activation); }
    Tensor pointwise(const std::string& name, Tensor in, StreamingKind kind);
    Tensor norm(const std::string& name, Tensor in, StreamingKind kind, std::int64_t parameters);
    Tensor lrn(const std::string& name, Tensor in, std::int64_t size);
    Tensor max_pool(const std::string& name, Tensor in, const PoolStep& step);
    Tensor average_pool(const std::string& name, Tensor in);  // to 1 x 1
    Tensor add(const std::string& name, Tensor a, Tensor b);
    Tensor concat(const std::string& name, const std::vector<Tensor>& parts);
    Tensor resize(const std::string& name, Tensor in, std::int64_t h, std::int64_t w);
    Tensor copy(const std::string& name, Tensor in, Tensor out);
    Tensor gather(const std::string& name, Tensor out, std::int64_t table_rows);
    Tensor softmax(const std::string& name, Tensor in) { return pointwise(name, in, StreamingKind::softmax); }

    Network take() { return std::move(network_); }

private:
    Layer& push(const std::string& name, bool trained);
    Tensor stream(const std::string& name, const Streaming& streaming, Tensor out, bool trained);
    Network network_;
};

}  // namespace gambrel::network_detail

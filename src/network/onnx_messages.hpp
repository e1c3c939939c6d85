// The messages of an ONNX model that shapes need, as views into its bytes. Weights are skipped by their length: of a
// tensor only the dimensions are decoded, and values only where it is as small as a shape. External data is not opened.
// Malformed bytes throw protozero::exception, which the reader catches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gambrel::network_detail {

// More elements than any shape, pad list or scale list has.
inline constexpr std::size_t kMostValues = 4096;

// TensorProto.DataType, as far as it matters here.
enum OnnxType : int {
    kOnnxUnknown = 0,
    kOnnxFloat = 1,
    kOnnxUint8 = 2,
    kOnnxInt8 = 3,
    kOnnxInt32 = 6,
    kOnnxInt64 = 7,
    kOnnxBool = 9,
    kOnnxFloat16 = 10,
    kOnnxDouble = 11,
    kOnnxBfloat16 = 16,
    kOnnxFirstFp8 = 17,
    kOnnxLastFp8 = 20,
};

struct OnnxTensor {
    std::string_view name;
    std::vector<std::int64_t> dims;
    int type = kOnnxUnknown;
    std::optional<std::vector<double>> values;  // in doubles: shapes and scales are exact in them
};
OnnxTensor decode_onnx_tensor(std::string_view message);

struct OnnxAttribute {
    std::string_view name, text;
    std::int64_t integer = 0;
    double number = 0;
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    std::string_view tensor;  // undecoded
    bool has_graph = false;
};

struct OnnxNode {
    std::string_view name, op, domain;
    std::vector<std::string_view> inputs, outputs;
    std::vector<OnnxAttribute> attributes;
};

struct OnnxDim {
    std::int64_t value = -1;  // -1: not given
    std::string_view symbol;
};
struct OnnxValueInfo {
    std::string_view name;
    int type = kOnnxUnknown;
    bool has_shape = false;
    std::vector<OnnxDim> dims;
};

struct OnnxModel {
    std::int64_t opset = 0;  // of ONNX's own operators; 0: not given
    std::string_view graph_name;
    bool has_graph = false;
    std::vector<OnnxNode> nodes;
    std::vector<OnnxTensor> initializers;
    std::vector<OnnxValueInfo> inputs, outputs, infos;  // infos: of inner tensors
};
OnnxModel decode_onnx_model(std::string_view bytes);

}  // namespace gambrel::network_detail

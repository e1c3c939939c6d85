// A launch beside its operator, and what the operator's rule makes of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/network.hpp>
#include <gambrel/trace.hpp>

#include "trace/operator_table.hpp"

namespace gambrel::trace_detail {

// What a kernel does inside its operator, by its name.
enum class Role : std::uint8_t {
    main,
    to_nhwc,       // a transposition of an operand, before
    to_nchw,       // of the result, after
    split_reduce,  // adds the partial sums of split-K
    scale,         // prepares the result that a kernel adds into
    offsets,       // computes addresses
    im2col,
    winograd_input,
    winograd_filter,
    winograd_output,
    fft,
    before_attention,  // of a backward pass: row sums of gradient x output
    after_attention,   // of a backward pass: converts the accumulated gradient
    elementwise,
};
Role role_of(std::string_view kernel);
bool is_elementwise(std::string_view kernel);  // one of PyTorch's loops over all elements
bool is_gemv(std::string_view kernel);         // a matrix product without tiles

bool is_expert_product(std::string_view kernel);  // multiplies by matrices of experts that tokens chose
// As such a kernel's name says how the weights are stored, where it is not as they are multiplied.
std::optional<Precision> expert_weights(std::string_view kernel);

struct Launch {
    const Timeline* timeline = nullptr;
    const OperatorTable* table = nullptr;
    const Activity* activity = nullptr;
    const OperatorCall* call = nullptr;
    const OperatorRule* rule = nullptr;
    Role role = Role::main;
    int nth = 0, count = 1;                     // among the launches of the same call and role
    double share = 1;                           // of what the launches of this role do together
    double split_k = 1;                         // of the main kernel
    bool dominant = true;                       // no kernel of another name takes more of the call's time
    std::span<const std::size_t> of_call;       // all kernels of the call, as indices into the timeline's activities
    const MixtureOfExperts* experts = nullptr;  // of the network that the user names
    bool winograd = false;  // of the transforming kind: the main kernel multiplies transformed tiles
    [[nodiscard]] std::string_view kernel() const { return activity->name.str(); }
};

// A Layer for the estimator, with corrections; or a fault.
struct Described {
    std::optional<Layer> layer;
    double share = 1;           // of the layer that this launch does
    std::optional<Flops> flop;  // instead of the layer's
    Bytes extra;                // moved at every level beside the layer's: an addend that is read
    std::vector<std::string> remarks;
    std::string fault;

    static Described refused(std::string why) {
        Described out;
        out.fault = std::move(why);
        return out;
    }
};

Described describe_gemm(const Launch& launch);
Described describe_grouped(const Launch& launch);
Described describe_routed(const Launch& launch);
Described describe_convolution(const Launch& launch);
Described describe_attention(const Launch& launch);
Described describe_stream(const Launch& launch, const StreamRule& rule);
Described describe_triton(const Launch& launch);

// Bytes that stream once, and FLOP, as a layer.
Described stream(const Launch& launch, double read, double written, double flop);
// The tensor that an argument of the rule names; null: there is none.
const OperatorInput* argument(const OperatorCall& call, int position);
// What was recorded of an argument that is not a tensor; empty: nothing.
const std::string& value_at(const OperatorCall& call, int position);
double element_bytes(const OperatorInput& input, std::string_view kernel, std::vector<std::string>& remarks);

}  // namespace gambrel::trace_detail

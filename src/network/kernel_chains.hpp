// The kernels that a library runs for a vector operator: data/model/kernel_chains.json, which says what each word
// means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/layer.hpp>

namespace gambrel::network_detail {

// Tensors that a kernel moves, in units of the operator's own; fractions are parts of one.
struct Moved {
    double own = 0, wide = 0;  // in its precision, in FP32
    double rows = 0;           // FP32 numbers, one for each row
    double table = 0;          // whole tables of an embedding
    double parts = 0;          // rows of partial sums of an embedding's gradient
};

struct ChainKernel {
    Moved read, again, written;
    bool offsets = false;
    double rows_per_sm = 0, threads_per_sm = 0;
    double one_read_up_to = 0;                       // columns
    double block_threads = 0, array_operations = 0;  // of a Triton kernel that holds rows in registers
    bool block_by_columns = false;                   // the threads follow from the columns
    double row_step = 0, row_waits = 0, column_step = 0;
    bool rows_share_step = false;
    double lone_rows = 0, lone_waits = 0;  // of a kernel of one CTA
    bool adds = false, adds_in_order = false;
    std::optional<double> arguments;  // of a Triton kernel
};

struct KernelChain {
    std::vector<std::string> operators, providers;
    std::vector<ChainKernel> forward, backward, both;
    bool with_forward = false, needs_table = false;
};

struct HostCosts {
    Seconds operation, launch, argument, autograd;
    Bytes cleared;
    std::string slower_software;  // whose rows were measured with a slower host, by so much
    double slower = 1;
};

// Null where the library is not known to run the operator as several kernels, or as an unusual one.
const KernelChain* kernel_chain(std::string_view op, std::string_view provider);
const HostCosts& host_costs();

// Of a tensor; `table` of an embedding's table and `parts` of the partial sums of its gradient, in elements.
struct ChainSize {
    double rows = 1, columns = 1, table = 0, parts = 0;
};
// One kernel as a layer with the pass of `layer`. What the one before it wrote is read again: L2 may still have it.
Layer chain_layer(const ChainKernel& kernel, const ChainKernel* before, const ChainSize& size, Layer layer);

}  // namespace gambrel::network_detail

// The small messages of an Nsight Compute report. Unknown fields and fields of an unexpected wire type are skipped,
// none is required: reports of later versions stay readable. Malformed bytes throw protozero::exception, which readers
// catch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include <gambrel/base.hpp>

#include "base/protobuf.hpp"
#include "ingest/ncu_container.hpp"
#include "ingest/ncu_facts.hpp"

namespace gambrel::ingest_detail {

using namespace base_detail;

struct NcuValue {
    enum class Kind : std::uint8_t { absent, number, text };
    Kind kind = Kind::absent;
    double number = 0;
    std::string_view text;
};
NcuValue decode_ncu_value(std::string_view message);
// The number in a value: of text too if all of it is one, NaN for "n/a". Absent for other text.
std::optional<double> number_in(const NcuValue& value);

struct NcuAttribute {
    std::string_view name;
    NcuValue value;
};
NcuAttribute decode_ncu_attribute(std::string_view message);

std::optional<Dim3> decode_dim3(std::string_view message);

// Names of the push/pop ranges that are open in `thread`, outermost first; if it has none, of the start/end ranges,
// which belong to no thread.
std::vector<Symbol> decode_nvtx_ranges(std::string_view state, std::uint32_t thread);

void read_string_table(std::string_view message, std::vector<std::string_view>& strings);
// Session details come in pieces, one field per block: each call adds to what is known.
void read_session(std::string_view message, NcuContainer& container);

}  // namespace gambrel::ingest_detail

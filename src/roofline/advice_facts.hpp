// The facts that rules of advice may ask for, of a row and of the whole. docs/formats.md lists them.
#pragma once

#include <gambrel/roofline.hpp>

#include "roofline/expression.hpp"

namespace gambrel::roofline_detail {

// Every gauge of the row by its name, and what row_fact_names() lists.
Facts row_facts(const Analysis& analysis, const AnalysisRow& row);
Facts whole_facts(const Analysis& analysis);
std::vector<std::string> row_fact_names();
std::vector<std::string> whole_fact_names();

}  // namespace gambrel::roofline_detail

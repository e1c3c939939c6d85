// A Roofline for each GPU and precision, fitted on all of their rows: the last column of an error table. Internal.
#pragma once

#include <gambrel/validate.hpp>

namespace gambrel::validate_detail {

void add_fitted_rooflines(std::vector<ValidationRow>& rows);

}  // namespace gambrel::validate_detail

// Error tables and a scatter chart of the model against measured rows. Formats what `validate` found.
#pragma once

#include <string>

#include <gambrel/report.hpp>
#include <gambrel/validate.hpp>

namespace gambrel {

std::string validation_text(const Validation& validation, const std::string& title, const TextStyle& style,
                            std::size_t worst);
std::string validation_csv(const Validation& validation);
std::string validation_json(const Validation& validation);
// Markdown for publishing: mean errors by precision, pass and algorithm, then every row. `made_by` is the command.
std::string validation_markdown(const Validation& validation, const std::string& title, const std::string& made_by);
// Predicted over measured, one panel for each quantity that the rows have.
std::string validation_svg(const Validation& validation, const std::string& title, Theme theme);

}  // namespace gambrel

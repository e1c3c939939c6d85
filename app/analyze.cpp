#include <gambrel/ingest.hpp>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"

namespace gambrel::app {

Action setup_analyze(Parser& command) {
    auto flags = std::make_shared<AnalysisFlags>();
    auto files = std::make_shared<std::vector<std::string>>();
    command.add_option("FILE", *files).required();
    flags->add_to(command);
    return [flags, files] { return run_analysis(*files, *flags); };
}

}  // namespace gambrel::app

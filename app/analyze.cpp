#include <gambrel/ingest.hpp>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "app/mpi_world.hpp"

namespace gambrel::app {

Action setup_analyze(Parser& command) {
    auto flags = std::make_shared<AnalysisFlags>();
    auto files = std::make_shared<std::vector<std::string>>();
    command.add_option("FILE", *files).required();
    flags->add_to(command);
    return [flags, files] {
        MpiWorld world;
        TraceShare share{world.rank(), world.size(), {}, {}};
        share.send = [&](std::string_view text) { world.send(0, text); };
        share.receive = [&](int from) { return world.receive(from); };
        return run_analysis(*files, *flags, share);
    };
}

}  // namespace gambrel::app

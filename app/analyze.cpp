#include <gambrel/ingest.hpp>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "app/mpi_world.hpp"
#include "app/network_flags.hpp"

namespace gambrel::app {
namespace {

Result<std::vector<Layer>> layers_in_order(const NetworkFlags& flags) {
    auto request = request_of(flags);
    if (!request) return tl::unexpected(request.error());
    request->in_order = true;
    const auto set = load_layers(*request);
    if (!set) return tl::unexpected(set.error());
    return set->layers();
}

}  // namespace

Action setup_analyze(Parser& command) {
    auto flags = std::make_shared<AnalysisFlags>();
    auto files = std::make_shared<std::vector<std::string>>();
    command.add_option("FILE", *files).required();
    auto network = std::make_shared<NetworkFlags>();
    command.add_option("--network,--model-config", network->network);
    network->add_options_to(command);
    flags->add_to(command);
    return [flags, files, network] {
        if (!network->network.empty() || !network->layers.empty()) {
            auto layers = layers_in_order(*network);
            if (!layers) return bad_input(layers.error());
            flags->network = std::move(*layers);
        } else if (network->any()) {
            return bad_input(
                {{"analyze", "--batch, --phase and the like describe a network: give --network or --layers too"}});
        }
        MpiWorld world;
        TraceShare share{world.rank(), world.size(), {}, {}};
        share.send = [&](std::string_view text) { world.send(0, text); };
        share.receive = [&](int from) { return world.receive(from); };
        return run_analysis(*files, *flags, share);
    };
}

}  // namespace gambrel::app

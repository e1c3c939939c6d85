// A layer to its prediction where rows may name GPUs and clocks of their own: the path that predict, validate and
// explore share. Holds the numbers of the machines it has met, so that a row costs no search; a row's own GPU and clock
// win.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gambrel/base.hpp>
#include <gambrel/delta.hpp>

namespace gambrel {

struct PredictorOptions {
    std::optional<Machine> machine;  // of rows that name none
    std::optional<Frequency> clock;  // of rows that give none; else the machine's boost clock
    Model model = Model::gambrel;
    Roofs roofs = Roofs::measured;
    bool search = false;       // the fastest known tile instead of the one the library is thought to take
    std::optional<Tile> tile;  // for all layers
};

struct Predicted {
    Prediction prediction;
    const Machine* machine = nullptr;
    const Hardware* hardware = nullptr;
    std::string reason;  // what the model does not know of this layer: an algorithm that is no implicit GEMM
};

class Predictor {
public:
    explicit Predictor(PredictorOptions options) : options_(std::move(options)) {}
    Result<Predicted> operator()(const Layer& layer);
    [[nodiscard]] const PredictorOptions& options() const { return options_; }

private:
    struct Known {
        const Machine* machine = nullptr;
        Hardware hardware;
    };
    Result<const Known*> known(const Layer& layer);
    PredictorOptions options_;
    std::map<std::pair<std::string, double>, Known, std::less<>> known_;
};

// Why an algorithm or kernel is not what the model describes; empty if it is.
std::string not_modelled(const Layer& layer);

}  // namespace gambrel

// What `gambrel predict resnet50 --batch 32 --gpu v100` does.
#include <iostream>
#include <memory>

#include <gambrel/report.hpp>

int main() {
    auto layers = gambrel::load_layers({.network = "resnet50", .batch = 32, .fastest_algorithm = true});
    if (!layers) return std::cerr << gambrel::to_text(layers.error()), 2;
    const auto estimates = gambrel::estimate(std::make_shared<gambrel::LayerSet>(std::move(*layers)),
                                             {.machine = *gambrel::find_in_catalogue("v100")});
    if (!estimates) return std::cerr << gambrel::to_text(estimates.error()), 2;
    std::cout << gambrel::estimates_text(*estimates, {});
}

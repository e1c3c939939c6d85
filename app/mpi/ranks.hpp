// What the library that knows MPI gives to the program: a World that also knows its place on its node.
#pragma once

#include <gambrel/explore.hpp>

namespace gambrel::app {

class Ranks : public World {
public:
    [[nodiscard]] virtual int local() const = 0;  // the rank on this node
};

}  // namespace gambrel::app

// The caller owns the result; MPI is ended with it.
extern "C" gambrel::app::Ranks* gambrel_open_ranks();

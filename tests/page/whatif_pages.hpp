// Pages with the model inside, and what the library says of the designs that whatif.py asks them for.
#pragma once

#include <map>
#include <string>

namespace gambrel::test {

// By file name.
std::map<std::string, std::string> whatif_pages();

}  // namespace gambrel::test

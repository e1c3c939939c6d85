// `measure --self-test` and `doctor --self-test`: every kernel of a device once, a table, and one file to attach to a
// report.
#pragma once

#include <string>
#include <vector>

namespace gambrel::app {

// The exit status. `files` are all .json.
int run_self_test(const std::string& device, const std::vector<std::string>& files, bool quiet);

}  // namespace gambrel::app

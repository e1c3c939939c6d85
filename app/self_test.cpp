#include "app/self_test.hpp"

#include <gambrel/measure.hpp>
#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"

namespace gambrel::app {

int run_self_test(const std::string& device, const std::vector<std::string>& files, bool quiet) {
    MeasureOptions options;
    const auto result = [&] {
        const InterruptGuard guard;
        ProgressBar bar(quiet);
        options.stop = InterruptGuard::asked;
        options.progress = [&](double fraction, std::string_view doing) { bar.show(fraction, doing); };
        return self_test(device, options);
    }();
    if (!result) return bad_input(result.error());
    if (!quiet && !print_result(self_test_text(*result, terminal_style()))) return kBadInput;
    OutputFlags flags;
    flags.has_force = false;
    flags.quiet = quiet;
    for (const std::string& path : files)
        if (!write_output(path, self_test_json(*result), flags)) return kBadInput;
    return has_failures(*result) ? kNo : kDone;
}

}  // namespace gambrel::app

#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// A call that is timed again and again finds in L2 what the one before it left there, if that is all it needs.
bool finds_operands_in_l2(const TiledLaunch& c) {
    const Geometry& g = c.geometry;
    const bool repeated = c.layer.timing && !kernels_alone(c.layer) && !c.layer.cold;
    const Bytes needed = g.a.unique + g.b.unique + g.output * g.output_element;
    return repeated && needed <= c.gpu.l2_capacity;
}

double numbers_of_spectrum(const TiledLaunch& c) { return c.geometry.batch / 3; }  // a complex product is three real

// Spectra of filters, of more than 32 points a side, that eight images or more share.
constexpr double kShort = 32 * 17, kMiddle = 64 * 33;
bool shares_filters(const TiledLaunch& c) {
    constexpr double kShared = 8, kMost = 32;
    return numbers_of_spectrum(c) > kShort && c.geometry.m >= kShared && c.geometry.m <= kMost;
}

// By cuDNN 7, from Kepler to Turing.
bool transforms_whole_images(const TiledLaunch& c) {
    return c.mapping.transform == Transform::fft && !c.gpu.architecture->matrix_gemm;
}

// The bytes of cuDNN 7's spectra beyond those of as many passes as the length needs, and beyond filters_otherwise().
// Products that do not multiply while they load and store take the time of one more pass, and a transposition is one
// more of each.
Bytes moved_otherwise(const TiledLaunch& c) {
    const auto& [images, filters, products] = c.geometry.transforms.handed_on;
    const bool overlaps = c.mapping.four_products && c.mapping.cta.m >= 64;
    const double once_more = c.gpu.architecture->fourier.transposes ? 2 : overlaps ? 0 : 1;
    return once_more * (images + products + (shares_filters(c) ? Bytes{} : filters));
}

// Bytes of the sectors that the rows of a spectrum touch, relative to its own. A row of s / 2 + 1 complex numbers
// begins anywhere in a sector.
double sectors_of_rows(const TiledLaunch& c) {
    constexpr double kComplex = 8;
    const double side = std::sqrt(1 + 2 * numbers_of_spectrum(c)) - 1;
    const double row = kComplex * (side / 2 + 1);
    return (row + kSector - kComplex) / row;
}

// Real numbers of all spectra, those of filters by their share of the work.
double transformed_numbers(const TiledLaunch& c) {
    const auto& [images, filters, products] = c.geometry.transforms.handed_on;
    return (images + c.geometry.transforms.filter_work * filters + products) / c.geometry.element;
}

// What CTAs of the busiest SM take one after the other, beside their multiplications.
Cycles cycles_alone(const TiledLaunch& c) {
    if (!c.mapping.explicit_matrix) return {};
    const double outputs = static_cast<double>(c.mapping.cta.m) * c.mapping.cta.n;
    return std::ceil(static_cast<double>(c.grid.ctas()) / c.gpu.sms) * outputs * c.gpu.architecture->scattered_store;
}

// Of groups in turn, whose kernels beside the main one have hardly any work. A transform takes as long as two such
// kernels: a thread loads a tile, transforms its rows, exchanges them, transforms the columns and stores them, and
// nothing overlaps with that.
Cycles short_kernels(const TiledLaunch& c) {
    if (c.layer.groups <= 1) return {};
    constexpr double kOfTransform = 2;
    const auto kernels = [&]() -> double {
        switch (c.mapping.transform) {
            case Transform::winograd_fused:
                return 1;
            case Transform::winograd_separate:
                return kOfTransform * 3;
            case Transform::fft:
                return kOfTransform * 4;
            case Transform::fft_tiled:
                return 0;  // as long as the launches for the filters, which are charged
            case Transform::none:
                return c.mapping.writes_matrix ? 2 : 0;
        }
        return 0;
    };
    return kernels() * c.gpu.architecture->short_kernel;
}

}  // namespace

// The longer such filters, the more passes are counted for them; they are written and read once, or read by each image.
Bytes filters_otherwise(const TiledLaunch& c) {
    if (!transforms_whole_images(c) || !shares_filters(c)) return {};
    const double counted = numbers_of_spectrum(c) <= kMiddle ? 3 : 5;
    const double read = c.gpu.architecture->fourier.rereads_filters ? c.geometry.m : 1;
    return (read - counted) * c.geometry.transforms.handed_on[1];
}

// Where threads load one element each from lines that lie apart, one line after the other passes the path that L1 and
// shared memory share; so it does where they store outputs of pixels, two filters each.
void count_scattered(const TiledLaunch& c, double steps, LaunchCounts& n) {
    if (!c.gpu.architecture->l1_holds_shared_memory) return;
    constexpr double kThreads = 32, kFilters = 2;
    constexpr Bytes kLine{128};
    const Geometry& g = c.geometry;
    const Mapping& m = c.mapping;
    const auto lines = [&](const OperandAccess& o, double side, double tile, std::int64_t times) {
        const double asked = o.elements / (side * g.k * g.batch * static_cast<double>(times));  // in the image
        return steps * m.cta.k * tile * asked * o.lines / kThreads;
    };
    n.scattered = kLine * (lines(g.a, g.m, m.cta.m, c.grid.columns) + lines(g.b, g.n, m.cta.n, c.grid.rows));
    if (m.pixels_apart()) {
        const Bytes next_output = g.n * g.batch * g.stored;
        const double stores = g.output / kFilters / static_cast<double>(c.grid.ctas());
        n.scattered += kLine * (stores * lines_of_threads(next_output) / kThreads);
    }
    n.shared += n.scattered;
}

double stored_columns(const TiledLaunch& c) {
    constexpr double kFragment = 4;
    const Transform t = c.mapping.transform;
    const bool few = c.geometry.n < kFragment && (t == Transform::none || t == Transform::winograd_separate);
    return few && !c.layer.gemm ? c.geometry.n / c.mapping.cta.n : 1;
}

// With a single stage every step waits for memory.
void count_engine(const TiledLaunch& c, double steps, LaunchCounts& n) {
    const Mapping& m = c.mapping;
    // Parts of a split add in L2, and stores that scatter are counted as cycles of their CTA.
    const bool scatters = m.explicit_matrix && c.gpu.architecture->scattered_store > Cycles{};
    n.stores_apart = !m.loads_offsets && m.split_k == 1 && !scatters && !m.pixels_apart();
    if (const Cycles wait = c.gpu.architecture->engine_wait; wait > Cycles{}) {
        const Cycles given = c.gpu.architecture->engine_wait_later, later = given > Cycles{} ? given : wait;
        // Of a matrix that was written out no pixel has to be found, so that all of them come together; by K80's times
        // they take as long as in later waves.
        if (m.explicit_matrix) {
            n.unfilled = steps * (later + wait);
            return;
        }
        const double waits = static_cast<double>(m.cta.m) * m.cta.k / m.threads + 1;
        n.unfilled = steps * waits * wait;
        n.filled_later = steps * waits * (wait - later);
        n.fills_beside = true;
        return;
    }
    const double loaded = static_cast<double>(m.cta.m + m.cta.n) * m.cta.k;
    const double own = c.gpu.architecture->engines.load_slots;
    const double slots = steps * loaded * (own > 0 ? own : c.gpu.calibration->engine_load_slots);
    const bool half_sums = m.pipe == Pipe::fp16;
    n.engine_steps = steps;
    // Two multiplications in FP16 take one slot, but each element is loaded alone.
    n.engine_loads = Flops{(half_sums ? 4 : 2) * slots};
    n.engine_slots = slots / 32;
    if (half_sums) {
        // A thread waits for its loads in turn, two elements each, while the others of its SM multiply.
        n.engine_steps *= loaded / m.threads / 2;
        n.wait_is_beside = true;
    }
    // Further taps find in L2 what the first one fetched, and further CTAs of an SM what one before them did: cuDNN 7
    // in FP32.
    const bool fetches_once = own <= 0 && c.geometry.element >= Bytes{4};
    n.waits_for_l2 = finds_operands_in_l2(c) || (fetches_once && c.geometry.taps > 1);
    n.wait_is_shared = fetches_once && !m.explicit_matrix && !c.layer.cold;
    n.wait_is_filled = c.layer.cold;  // in a profile with empty caches other CTAs were seen to fill the wait
}

// Fused only: of every channel 32 additions for each tile, a patch of 10 x 18 inputs that is loaded element by element,
// and the transformed filters, four at a time.
void count_transform(const TiledLaunch& c, double steps, LaunchCounts& n) {
    const Mapping& m = c.mapping;
    if (m.transform != Transform::winograd_fused) return;
    n.stores_apart = true;
    const double tiles = m.cta.m / 16.0, slots = c.gpu.calibration->scalar_load_slots;
    const double of_channel = 32 * tiles + slots * (10 * 18 + 16.0 * m.cta.n / 4);
    n.transformed = Flops{2 * steps * m.cta.k * of_channel};
    // Where the threads of engines wait less in later waves, those of this kernel wait as they do: for the six elements
    // of a patch that a thread loads in a step, of which two come together, and for its filters.
    constexpr double kWaits = 3 + 1;
    const Cycles wait = c.gpu.architecture->engine_wait, later = c.gpu.architecture->engine_wait_later;
    if (later <= Cycles{}) return;
    n.unfilled = n.unfilled.value_or(Cycles{}) + steps * kWaits * wait;
    n.filled_later = steps * kWaits * (wait - later);
}

// A thread has 4 x 4 complex outputs, 8 x 4 in tiles of 64 x 64, and loads as many rows and columns for them.
double complex_fragments(const Mapping& m) {
    constexpr double kComplex = 8, kArea = 64 * 64;
    const double area = static_cast<double>(m.cta.m) * m.cta.n;
    const double loaded = area * (area >= kArea ? 1 / 8. + 1 / 4. : 2 / 4.);
    return kComplex * (m.cta.m + m.cta.n + loaded) / (m.four_products ? 4 : 3);
}

double outputs_that_exist(const TiledLaunch& c) {
    // By M60's times the kernel of few images by FFT puts whole tiles in order.
    if (c.mapping.transform == Transform::fft && c.mapping.four_products) return 1;
    return std::min(1.0, c.geometry.m / c.mapping.cta.m) * std::min(1.0, c.geometry.n / c.mapping.cta.n);
}

// Where registers of the same bank make the multiplications slow, the other instructions are issued beside them.
void count_complex(const TiledLaunch& c, double steps, LaunchCounts& n) {
    const double slots = c.gpu.architecture->fourier.slots_of_four;
    if (slots <= 0) return;
    constexpr double kLanes = 32;
    n.issued = steps * c.mapping.cta.k * c.mapping.cta.m * c.mapping.cta.n / kLanes;
    n.issue_slots = slots;
}

namespace {

// A CTA that writes the matrix goes along up to 256 of its rows, and waits for memory twice in each, as engines do or
// for L2, or once for DRAM where a profiler emptied that; with several taps once for L2, where L1 does not keep the
// line that the tap before it was in.
void count_matrix_rows(const TiledLaunch& c, LaunchCounts& n) {
    if (!c.mapping.writes_matrix) return;
    constexpr double kRows = 256;
    const double rows = std::min(c.geometry.k, kRows);
    const Architecture& gpu = *c.gpu.architecture;
    if (c.geometry.taps > 1) {
        n.beside_rows_in_l2 = gpu.l1_keeps_global_loads ? 0 : rows;
    } else if (gpu.engine_wait > Cycles{}) {
        n.beside_cycles += 2 * rows * gpu.engine_wait;
    } else {
        n.beside_rows = c.layer.cold ? rows : 0;
        n.beside_rows_in_l2 = c.layer.cold ? 0 : 2 * rows;
    }
}

}  // namespace

void count_beside(const TiledLaunch& c, LaunchCounts& n) {
    const TransformTraffic& more = c.geometry.transforms;
    const bool whole = c.mapping.transform == Transform::fft, tiled = c.mapping.transform == Transform::fft_tiled;
    const Calibration& fit = *c.gpu.calibration;
    const bool rearranges = c.mapping.transposes || c.mapping.writes_matrix;
    const bool cudnn7 = transforms_whole_images(c);
    n.beside_dram = more.dram.total();
    if (cudnn7) n.beside_dram = sectors_of_rows(c) * (n.beside_dram + filters_otherwise(c) + moved_otherwise(c));
    n.beside_l2 = more.l2.total();
    n.beside_reach = rearranges ? fit.transpose_reach : whole && !cudnn7 ? fit.fft_reach : 1;
    n.beside_cycles = cycles_alone(c);
    n.beside_least = short_kernels(c);
    // That which writes the matrix waits in each of its rows besides.
    if (c.mapping.writes_matrix) n.beside_cycles += n.beside_least;
    if (tiled) {
        n.beside_numbers = transformed_numbers(c);
        // Butterflies take 2.5 log2 of the points for each number; registers of one bank make them slow, too.
        const double points = 2 * numbers_of_spectrum(c) / std::max(1.0, more.turns);
        const double slower = std::max(0, c.gpu.architecture->fourier.slots_of_four - 1);
        n.beside_instructions = slower * 2.5 * std::log2(points) * n.beside_numbers;
    }
    if (c.mapping.transform == Transform::winograd_separate && !c.gpu.architecture->matrix_gemm)
        n.beside_instructions = fit.winograd_instructions * transformed_numbers(c);
    count_matrix_rows(c, n);
}

}  // namespace gambrel::delta_detail

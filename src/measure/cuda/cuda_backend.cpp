#include "measure/cuda/cuda_backend.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "measure/cuda/compile_ahead.hpp"
#include "measure/cuda/cuda_objects.hpp"
#include "measure/cuda/cupti.hpp"
#include "measure/cuda/gemm.hpp"
#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

using Api = std::shared_ptr<const CudaApi>;

class CudaBackend final : public Backend, public std::enable_shared_from_this<CudaBackend> {
public:
    explicit CudaBackend(CudaParts parts)
        : parts_(std::move(parts)),
          api_(parts_.api),
          context_(std::make_shared<Context>(Context{api_})),
          kernels_(parts_.compiler, parts_.architecture) {}
    ~CudaBackend() override {
        if (context_->hung) return;
        library_.reset();  // before the context it belongs to
        counters_.reset();
        if (pinned_ != nullptr) api_->cuMemFreeHost(pinned_);
        if (start_ != nullptr) api_->cuEventDestroy(start_);
        if (end_ != nullptr) api_->cuEventDestroy(end_);
        if (stream_ != nullptr) api_->cuStreamDestroy(stream_);
        if (primary_ != nullptr) api_->cuDevicePrimaryCtxRelease(parts_.device);
    }
    CudaBackend(const CudaBackend&) = delete;
    CudaBackend& operator=(const CudaBackend&) = delete;

    Result<void> open() {
        CuResult code = api_->cuDevicePrimaryCtxRetain(&primary_, parts_.device);
        if (code != kCuSuccess) return cuda_failure(*api_, "cuDevicePrimaryCtxRetain", code);
        code = api_->cuCtxSetCurrent(primary_);
        if (code == kCuSuccess) code = api_->cuStreamCreate(&stream_, 0);
        if (code == kCuSuccess) code = api_->cuEventCreate(&start_, 0);
        if (code == kCuSuccess) code = api_->cuEventCreate(&end_, 0);
        if (code != kCuSuccess) return cuda_failure(*api_, "making a stream and its events", code);
        return {};
    }

    [[nodiscard]] const Target& target() const override { return parts_.target; }
    [[nodiscard]] Condition condition() const override { return condition_; }
    [[nodiscard]] std::optional<std::string> lost() const override { return lost_; }
    [[nodiscard]] std::optional<std::uint64_t> address(const Buffer& buffer) const override {
        return address_of(buffer);
    }

    Result<std::unique_ptr<Program>> compile(const KernelSource& source) override {
        const auto binary = kernels_.get(source);
        if (!binary) return tl::unexpected(binary.error());
        CuModule module = nullptr;
        if (const CuResult code = api_->cuModuleLoadData(&module, binary->image.c_str()); code != kCuSuccess)
            return broken(fmt::format("cuModuleLoadData of {} for {}", source.entry, parts_.architecture), code);
        auto program = std::make_unique<CudaProgram>(context_, module, source.entry, hash_of(binary->image));
        CuResult code = api_->cuModuleGetFunction(&program->function, module, source.entry.c_str());
        if (code != kCuSuccess) return broken("cuModuleGetFunction(" + source.entry + ")", code);
        // The memory kernels want all of the unified L1 as cache; shared memory that a kernel declares it gets anyway.
        // Older GPUs without the choice refuse the attribute, which does not matter.
        api_->cuFuncSetAttribute(program->function, kCuSharedCarveout, 0);
        return program;
    }

    void expect(std::vector<KernelSource> sources) override { kernels_.expect(std::move(sources)); }

    Result<void> start_counting(const std::string& entry) override {
        if (counters_ == nullptr) {
            auto opened = Counters::open(parts_.driver, parts_.device, primary_);
            if (!opened) return tl::unexpected(opened.error());
            counters_ = std::move(*opened);
        }
        counted_entry_ = entry;
        counted_ = LevelBytes{};
        return {};
    }
    Result<LevelBytes> stop_counting() override {
        counted_entry_.clear();
        return counted_;
    }

    Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
        CuPointer address = 0;
        if (const CuResult code = api_->cuMemAlloc(&address, bytes); code != kCuSuccess)
            return broken(fmt::format("cuMemAlloc of {} B", bytes), code);
        return std::make_unique<CudaBuffer>(context_, address, bytes);
    }

    Result<void> write(const Buffer& to, std::span<const std::byte> from, std::size_t offset) override {
        const CuResult code = api_->cuMemcpyHtoD(address_of(to) + offset, from.data(), from.size());
        if (code != kCuSuccess) return broken("cuMemcpyHtoD", code);
        return {};
    }
    Result<void> read(std::span<std::byte> to, const Buffer& from, std::size_t offset) override {
        const CuResult code = api_->cuMemcpyDtoH(to.data(), address_of(from) + offset, to.size());
        if (code != kCuSuccess) return broken("cuMemcpyDtoH", code);
        return {};
    }

    Result<Seconds> launch(const Launch& launch) override {
        const auto run = [&] { return timed("kernel " + program_of(launch).name, [&] { return enqueue(launch); }); };
        auto time = program_of(launch).name == counted_entry_ ? counted(run) : run();
        condition_.code = program_of(launch).code;
        return time;
    }

    Result<Seconds> launch_many(const Launch& launch, std::int64_t count) override {
        const auto start = std::chrono::steady_clock::now();
        CuResult code = kCuSuccess;
        for (std::int64_t i = 0; i < count && code == kCuSuccess; ++i) code = enqueue(launch);
        if (code == kCuSuccess) code = waited([this] { return api_->cuStreamQuery(stream_); });
        if (code != kCuSuccess) return broken("kernel " + program_of(launch).name, code);
        return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }

    Result<std::span<std::byte>> pinned_bytes(std::size_t count) override {
        if (count <= pinned_size_) return std::span(static_cast<std::byte*>(pinned_), pinned_size_);
        if (pinned_ != nullptr) api_->cuMemFreeHost(pinned_);
        pinned_ = nullptr;
        pinned_size_ = 0;
        if (const CuResult code = api_->cuMemAllocHost(&pinned_, count); code != kCuSuccess)
            return broken(fmt::format("cuMemAllocHost of {} B", count), code);
        pinned_size_ = count;
        return std::span(static_cast<std::byte*>(pinned_), pinned_size_);
    }

    Result<Seconds> transfer(Direction direction, const Buffer& buffer, std::size_t bytes,
                             std::int64_t count) override {
        const auto host = pinned_bytes(bytes);
        if (!host) return tl::unexpected(host.error());
        return timed("a transfer", [&] {
            CuResult code = kCuSuccess;
            for (std::int64_t i = 0; i < count && code == kCuSuccess; ++i)
                code = direction == Direction::host_to_device
                           ? api_->cuMemcpyHtoDAsync(address_of(buffer), host->data(), bytes, stream_)
                           : api_->cuMemcpyDtoHAsync(host->data(), address_of(buffer), bytes, stream_);
            return code;
        });
    }

    Result<Preparation> prepare_gemm(const Probe& probe) override {
        if (!library_problem_.empty()) return refusal(library_problem_);
        if (library_ == nullptr) {
            auto opened = open_cublaslt(parts_.driver);
            if (!opened) return library_problem_ = one_line(opened.error()), refusal(library_problem_);
            library_ = std::move(*opened);
        }
        return prepare_library_gemm({shared_from_this(), library_, stream_, parts_.units,
                                     [this](const auto& work) { return timed_work(work); }},
                                    probe);
    }

private:
    // Adds what one launch moves to the sum of this run.
    template <class Run>
    Result<Seconds> counted(Run run) {
        Result<Seconds> time{Seconds{0}};
        const auto bytes = counters_->count([&]() -> Result<void> {
            time = run();
            if (!time) return tl::unexpected(time.error());
            return {};
        });
        if (!bytes) counted_ = tl::unexpected(bytes.error());
        if (!bytes || !counted_) return time;
        const auto add = [](std::optional<Bytes>& sum, const std::optional<Bytes>& more) {
            if (more) sum = sum.value_or(Bytes{0}) + *more;
        };
        add(counted_->l1, bytes->l1);
        add(counted_->l2, bytes->l2);
        add(counted_->dram, bytes->dram);
        return time;
    }

    // The failure of a call; remembers whether the context is lost with it.
    tl::unexpected<Errors> broken(const std::string& what, CuResult code) {
        if (code == kCuNotReady && context_->hung) {
            const std::string text = fmt::format("{} did not end within {}", what, to_text(parts_.longest_launch, 2));
            if (!lost_) lost_ = "the GPU is not usable any more: " + text;
            return failure("cuda", text);
        }
        if (loses_context(code) && !lost_)
            lost_ = fmt::format("the GPU's context was lost in {}, {}", what, cuda_error(*api_, code));
        return cuda_failure(*api_, what, code);
    }

    // Asks until the answer is another than "not ready". The driver's own waits have no end.
    template <class Query>
    CuResult waited(Query query) {
        using namespace std::chrono;
        const auto start = steady_clock::now();
        constexpr microseconds kSpin{200}, kPause{50};
        while (true) {
            const CuResult code = query();
            if (code != kCuNotReady) return code;
            const auto gone = steady_clock::now() - start;
            if (duration<double>(gone).count() > parts_.longest_launch.value()) return context_->hung = true, code;
            if (gone > kSpin) std::this_thread::sleep_for(kPause);
        }
    }

    CuResult enqueue(const Launch& launch) {
        // The driver wants the addresses of the arguments, so buffers need a place for theirs.
        std::vector<CuPointer> addresses(launch.arguments.size());
        std::vector<void*> pointers(launch.arguments.size());
        for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
            std::visit(
                [&](const auto& value) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, const Buffer*>) {
                        addresses[i] = address_of(*value);
                        pointers[i] = &addresses[i];
                    } else {
                        pointers[i] = const_cast<void*>(static_cast<const void*>(&value));
                    }
                },
                launch.arguments[i]);
        }
        return api_->cuLaunchKernel(program_of(launch).function, launch.groups, 1, 1, launch.threads, 1, 1, 0, stream_,
                                    pointers.data(), nullptr);
    }

    // `work` puts something on the stream. The driver is asked for clock and throttling while it runs, not after.
    template <class Work>
    Result<Seconds> timed(const std::string& what, Work work) {
        CuResult code = api_->cuEventRecord(start_, stream_);
        if (code == kCuSuccess) code = work();
        if (code == kCuSuccess) code = api_->cuEventRecord(end_, stream_);
        if (code == kCuSuccess && parts_.nvml != nullptr) condition_ = parts_.nvml->condition();
        if (code == kCuSuccess) code = waited([this] { return api_->cuEventQuery(end_); });
        float milliseconds = 0;
        if (code == kCuSuccess) code = api_->cuEventElapsedTime(&milliseconds, start_, end_);
        if (code != kCuSuccess) return broken(what, code);
        return Seconds(milliseconds * 1e-3);
    }
    Result<Seconds> timed_work(const std::function<Result<void>()>& work) {
        Result<void> done;
        auto time = timed("the library", [&] {
            done = work();
            return kCuSuccess;
        });
        if (!done) return tl::unexpected(done.error());
        return time;
    }

    CudaParts parts_;
    Api api_;
    std::shared_ptr<Context> context_;
    CuContext primary_ = nullptr;
    CuStream stream_ = nullptr;
    CuEvent start_ = nullptr, end_ = nullptr;
    void* pinned_ = nullptr;
    std::size_t pinned_size_ = 0;
    Condition condition_;
    std::optional<std::string> lost_;
    std::shared_ptr<const CublasLt> library_;  // opened when first asked for: it is large
    std::unique_ptr<Counters> counters_;       // opened when first asked for
    std::string counted_entry_;                // kernels that are counted; "" if none
    Result<LevelBytes> counted_;
    CompileAhead kernels_;
    std::string library_problem_;  // why it cannot be opened; asked for once
};

}  // namespace

CuPointer address_of(const Buffer& buffer) { return static_cast<const CudaBuffer&>(buffer).address(); }

Result<std::shared_ptr<Backend>> make_cuda_backend(CudaParts parts) {
    auto backend = std::make_shared<CudaBackend>(std::move(parts));
    if (auto opened = backend->open(); !opened) return tl::unexpected(opened.error());
    return backend;
}

}  // namespace gambrel::measure_detail

#ifdef GAMBREL_HAVE_OPENCL
#include "measure/opencl/opencl_backend.hpp"

#include <chrono>

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

using Api = std::shared_ptr<const OpenclApi>;

tl::unexpected<Errors> broken(std::string_view call, cl_int code) {
    return failure("opencl", fmt::format("{} failed: {}", call, opencl_error(code)));
}

class OpenclBuffer final : public Buffer {
public:
    OpenclBuffer(Api api, cl_mem memory, std::size_t size) : api_(std::move(api)), memory_(memory), size_(size) {}
    ~OpenclBuffer() override { api_->clReleaseMemObject(memory_); }
    OpenclBuffer(const OpenclBuffer&) = delete;
    OpenclBuffer& operator=(const OpenclBuffer&) = delete;
    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] cl_mem memory() const { return memory_; }

private:
    Api api_;
    cl_mem memory_;
    std::size_t size_;
};
cl_mem memory_of(const Buffer& buffer) { return static_cast<const OpenclBuffer&>(buffer).memory(); }

class OpenclProgram final : public Program {
public:
    explicit OpenclProgram(Api api) : api_(std::move(api)) {}
    ~OpenclProgram() override {
        if (kernel != nullptr) api_->clReleaseKernel(kernel);
        if (program != nullptr) api_->clReleaseProgram(program);
    }
    OpenclProgram(const OpenclProgram&) = delete;
    OpenclProgram& operator=(const OpenclProgram&) = delete;
    cl_program program = nullptr;
    cl_kernel kernel = nullptr;

private:
    Api api_;
};

class OpenclBackend final : public Backend {
public:
    OpenclBackend(Api api, cl_device_id device, const Target& target)
        : api_(std::move(api)), device_(device), target_(target) {}
    ~OpenclBackend() override {
        release_pinned();
        if (queue_ != nullptr) api_->clReleaseCommandQueue(queue_);
        if (context_ != nullptr) api_->clReleaseContext(context_);
    }
    OpenclBackend(const OpenclBackend&) = delete;
    OpenclBackend& operator=(const OpenclBackend&) = delete;

    Result<void> open() {
        cl_int code = 0;
        context_ = api_->clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
        if (code != CL_SUCCESS) return broken("clCreateContext", code);
        queue_ = api_->clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &code);
        if (code != CL_SUCCESS) return broken("clCreateCommandQueue", code);
        return {};
    }

    [[nodiscard]] const Target& target() const override { return target_; }

    Result<std::unique_ptr<Program>> compile(const KernelSource& source) override {
        auto made = std::make_unique<OpenclProgram>(api_);
        const char* text = source.text.c_str();
        const std::size_t length = source.text.size();
        cl_int code = 0;
        made->program = api_->clCreateProgramWithSource(context_, 1, &text, &length, &code);
        if (code != CL_SUCCESS) return broken("clCreateProgramWithSource", code);
        code = api_->clBuildProgram(made->program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
        if (code != CL_SUCCESS)
            return failure("opencl: kernel " + source.entry,
                           fmt::format("does not compile: {}\n{}", opencl_error(code), build_log(made->program)));
        made->kernel = api_->clCreateKernel(made->program, source.entry.c_str(), &code);
        if (code != CL_SUCCESS) return broken("clCreateKernel(" + source.entry + ")", code);
        return made;
    }

    Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
        cl_int code = 0;
        cl_mem memory = api_->clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &code);
        if (code != CL_SUCCESS) return broken(fmt::format("clCreateBuffer of {} B", bytes), code);
        return std::make_unique<OpenclBuffer>(api_, memory, bytes);
    }

    Result<void> write(const Buffer& to, std::span<const std::byte> from, std::size_t offset) override {
        const cl_int code = api_->clEnqueueWriteBuffer(queue_, memory_of(to), CL_TRUE, offset, from.size(), from.data(),
                                                       0, nullptr, nullptr);
        if (code != CL_SUCCESS) return broken("clEnqueueWriteBuffer", code);
        return {};
    }
    Result<void> read(std::span<std::byte> to, const Buffer& from, std::size_t offset) override {
        const cl_int code = api_->clEnqueueReadBuffer(queue_, memory_of(from), CL_TRUE, offset, to.size(), to.data(), 0,
                                                      nullptr, nullptr);
        if (code != CL_SUCCESS) return broken("clEnqueueReadBuffer", code);
        return {};
    }

    Result<Seconds> launch(const Launch& launch) override {
        if (auto set = set_arguments(launch); !set) return tl::unexpected(set.error());
        cl_event done = nullptr;
        if (const cl_int code = enqueue(launch, &done); code != CL_SUCCESS)
            return broken("clEnqueueNDRangeKernel", code);
        cl_int code = api_->clWaitForEvents(1, &done);
        cl_ulong start = 0, end = 0;
        if (code == CL_SUCCESS)
            code = api_->clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
        if (code == CL_SUCCESS)
            code = api_->clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
        api_->clReleaseEvent(done);
        if (code != CL_SUCCESS) return broken("the kernel", code);
        return Seconds(static_cast<double>(end - start) * 1e-9);
    }

    Result<Seconds> launch_many(const Launch& launch, std::int64_t count) override {
        if (auto set = set_arguments(launch); !set) return tl::unexpected(set.error());
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < count; ++i)
            if (const cl_int code = enqueue(launch, nullptr); code != CL_SUCCESS)
                return broken("clEnqueueNDRangeKernel", code);
        if (const cl_int code = api_->clFinish(queue_); code != CL_SUCCESS) return broken("clFinish", code);
        return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }

    Result<std::span<std::byte>> pinned_bytes(std::size_t count) override {
        if (count <= pinned_size_) return std::span(pinned_, pinned_size_);
        release_pinned();
        cl_int code = 0;
        pinned_memory_ =
            api_->clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, count, nullptr, &code);
        if (code != CL_SUCCESS) return broken(fmt::format("clCreateBuffer of {} B on the host", count), code);
        void* mapped = api_->clEnqueueMapBuffer(queue_, pinned_memory_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, count,
                                                0, nullptr, nullptr, &code);
        if (code != CL_SUCCESS) return broken("clEnqueueMapBuffer", code);
        pinned_ = static_cast<std::byte*>(mapped);
        pinned_size_ = count;
        return std::span(pinned_, pinned_size_);
    }

    Result<Seconds> transfer(Direction direction, const Buffer& buffer, std::size_t bytes,
                             std::int64_t count) override {
        const auto host = pinned_bytes(bytes);
        if (!host) return tl::unexpected(host.error());
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < count; ++i) {
            const cl_int code = direction == Direction::host_to_device
                                    ? api_->clEnqueueWriteBuffer(queue_, memory_of(buffer), CL_FALSE, 0, bytes,
                                                                 host->data(), 0, nullptr, nullptr)
                                    : api_->clEnqueueReadBuffer(queue_, memory_of(buffer), CL_FALSE, 0, bytes,
                                                                host->data(), 0, nullptr, nullptr);
            if (code != CL_SUCCESS) return broken("a transfer", code);
        }
        if (const cl_int code = api_->clFinish(queue_); code != CL_SUCCESS) return broken("clFinish", code);
        return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }

private:
    std::string build_log(cl_program program) const {
        std::size_t size = 0;
        api_->clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
        std::string log(size, '\0');
        api_->clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
        while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
        return log;
    }

    Result<void> set_arguments(const Launch& launch) {
        cl_kernel kernel = static_cast<const OpenclProgram*>(launch.program)->kernel;
        for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
            const cl_int code = std::visit(
                [&](const auto& value) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, const Buffer*>) {
                        cl_mem memory = memory_of(*value);
                        return api_->clSetKernelArg(kernel, i, sizeof memory, &memory);
                    } else {
                        return api_->clSetKernelArg(kernel, i, sizeof value, &value);
                    }
                },
                launch.arguments[i]);
            if (code != CL_SUCCESS) return broken(fmt::format("clSetKernelArg({})", i), code);
        }
        return {};
    }

    cl_int enqueue(const Launch& launch, cl_event* done) {
        const std::size_t local = launch.threads, global = std::size_t{launch.groups} * launch.threads;
        return api_->clEnqueueNDRangeKernel(queue_, static_cast<const OpenclProgram*>(launch.program)->kernel, 1,
                                            nullptr, &global, &local, 0, nullptr, done);
    }

    void release_pinned() {
        if (pinned_ != nullptr) {
            api_->clEnqueueUnmapMemObject(queue_, pinned_memory_, pinned_, 0, nullptr, nullptr);
            api_->clFinish(queue_);
        }
        if (pinned_memory_ != nullptr) api_->clReleaseMemObject(pinned_memory_);
        pinned_memory_ = nullptr;
        pinned_ = nullptr;
        pinned_size_ = 0;
    }

    Api api_;
    cl_device_id device_;
    Target target_;
    cl_context context_ = nullptr;
    cl_command_queue queue_ = nullptr;
    cl_mem pinned_memory_ = nullptr;
    std::byte* pinned_ = nullptr;
    std::size_t pinned_size_ = 0;
};

}  // namespace

Result<std::shared_ptr<Backend>> make_opencl_backend(std::shared_ptr<const OpenclApi> api, cl_device_id device,
                                                     const Target& target) {
    auto backend = std::make_shared<OpenclBackend>(std::move(api), device, target);
    if (auto opened = backend->open(); !opened) return tl::unexpected(opened.error());
    return backend;
}

}  // namespace gambrel::measure_detail
#endif

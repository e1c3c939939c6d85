// The functions of OpenCL that are used, found in the ICD loader at run time; types come from Khronos' headers.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>

#include "measure/dynamic/library.hpp"

// Each is a member of that name, of the type that the header declares.
// clang-format never settles on this macro.
// clang-format off
#define GAMBREL_OPENCL_FUNCTIONS(X) \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) \
    X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) \
    X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo) X(clReleaseProgram) \
    X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clCreateBuffer) \
    X(clReleaseMemObject) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueMapBuffer) \
    X(clEnqueueUnmapMemObject) X(clEnqueueNDRangeKernel) X(clFinish) X(clWaitForEvents) \
    X(clGetEventProfilingInfo) X(clReleaseEvent)
// clang-format on

namespace gambrel::measure_detail {

struct OpenclApi {
    DynamicLibrary library;
#define GAMBREL_MEMBER(name) decltype(&::name) name = nullptr;
    GAMBREL_OPENCL_FUNCTIONS(GAMBREL_MEMBER)
#undef GAMBREL_MEMBER
};
Result<std::shared_ptr<const OpenclApi>> open_opencl();

std::string opencl_error(cl_int code);  // "CL_OUT_OF_RESOURCES (-5)"

}  // namespace gambrel::measure_detail

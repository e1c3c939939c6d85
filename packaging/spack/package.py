# SPDX-License-Identifier: Apache-2.0
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Gambrel(CMakePackage):
    """Hierarchical Roofline analysis and a traffic model for NVIDIA GPUs, from profiler reports, traces or no GPU at all."""

    homepage = "REPOSITORY"
    git = "REPOSITORY"

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=False, description="measure and explore on many nodes with mpirun")
    variant("opencl", default=False, description="measure OpenCL devices")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    depends_on("fmt@9:")
    depends_on("cli11@2:")
    depends_on("nlohmann-json@3.11:")
    depends_on("protozero")
    depends_on("expected")
    depends_on("zlib-api")
    depends_on("simdjson@3:")
    depends_on("sqlite@3.35:")
    depends_on("tbb")
    depends_on("re2")
    depends_on("highway")
    depends_on("hwloc@2:")
    depends_on("mpi", when="+mpi")
    depends_on("opencl-c-headers", when="+opencl")

    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("GAMBREL_MPI", "mpi"),
            self.define_from_variant("GAMBREL_OPENCL", "opencl"),
            self.define("GAMBREL_PAGE", "OFF"),
            self.define("GAMBREL_PYTHON", "OFF"),
            self.define("GAMBREL_STATIC", "OFF"),
            self.define("GAMBREL_TESTS", False),
            self.define("GAMBREL_UNITY", True),
        ]

    def test_predict(self):
        """A prediction needs neither a GPU nor a file."""
        gambrel = Executable(self.prefix.bin.gambrel)
        gambrel("predict", "alexnet", "--gpu", "v100")

# Installs gambrel to a prefix of its own, then configures, builds and runs examples/consumer against it.
# cmake -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -DCOMPILER=... -DFLAGS=... -P consumer_test.cmake
function(run name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "consumer: ${name} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(install ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(configure ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(build ${CMAKE_COMMAND} --build ${WORK}/build)
run(main ${WORK}/build/main)
message("${output}")
run(predict ${WORK}/build/predict)
run(analyze ${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/analyze ${ROOT}/examples/step.ncu-rep)
file(SIZE ${WORK}/report.html size)
if(NOT output MATCHES "softmax_warp_forward" OR size LESS 100000)
  message(FATAL_ERROR "consumer: analyze printed, and wrote ${size} bytes of page:\n${output}")
endif()
# The package must stand alone: nothing of the source tree may be on the consumer's include path.
file(READ ${WORK}/prefix/lib/cmake/gambrel/gambrelTargets.cmake targets)
if(targets MATCHES "${ROOT}/(include|src)")
  message(FATAL_ERROR "consumer: the installed package names the source tree ${ROOT}")
endif()

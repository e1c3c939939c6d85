add_library(gambrel_warnings INTERFACE)
target_compile_options(gambrel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wmissing-declarations
                       $<$<BOOL:${GAMBREL_WERROR}>:-Werror>)
# GCC 12 sees overlapping copies inside std::string at -O3 where there are none (GCC bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(gambrel_warnings INTERFACE -Wno-restrict)
endif()
if(GAMBREL_SANITIZE)
  add_compile_options(-fsanitize=${GAMBREL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GAMBREL_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # an index past size() but within capacity() is not an address error
endif()
if(GAMBREL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "GAMBREL_FUZZ needs clang; use the preset fuzz")
  endif()
  # The library too: libFuzzer steers by the branches it sees taken.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# bundle_model(OUT): the rooms that predict a layer, compiled unchanged to one WebAssembly module that pages carry, compressed
# and in base64 (docs/decisions/0019). Sets GAMBREL_HAVE_WASM, and OUT to the file that the page embeds, or to nothing.
function(bundle_model out)
  set(${out} "" PARENT_SCOPE)
  if(NOT GAMBREL_WASM STREQUAL "OFF")
    find_program(GAMBREL_WASM_CXX NAMES clang++ clang++-14)
    find_program(GAMBREL_WASM_LD NAMES wasm-ld wasm-ld-14)
    find_path(GAMBREL_WASM_LIBCXX wasm32-wasi/c++/v1/vector)
    find_file(GAMBREL_WASM_LIBC wasm32-wasi/libc.a PATHS /usr/lib /usr/share/wasi-sysroot/lib)
    find_program(GAMBREL_GZIP gzip)
    find_program(GAMBREL_BASE64 base64)
    find_path(GAMBREL_FMT_HEADERS fmt/format.h)
    find_path(GAMBREL_JSON_HEADERS nlohmann/json.hpp)
    find_path(GAMBREL_EXPECTED_HEADERS tl/expected.hpp)
    mark_as_advanced(GAMBREL_WASM_CXX GAMBREL_WASM_LD GAMBREL_WASM_LIBCXX GAMBREL_WASM_LIBC GAMBREL_GZIP GAMBREL_BASE64
                     GAMBREL_FMT_HEADERS GAMBREL_JSON_HEADERS GAMBREL_EXPECTED_HEADERS)
    if(GAMBREL_WASM_CXX AND GAMBREL_WASM_LD AND GAMBREL_WASM_LIBCXX AND GAMBREL_WASM_LIBC AND GAMBREL_GZIP AND GAMBREL_BASE64
       AND GAMBREL_FMT_HEADERS AND GAMBREL_JSON_HEADERS AND GAMBREL_EXPECTED_HEADERS)
      set(found TRUE)
    endif()
  endif()
  gambrel_feature(WASM "the model inside the page" "${found}"
                  "a compiler for WebAssembly (Debian: clang lld wasi-libc libc++-dev-wasm32 libclang-rt-dev-wasm32)")
  set(GAMBREL_HAVE_WASM ${GAMBREL_HAVE_WASM} PARENT_SCOPE)
  if(NOT GAMBREL_HAVE_WASM)
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/wasm)
  # Links to the three libraries that are headers only: their folder has the C library of this machine too.
  file(MAKE_DIRECTORY ${folder}/include)
  file(CREATE_LINK ${GAMBREL_FMT_HEADERS}/fmt ${folder}/include/fmt SYMBOLIC)
  file(CREATE_LINK ${GAMBREL_JSON_HEADERS}/nlohmann ${folder}/include/nlohmann SYMBOLIC)
  file(CREATE_LINK ${GAMBREL_EXPECTED_HEADERS}/tl ${folder}/include/tl SYMBOLIC)
  # Throwing ends the module: nothing that the page gives it throws.
  set(flags --target=wasm32-wasi -std=c++20 -O2 -fexceptions -fno-rtti -ffunction-sections -fdata-sections -DFMT_HEADER_ONLY
            -DJSON_HAS_FILESYSTEM=0 -DJSON_HAS_EXPERIMENTAL_FILESYSTEM=0 -isystem ${folder}/include
            -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include)
  set(embedded ${PROJECT_BINARY_DIR}/embedded/model.cpp ${PROJECT_BINARY_DIR}/embedded/architectures.cpp)
  set(parts_base base/error.cpp base/symbol.cpp base/json_fields.cpp base/json_text.cpp base/printable.cpp units/units.cpp)
  set(parts_machine machine/architecture.cpp machine/assumptions.cpp machine/builtin_architectures.cpp machine/covered.cpp
                    machine/json_fields.cpp machine/machine.cpp machine/vocabulary.cpp)
  set(parts_network network/layer.cpp network/attention.cpp network/experts.cpp network/streaming.cpp network/names.cpp
                    network/faults.cpp network/network.cpp network/recipe.cpp network/builder.cpp network/builtin.cpp
                    network/builtin_bert.cpp network/builtin_classic.cpp network/builtin_residual.cpp
                    network/builtin_segmentation.cpp network/model_config.cpp network/model_family.cpp network/model_layers.cpp
                    network/model_blocks.cpp)
  foreach(room mapping delta inpage)
    file(GLOB parts_${room} CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  endforeach()
  set(objects "")
  # One file a room: the headers are most of the work.
  foreach(room base machine network mapping delta inpage)
    set(includes "")
    foreach(part IN LISTS parts_${room})
      string(APPEND includes "#include \"${part}\"\n")
    endforeach()
    set(generated "")
    if(room STREQUAL base)
      set(generated ${embedded})
      foreach(part IN LISTS embedded)
        string(APPEND includes "#include \"${part}\"\n")
      endforeach()
    elseif(room STREQUAL inpage)
      string(APPEND includes "#include \"${PROJECT_SOURCE_DIR}/web/model/module.cpp\"\n")
    endif()
    file(CONFIGURE OUTPUT ${folder}/${room}.cpp CONTENT "${includes}" @ONLY)
    add_custom_command(OUTPUT ${folder}/${room}.o
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${GAMBREL_WASM_CXX} ${flags} -MD -MT ${folder}/${room}.o -MF ${folder}/${room}.d
              -c ${folder}/${room}.cpp -o ${folder}/${room}.o
      DEPENDS ${folder}/${room}.cpp ${generated} DEPFILE ${folder}/${room}.d
      COMMENT "Compiling ${room} for the page" VERBATIM)
    list(APPEND objects ${folder}/${room}.o)
  endforeach()
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/web/model.txt
    COMMAND ${GAMBREL_WASM_CXX} --target=wasm32-wasi -mexec-model=reactor -fuse-ld=${GAMBREL_WASM_LD} -O2 -Wl,--gc-sections
            -Wl,--strip-all ${objects} -o ${folder}/model.wasm
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/web
    COMMAND ${GAMBREL_GZIP} -9 -n -k -f ${folder}/model.wasm
    COMMAND ${GAMBREL_BASE64} -w 0 ${folder}/model.wasm.gz > ${PROJECT_BINARY_DIR}/web/model.txt
    DEPENDS ${objects} COMMENT "Linking the model for the page")
  set(${out} ${PROJECT_BINARY_DIR}/web/model.txt PARENT_SCOPE)
endfunction()

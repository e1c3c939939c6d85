# embed_text(OUT_SOURCES name glob): compiles the text files that match into the binary, as
#   std::span<const gambrel::EmbeddedText> gambrel::embedded_<name>();      (src/units/embedded.hpp declares them)
# so that one binary runs everywhere and the data stays readable files in data/ and docs/.
function(embed_text out_sources name glob)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${glob})
  embed_files(generated ${name} "${files}")
  set(${out_sources} ${${out_sources}} ${generated} PARENT_SCOPE)
endfunction()

# embed_files(OUT name files): the same for a list of files, which may be made by the build.
function(embed_files out name files)
  set(generated ${PROJECT_BINARY_DIR}/embedded/${name}.cpp)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DFILES=${files}" -DOUTPUT=${generated}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_text_step.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_text_step.cmake
    COMMENT "Embedding ${name}" VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()

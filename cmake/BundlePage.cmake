# bundle_page(OUT_SOURCES): web/*.ts and the d3 modules of Debian become one script, which is compiled into the binary with
# the style and the shell of the page. No bundle lies in the repository: what is shipped is what is read.
function(bundle_page out_sources)
  find_program(ESBUILD esbuild)
  find_path(NODE_MODULES d3-zoom/package.json PATHS /usr/share/nodejs /usr/lib/nodejs NO_DEFAULT_PATH)
  if(NOT ESBUILD OR NOT NODE_MODULES)
    message(FATAL_ERROR "The interactive page needs esbuild and d3: install the packages esbuild and node-d3-* that "
                        "tools/packages.txt names, or run make deps.")
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.ts)
  set(folder ${PROJECT_BINARY_DIR}/web)
  add_custom_command(OUTPUT ${folder}/page.js ${folder}/style.css
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${NODE_MODULES} ${ESBUILD} page=${PROJECT_SOURCE_DIR}/web/main.ts
            style=${PROJECT_SOURCE_DIR}/web/style.css --bundle --minify --format=iife --target=es2020
            --legal-comments=none --log-level=warning --outdir=${folder}
    DEPENDS ${scripts} ${PROJECT_SOURCE_DIR}/web/style.css
    COMMENT "Bundling the page" VERBATIM)
  set(files ${PROJECT_SOURCE_DIR}/web/shell.html ${folder}/style.css ${folder}/page.js)
  embed_files(generated page "${files}")
  set(${out_sources} ${${out_sources}} ${generated} PARENT_SCOPE)
endfunction()

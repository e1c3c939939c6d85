# bundle_page(): web/*.ts and the d3 modules of Debian become one script, which is compiled into the binary with the style and
# the shell of the page. No bundle lies in the repository: what is shipped is what is read. Without esbuild and d3,
# GAMBREL_PAGE_BUNDLE names a folder that holds a page.js and a style.css made elsewhere (build/web of any build).
# `model` is the module that bundle_model made, or nothing.
# Sets page_found to whether there is a page.
function(bundle_page page_found model)
  set(${page_found} TRUE PARENT_SCOPE)
  if(GAMBREL_PAGE_BUNDLE)
    foreach(file page.js style.css)
      if(NOT EXISTS ${GAMBREL_PAGE_BUNDLE}/${file})
        message(FATAL_ERROR "GAMBREL_PAGE_BUNDLE=${GAMBREL_PAGE_BUNDLE} has no ${file}; "
                            "expected the folder web of a build folder that made the page")
      endif()
    endforeach()
    if(NOT model AND EXISTS ${GAMBREL_PAGE_BUNDLE}/model.txt)
      set(model ${GAMBREL_PAGE_BUNDLE}/model.txt)
    endif()
    embed_files(page "${PROJECT_SOURCE_DIR}/web/shell.html;${GAMBREL_PAGE_BUNDLE}/style.css;${GAMBREL_PAGE_BUNDLE}/page.js;${model}")
    return()
  endif()
  find_program(GAMBREL_ESBUILD esbuild)
  find_path(GAMBREL_NODE_MODULES d3-zoom/package.json PATHS /usr/share/nodejs /usr/lib/nodejs NO_DEFAULT_PATH)
  mark_as_advanced(GAMBREL_ESBUILD GAMBREL_NODE_MODULES)
  if(NOT GAMBREL_ESBUILD OR NOT GAMBREL_NODE_MODULES)
    set(${page_found} FALSE PARENT_SCOPE)
    return()
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.ts ${PROJECT_SOURCE_DIR}/web/*.css)
  set(folder ${PROJECT_BINARY_DIR}/web)
  add_custom_command(OUTPUT ${folder}/page.js ${folder}/style.css
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${GAMBREL_NODE_MODULES} ${GAMBREL_ESBUILD}
            page=${PROJECT_SOURCE_DIR}/web/main.ts style=${PROJECT_SOURCE_DIR}/web/style.css --bundle --minify
            --format=iife --target=es2020 --legal-comments=none --log-level=warning --outdir=${folder}
    DEPENDS ${scripts}
    COMMENT "Bundling the page" VERBATIM)
  embed_files(page "${PROJECT_SOURCE_DIR}/web/shell.html;${folder}/style.css;${folder}/page.js;${model}")
endfunction()

# gambrel_unity(TARGET sources...): where GAMBREL_UNITY is on, compiles the sources of a folder together, eight at a time.
# Half of the time of compiling a file goes to the headers that it shares with its neighbours. Files are compiled one by one
# in the presets dev and asan, which so find an include that is missing; a name that two files of a folder define is an error
# with GAMBREL_UNITY, and is nearly always something that both should share.
function(gambrel_unity target)
  if(NOT GAMBREL_UNITY)
    return()
  endif()
  # A class of a .cpp may hold what the same file keeps in an anonymous namespace; GCC excuses that in the main file only.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(in_folder 0)
  set(last "")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    if(NOT folder STREQUAL last)
      set(in_folder 0)
      set(last ${folder})
    endif()
    get_filename_component(name ${folder} NAME)
    math(EXPR group "${in_folder} / 8")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
    math(EXPR in_folder "${in_folder} + 1")
  endforeach()
endfunction()

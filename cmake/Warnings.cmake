add_library(gambrel_warnings INTERFACE)
target_compile_options(gambrel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       $<$<BOOL:${GAMBREL_WERROR}>:-Werror>)
if(GAMBREL_SANITIZE)
  add_compile_options(-fsanitize=${GAMBREL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GAMBREL_SANITIZE})
endif()

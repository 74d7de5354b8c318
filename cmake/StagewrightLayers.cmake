# One list per layer says what it may include and what it links.
#
#   stagewright_add_layer(sim DEPS core SOURCES engine.cpp HEADERS engine.h)
#
# The target's only include directory is <build>/include/<layer>, which holds
# one link named after the layer. A file of `sim` can therefore write
# #include "core/..." only if `core` is among sim's DEPS; anything else is
# "file not found" at compile time.
#
# A part of a room that is a layer of its own says with FOLDER where it lies:
#
#   stagewright_add_layer(gui_models FOLDER gui/models DEPS core ...)
#
# is included as "gui/models/...".
#
# APART lists files, and folders of files, that give the same local names to the
# parts of their kind (each schedule has its generate()): unity builds leave
# them alone.
function(stagewright_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "DEPS;SOURCES;HEADERS;APART;PRIVATE_LIBS;PUBLIC_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stagewright_add_layer(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${name}")
  endif()
  set(root "${PROJECT_BINARY_DIR}/include/${name}")
  cmake_path(GET arg_FOLDER PARENT_PATH parent)
  file(MAKE_DIRECTORY "${root}/${parent}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${arg_FOLDER}" SYMBOLIC)

  add_library(stagewright_${name} STATIC)
  add_library(stagewright::${name} ALIAS stagewright_${name})
  target_sources(stagewright_${name} PRIVATE ${arg_SOURCES} ${arg_HEADERS})
  foreach(apart IN LISTS arg_APART)
    set(sources ${arg_SOURCES})
    list(FILTER sources INCLUDE REGEX "^${apart}(/|$)")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  target_include_directories(stagewright_${name} PUBLIC "${root}")
  target_compile_features(stagewright_${name} PUBLIC cxx_std_20)
  # Debug info, __FILE__ and coverage then name the source tree, not the link.
  target_compile_options(stagewright_${name} PUBLIC
    "$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${root}/=${PROJECT_SOURCE_DIR}/>")
  stagewright_warnings(stagewright_${name})
  foreach(dep IN LISTS arg_DEPS)
    target_link_libraries(stagewright_${name} PUBLIC stagewright::${dep})
  endforeach()
  target_link_libraries(stagewright_${name} PUBLIC ${arg_PUBLIC_LIBS} PRIVATE ${arg_PRIVATE_LIBS})
  set_property(GLOBAL APPEND PROPERTY STAGEWRIGHT_LAYERS "${name}")
  set_property(GLOBAL PROPERTY STAGEWRIGHT_LAYER_DEPS_${name} "${arg_DEPS}")
  set_property(GLOBAL PROPERTY STAGEWRIGHT_LAYER_HEADERS_${name} "${arg_HEADERS}")
  set_property(GLOBAL PROPERTY STAGEWRIGHT_LAYER_FOLDER_${name} "${arg_FOLDER}")

  # Every header must compile alone: built by the target header_probes, but for those that a source
  # of the same name includes first, which shows it, too.
  set(probes)
  foreach(header IN LISTS arg_HEADERS)
    string(REGEX REPLACE "[.]h$" ".cpp" source "${header}")
    if(source IN_LIST arg_SOURCES)
      file(STRINGS "${source}" first LIMIT_COUNT 1 REGEX "^#include")
      if(first STREQUAL "#include \"${arg_FOLDER}/${header}\"")
        continue()
      endif()
    endif()
    string(MAKE_C_IDENTIFIER "${header}" id)
    set(probe "${PROJECT_BINARY_DIR}/header_probes/${name}/${id}.cpp")
    file(CONFIGURE OUTPUT "${probe}" CONTENT "#include \"${arg_FOLDER}/${header}\"\n")
    list(APPEND probes "${probe}")
  endforeach()
  if(probes)
    add_library(stagewright_${name}_headers OBJECT EXCLUDE_FROM_ALL ${probes})
    target_link_libraries(stagewright_${name}_headers PRIVATE stagewright_${name})
    target_compile_options(stagewright_${name}_headers PRIVATE -O0 -g0)
    if(NOT TARGET header_probes)
      add_custom_target(header_probes)
    endif()
    add_dependencies(header_probes stagewright_${name}_headers)
  endif()
endfunction()

# Designated initializers name what differs from the defaults; the rest is meant to be left out. In a batch of sources, the
# names of one are no shadows of another's, and a type of a batch may hold local ones.
function(stagewright_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-missing-field-initializers;-Wpedantic;-Wconversion;-Wnon-virtual-dtor;-Woverloaded-virtual>
    "$<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,-Wno-subobject-linkage,-Wshadow>>")
endfunction()

# Fails the configure step if a layer names a dependency declared after it,
# so the layer order in the top CMakeLists.txt is the architecture.
function(stagewright_check_layers)
  get_property(layers GLOBAL PROPERTY STAGEWRIGHT_LAYERS)
  set(seen)
  foreach(layer IN LISTS layers)
    get_property(deps GLOBAL PROPERTY STAGEWRIGHT_LAYER_DEPS_${layer})
    foreach(dep IN LISTS deps)
      if(NOT dep IN_LIST seen)
        message(FATAL_ERROR "layer ${layer} depends on ${dep}, which is not below it")
      endif()
    endforeach()
    list(APPEND seen "${layer}")
  endforeach()
endfunction()

# Seconds after which a test counts as hung; sanitizers take several times as long.
set(STAGEWRIGHT_TEST_TIMEOUT 300)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(STAGEWRIGHT_TEST_TIMEOUT 900)
endif()

# One test program per room.
#
#   stagewright_add_tests(sim SOURCES unit/sim/bubble_test.cpp LIBS fmt::fmt)
#
# makes sim_tests, which sees what sim sees and tests/support. Its tests carry
# the room's name as label, and those of LABELS. The target test_programs builds
# those of all rooms. OPTIMIZED is for what computes for long: see below.
function(stagewright_add_tests room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "" "SOURCES;LIBS;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stagewright_add_tests(${room}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${room}_tests ${arg_SOURCES})
  target_link_libraries(${room}_tests PRIVATE
    stagewright::${room} stagewright::test_support GTest::gtest_main ${arg_LIBS})
  if(arg_OPTIMIZED)
    stagewright_test_program(${room}_tests OPTIMIZED)
  else()
    stagewright_test_program(${room}_tests)
  endif()
  stagewright_discover_tests(${room}_tests ${room} ${arg_LABELS})
endfunction()

# Tells ctest the tests of a program, with any number of labels: those of
# gtest_discover_tests take one alone, and a second one costs the time limit, too.
function(stagewright_discover_tests target)
  gtest_discover_tests(${target}
    DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT ${STAGEWRIGHT_TEST_TIMEOUT})
  set(labels "${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake")
  file(GENERATE OUTPUT "${labels}" CONTENT
"foreach(test IN LISTS ${target}_TESTS)
  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${ARGN}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
endfunction()

# What every test program gets: our warnings, and a place among test_programs.
#
# Instrumented test code compiles in half the time without optimisation. But what
# it instantiates of Eigen and the standard library, the linker takes for the whole
# program, libraries included, and that can be two hundred times slower: programs
# that compute for long are OPTIMIZED.
function(stagewright_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "" "")
  stagewright_warnings(${target})
  # Each file names its helpers as it likes.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND NOT arg_OPTIMIZED)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(NOT TARGET test_programs)
    add_custom_target(test_programs)
  endif()
  add_dependencies(test_programs ${target})
endfunction()

# For each room and each room that is not below it, a test that asks the
# compiler whether the one can include a header of the other; it passes when it
# cannot. And one that no header brings a heavy library to those who include it.
# Call it when all rooms are there.
function(stagewright_add_layering_tests)
  get_property(rooms GLOBAL PROPERTY STAGEWRIGHT_LAYERS)
  foreach(room IN LISTS rooms)
    stagewright_rooms_below(${room} below)
    foreach(other IN LISTS rooms)
      get_property(headers GLOBAL PROPERTY STAGEWRIGHT_LAYER_HEADERS_${other})
      if(headers AND NOT other STREQUAL room AND NOT other IN_LIST below)
        list(GET headers 0 header)
        get_property(folder GLOBAL PROPERTY STAGEWRIGHT_LAYER_FOLDER_${other})
        stagewright_add_layering_test(${room} ${other} "${folder}/${header}")
      endif()
    endforeach()
  endforeach()
  add_test(NAME layering.headers_are_light
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}"
            -P "${PROJECT_SOURCE_DIR}/tests/layering/light_headers.cmake")
  set_tests_properties(layering.headers_are_light PROPERTIES LABELS layering)
endfunction()

function(stagewright_rooms_below room result)
  get_property(direct GLOBAL PROPERTY STAGEWRIGHT_LAYER_DEPS_${room})
  set(all ${direct})
  foreach(dep IN LISTS direct)
    stagewright_rooms_below(${dep} deeper)
    list(APPEND all ${deeper})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

function(stagewright_add_layering_test room other header)
  set(probe "${PROJECT_BINARY_DIR}/layering_probes/${room}_${other}.cpp")
  file(CONFIGURE OUTPUT "${probe}" CONTENT "#include \"${header}\"\n")
  set(name layering.${room}_cannot_see_${other})
  add_test(NAME ${name}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only
            "-I$<JOIN:$<TARGET_PROPERTY:stagewright_${room},INTERFACE_INCLUDE_DIRECTORIES>,;-I>" "${probe}"
    COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "fatal error: .*${header}" LABELS layering)
endfunction()

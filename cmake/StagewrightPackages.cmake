# The libraries that every build needs. What is missing is said in one message
# with the packages to install, not one configure run at a time.
#
#   stagewright_find_packages()
#
# Targets for the rooms: fmt::fmt, nlohmann_json::nlohmann_json, tl::expected,
# Boost::headers, Threads::Threads, Eigen3::Eigen, CLI11::CLI11, spdlog::spdlog,
# tomlplusplus::tomlplusplus, yaml-cpp::yaml-cpp, TBB::tbb, dnnl::dnnl, and
# xxhash as a header without a target.
macro(stagewright_find_packages)
  set(stagewright_missing)
  stagewright_find(fmt libfmt-dev)
  stagewright_find(nlohmann_json nlohmann-json3-dev)
  stagewright_find(tl-expected libexpected-dev)
  stagewright_find(Boost libboost-graph-dev)
  stagewright_find(Eigen3 libeigen3-dev)
  stagewright_find(CLI11 libcli11-dev)
  stagewright_find(spdlog libspdlog-dev)
  stagewright_find(tomlplusplus libtomlplusplus-dev)
  stagewright_find(yaml-cpp libyaml-cpp-dev)
  stagewright_find(TBB libtbb-dev)
  if(STAGEWRIGHT_BUILD_TESTS)
    stagewright_find(GTest libgtest-dev)
    if(GTest_FOUND AND NOT TARGET GTest::gmock)
      list(APPEND stagewright_missing libgmock-dev)
    endif()
  endif()
  find_package(Threads REQUIRED)
  find_path(STAGEWRIGHT_XXHASH_INCLUDE xxhash.h)
  if(NOT STAGEWRIGHT_XXHASH_INCLUDE)
    list(APPEND stagewright_missing libxxhash-dev)
  endif()
  stagewright_find_dnnl()

  if(stagewright_missing)
    list(JOIN stagewright_missing " " stagewright_missing)
    message(FATAL_ERROR "Packages are missing; on Debian and Ubuntu install them with\n"
                        "  scripts/install_deps.sh\n"
                        "or\n"
                        "  apt-get install ${stagewright_missing}")
  endif()

  # 0.7 names its target without a namespace.
  if(NOT TARGET yaml-cpp::yaml-cpp)
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
  endif()
endmacro()

macro(stagewright_find package debian_name)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND stagewright_missing ${debian_name})
  endif()
endmacro()

# By its files: the names of its own CMake package differ between its versions.
macro(stagewright_find_dnnl)
  find_path(STAGEWRIGHT_DNNL_INCLUDE dnnl.h)
  find_library(STAGEWRIGHT_DNNL_LIBRARY dnnl)
  if(NOT STAGEWRIGHT_DNNL_INCLUDE OR NOT STAGEWRIGHT_DNNL_LIBRARY)
    list(APPEND stagewright_missing libdnnl-dev)
  else()
    add_library(dnnl::dnnl UNKNOWN IMPORTED)
    set_target_properties(dnnl::dnnl PROPERTIES
      IMPORTED_LOCATION "${STAGEWRIGHT_DNNL_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${STAGEWRIGHT_DNNL_INCLUDE}")
    set(header "${STAGEWRIGHT_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h")
    set(dnnl_VERSION "")
    if(EXISTS "${header}")
      file(STRINGS "${header}" lines REGEX "DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
      list(TRANSFORM lines REPLACE ".* ([0-9]+)$" "\\1")
      list(JOIN lines "." dnnl_VERSION)
    endif()
  endif()
endmacro()

# cmake -DROOT=source_tree -P light_headers.cmake
# Fails, naming file and line, when a header of a room includes a library whose
# types must not cross between files: each costs every includer its compile
# time, and makes the optional ones obligatory. A header named after the library
# (cuda_device.h) is exempt, and so is gui/, which is about Qt.
cmake_minimum_required(VERSION 3.25)
set(heavy "nlohmann/json\\.hpp|boost/|Eigen/|unsupported/|CLI/|toml|yaml-cpp/|spdlog/|fmt/|tbb/|oneapi/|dnnl|xxhash|mpi\\.h|cuda|cublas|cudnn|nccl|Q[A-Za-z]+>")
set(named_after "/[a-z0-9_]*(cuda|cublas|cudnn|nccl|mpi|dnnl)[a-z0-9_]*\\.h$")
set(found "")
set(count 0)
foreach(room core formats sim planner study runtime cli)
  file(GLOB_RECURSE headers "${ROOT}/${room}/*.h")
  foreach(header IN LISTS headers)
    math(EXPR count "${count} + 1")
    if(NOT header MATCHES "${named_after}")
      file(STRINGS "${header}" lines REGEX "^ *# *include *[<\"](${heavy})")
      foreach(line IN LISTS lines)
        string(APPEND found "  ${header}: ${line}\n")
      endforeach()
    endif()
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "no header below ${ROOT}")
endif()
if(found)
  message(FATAL_ERROR "These belong into .cpp files:\n${found}")
endif()
message(STATUS "${count} headers are light")

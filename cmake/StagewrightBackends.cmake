# The optional backends: each is built when it is wanted (STAGEWRIGHT_WITH_*)
# and found, else its files are left out, and the end of the configure step says
# which and why.
#
#   stagewright_find_backends()      sets STAGEWRIGHT_HAVE_CUDA, _NCCL, _NVTX, _CUBLASLT, _CUDNN, _MPI, _GUI
#   stagewright_report_backends()    prints the summary
#
# Targets: CUDA::cudart, CUDA::cublasLt, stagewright_nccl_headers, MPI::MPI_CXX, Qt6::Widgets,
# Qt6::Svg.
macro(stagewright_find_backends)
  foreach(backend CUDA NCCL CUBLASLT CUDNN MPI GUI)
    set(STAGEWRIGHT_HAVE_${backend} OFF)
  endforeach()
  if(STAGEWRIGHT_WITH_CUDA)
    stagewright_find_cuda()
  endif()
  if(STAGEWRIGHT_WITH_MPI)
    # The C++ bindings of old MPI versions drag in a library that we never call.
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI QUIET COMPONENTS CXX)
    set(STAGEWRIGHT_HAVE_MPI ${MPI_CXX_FOUND})
  endif()
  if(STAGEWRIGHT_WITH_GUI)
    find_package(Qt6 6.4 QUIET COMPONENTS Widgets Svg LinguistTools Test)
    set(STAGEWRIGHT_HAVE_GUI ${Qt6_FOUND})
  endif()
endmacro()

macro(stagewright_find_cuda)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    # The toolkit's installer does not put nvcc on the path.
    find_program(STAGEWRIGHT_NVCC nvcc PATHS /usr/local/cuda/bin /opt/cuda/bin)
    if(STAGEWRIGHT_NVCC)
      set(ENV{CUDACXX} "${STAGEWRIGHT_NVCC}")  # check_language tries it out
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit QUIET)
  endif()
  if(TARGET CUDA::cublasLt)
    set(STAGEWRIGHT_HAVE_CUDA ON)
  endif()
  # Of NCCL and of the runtime only the headers are needed: the libraries are loaded when the
  # program runs.
  find_path(STAGEWRIGHT_CUDART_INCLUDE cuda_runtime_api.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
  find_path(STAGEWRIGHT_NCCL_INCLUDE nccl.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
  find_path(STAGEWRIGHT_CUBLASLT_INCLUDE cublasLt.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
  find_path(STAGEWRIGHT_CUDNN_INCLUDE cudnn_graph.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
  if(STAGEWRIGHT_CUDART_INCLUDE AND STAGEWRIGHT_NCCL_INCLUDE)
    set(STAGEWRIGHT_HAVE_NCCL ON)
    if(STAGEWRIGHT_CUBLASLT_INCLUDE)
      set(STAGEWRIGHT_HAVE_CUBLASLT ON)
      if(STAGEWRIGHT_CUDNN_INCLUDE)
        set(STAGEWRIGHT_HAVE_CUDNN ON)
      endif()
    endif()
    add_library(stagewright_nccl_headers INTERFACE)
    target_include_directories(stagewright_nccl_headers SYSTEM INTERFACE
      "${STAGEWRIGHT_CUDART_INCLUDE}" "${STAGEWRIGHT_NCCL_INCLUDE}"
      "$<$<BOOL:${STAGEWRIGHT_CUBLASLT_INCLUDE}>:${STAGEWRIGHT_CUBLASLT_INCLUDE}>"
      "$<$<BOOL:${STAGEWRIGHT_CUDNN_INCLUDE}>:${STAGEWRIGHT_CUDNN_INCLUDE}>")
    stagewright_nccl_version(NCCL_VERSION)
  endif()
  # Headers alone: a profiler that looks on brings the library.
  if(STAGEWRIGHT_HAVE_NCCL AND EXISTS "${STAGEWRIGHT_CUDART_INCLUDE}/nvtx3/nvToolsExt.h")
    set(STAGEWRIGHT_HAVE_NVTX ON)
  endif()
endmacro()

function(stagewright_nccl_version result)
  file(STRINGS "${STAGEWRIGHT_NCCL_INCLUDE}/nccl.h" lines
       REGEX "#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM lines REPLACE ".* ([0-9]+)$" "\\1")
  list(JOIN lines "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

function(stagewright_report_backends)
  message(STATUS "")
  message(STATUS "Stagewright ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  message(STATUS "  CPU kernels      oneDNN ${dnnl_VERSION}, Eigen ${Eigen3_VERSION}, oneTBB ${TBB_VERSION}")
  stagewright_report("CUDA" CUDA "CUDA" "${CMAKE_CUDA_COMPILER_VERSION} with cuBLASLt"
    "no working nvcc with cuBLASLt; install the CUDA toolkit or set CMAKE_CUDA_COMPILER")
  stagewright_report("NCCL" NCCL "CUDA" "headers of ${NCCL_VERSION}; loaded at run time"
    "needs cuda_runtime_api.h and nccl.h; install the CUDA toolkit and libnccl-dev")
  stagewright_report("CUDA device" CUBLASLT "CUDA" "header of cuBLASLt; code for devices if nvcc was found"
    "needs what NCCL needs and cublasLt.h; install the CUDA toolkit")
  stagewright_report("cuDNN" CUDNN "CUDA" "headers; loaded at run time"
    "needs cudnn_graph.h beside what the CUDA device needs; attention is blockwise without")
  stagewright_report("MPI" MPI "MPI" "MPI ${MPI_CXX_VERSION} by ${MPI_CXX_COMPILER}"
    "not found; install libopenmpi-dev")
  stagewright_report("desktop app" GUI "GUI" "Qt ${Qt6_VERSION}"
    "Qt 6.4 with Widgets, Svg, Test and Linguist not found; run scripts/install_deps.sh gui")
  message(STATUS "")
endfunction()

# One line: found with its version, switched off by its option, or what to do.
function(stagewright_report title backend option found missing)
  if(STAGEWRIGHT_HAVE_${backend})
    set(text "found: ${found}")
  elseif(NOT STAGEWRIGHT_WITH_${option})
    set(text "switched off by STAGEWRIGHT_WITH_${option}=OFF")
  else()
    set(text "left out: ${missing}")
  endif()
  string(LENGTH "${title}" length)
  math(EXPR padding "16 - ${length}")
  string(REPEAT " " ${padding} spaces)
  message(STATUS "  ${title}${spaces} ${text}")
endfunction()

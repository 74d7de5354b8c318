# Uses ccache where it is installed. Paths below the source tree are hashed
# relative to it, so that all build folders and all checkouts share one cache.
find_program(STAGEWRIGHT_CCACHE ccache)
if(STAGEWRIGHT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${STAGEWRIGHT_CCACHE}")
endif()

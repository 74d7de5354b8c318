# Embeds every profiles/**/*.json in a target of the current folder, as the
# table that core/base/embedded_files.h declares.
#
#   stagewright_embed_profiles(stagewright_core)
#
# Data files are the one place where sources are globbed: adding a device or a
# model is adding a file.
function(stagewright_embed_profiles target)
  set(root "${PROJECT_SOURCE_DIR}/profiles")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.json")
  list(SORT files)
  # Rewritten only when a name comes or goes, which then runs the command again.
  list(JOIN files "\n" lines)
  set(names "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.txt")
  file(CONFIGURE OUTPUT "${names}" CONTENT "${lines}\n" @ONLY)

  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp")
  list(TRANSFORM files PREPEND "${root}/" OUTPUT_VARIABLE inputs)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" "-DNAMES=${names}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS "${script}" "${names}" ${inputs}
    COMMENT "Embedding profiles"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

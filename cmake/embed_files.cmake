# cmake -DROOT=folder -DNAMES=list.txt -DOUTPUT=file.cpp -P embed_files.cmake
# Writes a C++ file with the content of ROOT/<name> for each line of NAMES.
# NAMES is sorted, which core/base/data_files.cpp relies on.
cmake_minimum_required(VERSION 3.25)
file(STRINGS "${NAMES}" names ENCODING UTF-8)
list(LENGTH names count)
set(text "// Made from profiles/ by cmake/embed_files.cmake.\n\n#include \"core/base/embedded_files.h\"\n\n")
string(APPEND text "#include <array>\n\nnamespace stagewright {\nnamespace {\n\n")
string(APPEND text "constexpr std::array<EmbeddedFile, ${count}> kFiles = {{\n")
foreach(name IN LISTS names)
  file(READ "${ROOT}/${name}" content)
  string(APPEND text "    {\"${name}\", R\"profile(${content})profile\"},\n")
endforeach()
string(APPEND text "}};\n\n}  // namespace\n\nstd::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace stagewright\n")
file(WRITE "${OUTPUT}" "${text}")

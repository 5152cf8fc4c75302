# What is linked with LLVM gets its shared libraries, by way of LoopcLLVM: that links
# quickly. A target with the property LOOPC_ARCHIVES gets its archives instead: the
# dynamic linker looks up 1 in 10 of the 50,000 symbols of before, and takes 1.2 of 25
# million cycles each time a process starts.

set(_sanitized OFF)
if(LOOPC_ENABLE_ASAN OR LOOPC_ENABLE_TSAN)
  set(_sanitized ON)
endif()
file(GLOB _mlir ${LLVM_LIBRARY_DIR}/libMLIR*.a)
file(GLOB _llvm ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER _mlir EXCLUDE REGEX "Test|CAPI|JitRunner|libMLIRExecutionEngine\\.a")
list(FILTER _llvm EXCLUDE REGEX "Exegesis|TableGen|Test")
set(_has_archives OFF)
if(_mlir AND _llvm AND NOT _sanitized)
  set(_has_archives ON)
endif()
option(LOOPC_STATIC_LLVM
  "Link LLVM's archives into libloopc_compiler, which starts in a fraction of the time"
  ${_has_archives})
if(LOOPC_STATIC_LLVM AND NOT (_mlir AND _llvm))
  message(FATAL_ERROR "LOOPC_STATIC_LLVM: ${LLVM_LIBRARY_DIR} has no archives")
endif()

# lld refers to libLLVM.so itself, whatever it is linked with.
find_package(LLD 22.1 REQUIRED CONFIG HINTS ${LLVM_LIBRARY_DIR}/cmake/lld
  /usr/lib/llvm-22/lib/cmake/lld)

set(_archives "$<BOOL:$<TARGET_PROPERTY:LOOPC_ARCHIVES>>")
add_library(LoopcLLVM INTERFACE)
target_link_libraries(LoopcLLVM INTERFACE
  $<${_archives}:LoopcLLVMArchives> $<$<NOT:${_archives}>:MLIR> $<$<NOT:${_archives}>:LLVM>)
add_library(LoopcLLD INTERFACE)
target_link_libraries(LoopcLLD INTERFACE
  $<${_archives}:$<TARGET_FILE:lldELF>> $<${_archives}:$<TARGET_FILE:lldCommon>>
  $<$<NOT:${_archives}>:lldELF> $<$<NOT:${_archives}>:lldCommon>)

add_library(LoopcLLVMArchives INTERFACE)
target_link_libraries(LoopcLLVMArchives INTERFACE ${_mlir} ${_llvm} -lz -lzstd)
# Addresses that are known but for where the library is are written as bits, of
# which there is a word for each 63, not as 24 bytes each.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <features.h>
  #if !__GLIBC_PREREQ(2, 36)
  #error
  #endif
  int main() {}" LOOPC_GLIBC_HAS_RELR)
if(LOOPC_GLIBC_HAS_RELR)
  target_link_options(LoopcLLVMArchives INTERFACE -Wl,-z,pack-relative-relocs)
endif()

# What runs as the library is loaded, 500 pieces, lies in a row and not in as many
# pages.
target_link_options(LoopcLLVMArchives INTERFACE -Wl,-z,keep-text-section-prefix)

# A file that the linker maps and fills here and there lies in the system's cache in
# small pages; written from its beginning to its end, as a copy is, in large ones, of
# which fewer are looked for with each fault.
target_link_options(LoopcLLVMArchives INTERFACE -Wl,--no-mmap-output-file)

# LLVM's and lld's initialisation asks for all targets that LLVM has. Those that
# models are not compiled for get functions that do nothing, and stay away.
set(LOOPC_LLVM_TARGETS AArch64 NVPTX X86)
file(STRINGS ${LLVM_INCLUDE_DIR}/llvm/Config/Targets.def _targets REGEX "^LLVM_TARGET\\(")
set(_text "")
foreach(_target ${_targets})
  string(REGEX REPLACE "LLVM_TARGET\\((.*)\\)" "\\1" _target "${_target}")
  if(NOT _target IN_LIST LOOPC_LLVM_TARGETS)
    foreach(_part TargetInfo Target TargetMC AsmParser AsmPrinter)
      string(APPEND _text "extern \"C\" void LLVMInitialize${_target}${_part}() {}\n")
    endforeach()
  endif()
endforeach()
# Linking at run time would ask for Polly, which Debian's archives lack.
if(NOT EXISTS ${LLVM_LIBRARY_DIR}/libPolly.a)
  string(PREPEND _text "#include \"llvm/Passes/PassBuilder.h\"\n"
    "#include \"llvm/Plugins/PassPlugin.h\"\n")
  string(APPEND _text "llvm::PassPluginLibraryInfo getPollyPluginInfo() {\n"
    "  return {LLVM_PLUGIN_API_VERSION, \"none\", \"\", [](llvm::PassBuilder &) {}};\n}\n")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/llvm_without.cpp CONTENT "${_text}" @ONLY)

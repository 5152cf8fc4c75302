# Finds LLVM and MLIR and defines how loopc's own libraries and tools are built:
#   loopc_add_library(Name SOURCES... LINK_LIBS...)   a static library of the compiler;
#                                                     with NO_LLVM, of what has none;
#                                                     with ONLY_SUPPORT, of what takes LLVM's
#                                                     Support, from whichever library
#   loopc_add_tool(name SOURCES... LINK_LIBS...)      a program in bin/; with NO_LLVM,
#                                                     without LLVM's libraries
# Both use one precompiled header of MLIR's headers (LoopcPCH).

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(LOOPC_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
include(LoopcArchives)

if(LOOPC_ENABLE_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(LOOPC_ENABLE_TSAN)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})

# Flags of everything that includes MLIR's headers.
add_library(LoopcCompileFlags INTERFACE)
# Those who use what is installed get MLIR's folders from its own package.
target_include_directories(LoopcCompileFlags INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>)
target_include_directories(LoopcCompileFlags SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
target_compile_definitions(LoopcCompileFlags INTERFACE
  ${LOOPC_LLVM_DEFINITIONS} $<BUILD_INTERFACE:LOOPC_VERSION="${PROJECT_VERSION}">)
target_compile_features(LoopcCompileFlags INTERFACE cxx_std_20)
target_compile_options(LoopcCompileFlags INTERFACE
  # By a property: options of the target itself come before these and lose.
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:$<TARGET_PROPERTY:LOOPC_EXCEPTIONS>>,-fexceptions,-fno-exceptions>;-Wall;-Wextra;-Wno-unused-parameter>>")

# The first of these is nothing where NDEBUG is defined, as in release builds.
set(_pch_headers $<$<NOT:$<CONFIG:Release>>:${CMAKE_SOURCE_DIR}/cmake/statistics.h>
  ${CMAKE_SOURCE_DIR}/cmake/pch.h)
file(WRITE ${CMAKE_BINARY_DIR}/pch/pch.cpp "// The precompiled header of LoopcPCH.\n")
add_library(LoopcPCH STATIC ${CMAKE_BINARY_DIR}/pch/pch.cpp)
target_link_libraries(LoopcPCH PUBLIC LoopcCompileFlags)
target_precompile_headers(LoopcPCH PRIVATE ${_pch_headers})

# The same for files that catch exceptions.
add_library(LoopcPCHExceptions STATIC ${CMAKE_BINARY_DIR}/pch/pch.cpp)
set_target_properties(LoopcPCHExceptions PROPERTIES LOOPC_EXCEPTIONS ON)
target_link_libraries(LoopcPCHExceptions PUBLIC LoopcCompileFlags)
target_precompile_headers(LoopcPCHExceptions PRIVATE ${_pch_headers})

# ccache needs this to look through a precompiled header.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(LoopcCompileFlags INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>>")
endif()

# Of what has to do without LLVM's library: headers of LLVM's that need no code are
# all that it may include.
add_library(LoopcWithoutLLVM INTERFACE)
target_link_libraries(LoopcWithoutLLVM INTERFACE LoopcCompileFlags)
target_compile_definitions(LoopcWithoutLLVM INTERFACE
  LLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING=1)

function(loopc_add_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS;NO_LLVM;ONLY_SUPPORT" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY LOOPC_LIBRARIES ${name}) # what is installed
  if(ARG_NO_LLVM)
    set_target_properties(${name} PROPERTIES LOOPC_EXCEPTIONS ON)
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} PRIVATE LoopcWithoutLLVM)
    return()
  endif()
  target_link_libraries(${name} PUBLIC LoopcCompileFlags ${ARG_LINK_LIBS})
  add_dependencies(${name} LoopcTableGen ${ARG_DEPENDS})
  # MLIR's headers define functions that are kept, and call more of it.
  if(ARG_ONLY_SUPPORT)
    return()
  endif()
  target_link_libraries(${name} PUBLIC
    $<BUILD_INTERFACE:LoopcLLVM> "$<INSTALL_INTERFACE:MLIR;LLVM>")
  if(ARG_EXCEPTIONS)
    set_target_properties(${name} PROPERTIES LOOPC_EXCEPTIONS ON)
    target_precompile_headers(${name} REUSE_FROM LoopcPCHExceptions)
  else()
    target_precompile_headers(${name} REUSE_FROM LoopcPCH)
  endif()
endfunction()

# A program with LLVM in it tells AddressSanitizer what that is like.
function(loopc_set_asan_options name)
  if(LOOPC_ENABLE_ASAN)
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/asan_options.c)
  endif()
endfunction()

function(loopc_add_tool name)
  cmake_parse_arguments(ARG "NO_LLVM" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE LoopcCompileFlags ${ARG_LINK_LIBS})
  if(NOT ARG_NO_LLVM)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  add_dependencies(${name} LoopcTableGen)
  loopc_set_asan_options(${name})
  set_property(GLOBAL APPEND PROPERTY LOOPC_TOOLS ${name}) # what check-loopc builds first
endfunction()

# loopc_tablegen(file.td  out1 args1  out2 args2 ...): run mlir-tblgen into the
# binary directory that mirrors the source directory, below target LoopcTableGen.
add_custom_target(LoopcTableGen)
function(loopc_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  string(MAKE_C_IDENTIFIER "${CMAKE_CURRENT_SOURCE_DIR}/${td}" id)
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args out flags)
    separate_arguments(flags)
    mlir_tablegen(${out} ${flags} -I${CMAKE_SOURCE_DIR}/include -I${MLIR_INCLUDE_DIRS})
  endwhile()
  add_custom_target(TableGen_${id} DEPENDS ${TABLEGEN_OUTPUT})
  add_dependencies(LoopcTableGen TableGen_${id})
endfunction()

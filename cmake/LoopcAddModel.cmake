# loopc_add_model(TARGET MODEL [NAME name] [CPU cpu] [OPT_LEVEL 0..3]
#                 [DIMS N=1...] [SHAPES x=1x3...] [STATES in=out...] [OPTIONS ...])
#
# Compiles MODEL (ONNX, OpenVINO IR or MLIR) when TARGET is built, again when the
# file changes, and links it in: sources of TARGET include "NAME.h", and call
# NAME_run(). NAME is the file's without its ending, as a C identifier. CPU is
# what loopc --cpu takes, and by default a portable level (x86-64-v3, generic).
# A project that CMake compiles for another machine gets its models for it;
# OPTIONS are other options of loopc. Weights beside the model that it refers to
# are not watched.
function(loopc_add_model target model)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "NAME;CPU;OPT_LEVEL"
    "DIMS;SHAPES;STATES;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "loopc_add_model: there is no argument '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "loopc_add_model: there is no target '${target}'")
  endif()
  cmake_path(ABSOLUTE_PATH model)
  if(NOT EXISTS ${model})
    message(FATAL_ERROR "loopc_add_model: there is no file '${model}'")
  endif()
  if(NOT ARG_NAME)
    cmake_path(GET model STEM LAST_ONLY ARG_NAME)
    string(MAKE_C_IDENTIFIER "${ARG_NAME}" ARG_NAME)
  endif()
  set(_flags --name=${ARG_NAME})
  if(LOOPC_TARGET)
    list(APPEND _flags --target=${LOOPC_TARGET})
  endif()
  if(ARG_CPU)
    list(APPEND _flags --cpu=${ARG_CPU})
  endif()
  if(DEFINED ARG_OPT_LEVEL)
    list(APPEND _flags -O${ARG_OPT_LEVEL})
  endif()
  list(TRANSFORM ARG_DIMS PREPEND --dim=)
  list(TRANSFORM ARG_SHAPES PREPEND --shape=)
  list(TRANSFORM ARG_STATES PREPEND --state=)
  set(_folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.models)
  set(_object ${_folder}/${ARG_NAME}.o)
  set(_header ${_folder}/${ARG_NAME}.h)
  file(MAKE_DIRECTORY ${_folder})
  add_custom_command(OUTPUT ${_object} ${_header}
    COMMAND loopc::compiler ${model} -o ${_object} --header=${_header} ${_flags}
            ${ARG_DIMS} ${ARG_SHAPES} ${ARG_STATES} ${ARG_OPTIONS}
    DEPENDS ${model} loopc::compiler
    COMMENT "Compiling model ${ARG_NAME}"
    VERBATIM)
  set_source_files_properties(${_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${target} PRIVATE ${_object} ${_header})
  target_include_directories(${target} PRIVATE ${_folder})
  target_link_libraries(${target} PRIVATE loopc::rt m)
endfunction()

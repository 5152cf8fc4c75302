# Fails unless LIBRARY exports functions called loopc_* and nothing else, and does
# without LLVM.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -D --defined-only --format=just-symbols ${LIBRARY}
  OUTPUT_VARIABLE _symbols OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" _symbols "${_symbols}")
foreach(_symbol IN LISTS _symbols)
  if(NOT _symbol MATCHES "^loopc_")
    message(SEND_ERROR "'${_symbol}' is exported")
  endif()
endforeach()
foreach(_wanted loopc_session_run loopc_compile_file loopc_model_run
                loopc_value_release loopc_cancel)
  if(NOT _wanted IN_LIST _symbols)
    message(SEND_ERROR "'${_wanted}' is not exported")
  endif()
endforeach()
execute_process(COMMAND ${READELF} --needed-libs ${LIBRARY}
  OUTPUT_VARIABLE _needed COMMAND_ERROR_IS_FATAL ANY)
if(_needed MATCHES "LLVM|MLIR")
  message(SEND_ERROR "LLVM is loaded: ${_needed}")
endif()

# Compiles through ccache where it is installed. A compiler launcher other than
# plain `ccache` that the user chose stays as it is.
#
# Two settings matter: CCACHE_SLOPPINESS makes precompiled headers cacheable
# (with clang's -fno-pch-timestamp, see LoopcMLIR.cmake), and CCACHE_BASEDIR lets
# a clone in another directory find what was compiled before.

find_program(LOOPC_CCACHE ccache)
mark_as_advanced(LOOPC_CCACHE)

foreach(_lang C CXX)
  if(LOOPC_CCACHE AND (NOT CMAKE_${_lang}_COMPILER_LAUNCHER
                       OR CMAKE_${_lang}_COMPILER_LAUNCHER MATCHES "^([^;]*/)?ccache$"))
    set(CMAKE_${_lang}_COMPILER_LAUNCHER
      env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      ${LOOPC_CCACHE})
  endif()
endforeach()

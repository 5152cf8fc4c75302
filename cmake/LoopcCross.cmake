# Where CMake compiles for another machine than that which loopc runs on, loopc::rt
# and its companions are that machine's, and loopc_add_model compiles for it.
# LOOPC_TARGET is what loopc --target takes then, else empty.
set(LOOPC_TARGET "")
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|x86_64|AMD64)$")
  set(LOOPC_TARGET x86_64-linux-gnu)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(LOOPC_TARGET aarch64-linux-gnu)
  endif()
  foreach(_loopc_name rt rt_threads rt_cuda)
    foreach(_loopc_property IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION_DEBUG
        IMPORTED_LOCATION_NOCONFIG IMPORTED_LOCATION_RELWITHDEBINFO IMPORTED_LOCATION_MINSIZEREL)
      get_target_property(_loopc_file loopc::${_loopc_name} ${_loopc_property})
      if(_loopc_file)
        cmake_path(GET _loopc_file PARENT_PATH _loopc_folder)
        cmake_path(GET _loopc_file FILENAME _loopc_file)
        set(_loopc_file ${_loopc_folder}/${LOOPC_TARGET}/${_loopc_file})
        if(EXISTS ${_loopc_file})
          set_target_properties(loopc::${_loopc_name} PROPERTIES ${_loopc_property} ${_loopc_file})
        endif()
      endif()
    endforeach()
  endforeach()
endif()

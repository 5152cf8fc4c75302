# find_package(loopc) of a Python wheel, whose folder is where loopc.get_cmake_dir() says:
# the targets of loopc-config.cmake.in, but for the compiler's own libraries.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH _loopc_lib)
cmake_path(GET _loopc_lib PARENT_PATH _loopc_lib)
cmake_path(GET _loopc_lib PARENT_PATH _loopc_prefix)

foreach(_name rt rt_threads rt_cuda)
  if(NOT TARGET loopc::${_name})
    add_library(loopc::${_name} STATIC IMPORTED)
    set_target_properties(loopc::${_name} PROPERTIES
      IMPORTED_LOCATION ${_loopc_lib}/libloopc_${_name}.a
      INTERFACE_INCLUDE_DIRECTORIES ${_loopc_prefix}/include)
  endif()
endforeach()
set_target_properties(loopc::rt_threads PROPERTIES INTERFACE_LINK_LIBRARIES loopc::rt)
set_target_properties(loopc::rt_cuda PROPERTIES INTERFACE_LINK_LIBRARIES "loopc::rt;dl")
if(NOT TARGET loopc::loopc)
  add_library(loopc::loopc SHARED IMPORTED)
  set_target_properties(loopc::loopc PROPERTIES
    IMPORTED_LOCATION ${_loopc_lib}/libloopc.so.0
    INTERFACE_INCLUDE_DIRECTORIES ${_loopc_prefix}/include)
  add_executable(loopc::compiler IMPORTED)
  set_target_properties(loopc::compiler PROPERTIES IMPORTED_LOCATION ${_loopc_lib}/loopc)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/LoopcCross.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/LoopcAddModel.cmake)

foreach(_component IN LISTS loopc_FIND_COMPONENTS)
  if(loopc_FIND_REQUIRED_${_component})
    set(loopc_FOUND FALSE)
    string(APPEND loopc_NOT_FOUND_MESSAGE
      "a wheel has no component '${_component}': install loopc by cmake --install")
  endif()
endforeach()

# cmake --install build --prefix DIR:
#   bin/      the tools
#   lib/      libloopc.so, libloopc_compiler.so, the runtimes (libloopc_rt*.a), cmake/loopc
#   include/  the headers of the C API and of the runtime
#   lib/pythonX.Y/site-packages/loopc  the Python package
# Programs of C and C++ use it by find_package(loopc): loopc::loopc is the C API,
# loopc::rt, loopc::rt_threads and loopc::rt_cuda are what compiled models want.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(_tools GLOBAL PROPERTY LOOPC_TOOLS)
set_target_properties(${_tools} loopc_compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
# libloopc.so starts the program and loads the compiler that lie beside it.
file(RELATIVE_PATH _to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(loopc loopc-run PROPERTIES INSTALL_RPATH "$ORIGIN/${_to_lib}")
set_target_properties(loopc_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ${_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS loopc_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(_public loopc_capi loopc_rt loopc_rt_threads loopc_rt_cuda)
set_target_properties(loopc_capi PROPERTIES EXPORT_NAME loopc)
set_target_properties(loopc_rt PROPERTIES EXPORT_NAME rt)
set_target_properties(loopc_rt_threads PROPERTIES EXPORT_NAME rt_threads)
set_target_properties(loopc_rt_cuda PROPERTIES EXPORT_NAME rt_cuda)
install(TARGETS ${_public} EXPORT loopcTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/loopc-c ${CMAKE_SOURCE_DIR}/include/loopc-rt
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(_config ${CMAKE_INSTALL_LIBDIR}/cmake/loopc)
install(EXPORT loopcTargets NAMESPACE loopc:: FILE loopc-config.cmake DESTINATION ${_config})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/loopc-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/loopc-config-version.cmake DESTINATION ${_config})

if(LOOPC_ENABLE_PYTHON)
  get_target_property(_packages loopc_python LOOPC_PACKAGES)
  file(RELATIVE_PATH _to_lib /${_packages}/loopc /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(loopc_python PROPERTIES INSTALL_RPATH "$ORIGIN/${_to_lib}")
  install(TARGETS loopc_python LIBRARY DESTINATION ${_packages}/loopc)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/loopc DESTINATION ${_packages}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "__pycache__" EXCLUDE)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

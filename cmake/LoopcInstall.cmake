# cmake --install build --prefix DIR:
#   bin/      the tools
#   lib/      libloopc.so, libloopc_compiler.so, libloopc_ort.so (for onnxruntime),
#             the runtimes (libloopc_rt*.a; those for the other machine in a folder
#             of its name, aarch64-linux-gnu/),
#             cmake/loopc; the libraries of the compiler (libLoopc*.a)
#   include/  the headers of the C API and of the runtime; loopc/: the compiler's,
#             with what TableGen made and its sources
#   lib/pythonX.Y/site-packages/loopc  the Python package
#   share/    man pages, and completion for bash, zsh and fish (tools/Shell.cmake)
# Programs of C and C++ use it by find_package(loopc): loopc::loopc is the C API,
# loopc::rt, loopc::rt_threads and loopc::rt_cuda are what compiled models want.
# loopc::compiler is the program loopc, which loopc_add_model(TARGET MODEL) calls.
# pkg-config has the C API as loopc, and the runtime as loopc-rt.
# find_package(loopc COMPONENTS compiler) wants MLIR, and has all libraries of the
# compiler by their names: loopc::LoopcLoopIR is the dialect `loop`,
# loopc::LoopcRegistration all passes, loopc::LoopcNetwork the network API,
# loopc::LoopcTensorRT builders and engines under TensorRT's names,
# loopc::LoopcCompiler is loopc/Compiler.h.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(_tools GLOBAL PROPERTY LOOPC_TOOLS)
set_target_properties(${_tools} loopc_compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
# libloopc.so starts the program and loads the compiler that lie beside it.
file(RELATIVE_PATH _to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(loopc loopc-run PROPERTIES INSTALL_RPATH "$ORIGIN/${_to_lib}")
set_target_properties(loopc_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ${_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The program loopc once more, as a target of the package.
set_target_properties(loopc PROPERTIES EXPORT_NAME compiler)
install(TARGETS loopc EXPORT loopcTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set_target_properties(loopc_ort PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS loopc_compiler loopc_ort LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(_public loopc_capi loopc_rt loopc_rt_threads loopc_rt_cuda)
set_target_properties(loopc_capi PROPERTIES EXPORT_NAME loopc)
set_target_properties(loopc_rt PROPERTIES EXPORT_NAME rt)
set_target_properties(loopc_rt_threads PROPERTIES EXPORT_NAME rt_threads)
set_target_properties(loopc_rt_cuda PROPERTIES EXPORT_NAME rt_cuda)
install(TARGETS ${_public} EXPORT loopcTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
get_property(LOOPC_OTHER_MACHINE GLOBAL PROPERTY LOOPC_OTHER_MACHINE)
if(LOOPC_OTHER_MACHINE)
  get_property(_other GLOBAL PROPERTY LOOPC_RUNTIMES_OTHER)
  install(TARGETS ${_other}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/${LOOPC_OTHER_MACHINE})
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/loopc-c ${CMAKE_SOURCE_DIR}/include/loopc-rt
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

set(_config ${CMAKE_INSTALL_LIBDIR}/cmake/loopc)
install(EXPORT loopcTargets NAMESPACE loopc:: FILE loopc-targets.cmake DESTINATION ${_config})

# The compiler: its libraries, and what its headers include.
get_property(_libraries GLOBAL PROPERTY LOOPC_LIBRARIES)
install(TARGETS ${_libraries} LoopcCompileFlags LoopcWithoutLLVM EXPORT loopcCompilerTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# In a folder of its own: it is not the one that other programs mean by the name.
install(TARGETS onnx EXPORT loopcCompilerTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/loopc)
install(EXPORT loopcCompilerTargets NAMESPACE loopc::
  FILE loopc-compiler-targets.cmake DESTINATION ${_config})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/loopc ${CMAKE_BINARY_DIR}/include/loopc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
  PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def" PATTERN "*.td" PATTERN "*.inc"
  PATTERN "CMakeFiles" EXCLUDE)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/loopc-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/loopc-config.cmake INSTALL_DESTINATION ${_config})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/loopc-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/loopc-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/loopc-config-version.cmake
  ${CMAKE_SOURCE_DIR}/cmake/LoopcAddModel.cmake
  ${CMAKE_SOURCE_DIR}/cmake/LoopcCross.cmake DESTINATION ${_config})

# From the folder of the files, so that the prefix can be moved.
set(_pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH LOOPC_PC_PREFIX /${_pkgconfig} /)
foreach(_name loopc loopc-rt)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${_name}.pc.in
    ${CMAKE_CURRENT_BINARY_DIR}/${_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${_name}.pc DESTINATION ${_pkgconfig})
endforeach()

if(LOOPC_ENABLE_PYTHON)
  get_target_property(_packages loopc_python LOOPC_PACKAGES)
  file(RELATIVE_PATH _to_lib /${_packages}/loopc /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(loopc_python PROPERTIES INSTALL_RPATH "$ORIGIN/${_to_lib}")
  install(TARGETS loopc_python LIBRARY DESTINATION ${_packages}/loopc)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/loopc DESTINATION ${_packages}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "__pycache__" EXCLUDE)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/python/loopc-${PROJECT_VERSION}.dist-info
    DESTINATION ${_packages})
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Target ONNX::onnx: the onnx C++ library, built from the sources that the onnx
# package of the Python environment ships, against the system's protobuf. One
# version of onnx serves the compiler and the Python tests.
# ONNX_WHEEL_DIR names the package's folder; by default that of .venv.

find_package(Protobuf 3.21 REQUIRED)
set(ONNX_WHEEL_DIR "" CACHE PATH "Folder of the onnx Python package (empty: that of .venv)")
if(ONNX_WHEEL_DIR)
  set(_onnx_dir ${ONNX_WHEEL_DIR})
else()
  file(GLOB _onnx_dir ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/onnx)
endif()
list(LENGTH _onnx_dir _onnx_count)
if(NOT _onnx_count EQUAL 1 OR NOT EXISTS "${_onnx_dir}/onnx-ml.proto")
  message(FATAL_ERROR "the onnx Python package was not found (looked at '${_onnx_dir}'): run ./dev setup, "
                      "or pass -DONNX_WHEEL_DIR=DIR")
endif()

# The version comes from the package's metadata; configure again when it changes.
get_filename_component(_onnx_site ${_onnx_dir} DIRECTORY)
file(GLOB _onnx_info ${_onnx_site}/onnx-*.dist-info/METADATA)
list(LENGTH _onnx_info _onnx_count)
if(NOT _onnx_count EQUAL 1
   OR NOT _onnx_info MATCHES "/onnx-(([0-9]+)\\.([0-9]+)\\.([0-9]+)[^/]*)\\.dist-info/")
  message(FATAL_ERROR "the version of the onnx package in ${_onnx_dir} is not clear from '${_onnx_info}'")
endif()
set(ONNX_VERSION ${CMAKE_MATCH_1})
set(ONNX_VERSION_MAJOR ${CMAKE_MATCH_2})
set(ONNX_VERSION_MINOR ${CMAKE_MATCH_3})
set(ONNX_VERSION_PATCH ${CMAKE_MATCH_4})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_onnx_info})
message(STATUS "onnx ${ONNX_VERSION} in ${_onnx_dir}")
set(ONNX_WHEEL_FOLDER ${_onnx_dir})

file(GLOB_RECURSE _onnx_sources ${_onnx_dir}/*.cc)
list(FILTER _onnx_sources EXCLUDE REGEX "/onnx/(backend|fuzz|test)/|cpp2py_export")
set(_onnx_gen ${CMAKE_BINARY_DIR}/onnx-gen)
file(MAKE_DIRECTORY ${_onnx_gen}/onnx/common)
set(_onnx_protos)
foreach(_proto onnx-ml onnx-operators-ml onnx-data)
  add_custom_command(
    OUTPUT ${_onnx_gen}/onnx/${_proto}.pb.cc ${_onnx_gen}/onnx/${_proto}.pb.h
    COMMAND protobuf::protoc -I ${_onnx_site} --cpp_out ${_onnx_gen} ${_onnx_dir}/${_proto}.proto
    DEPENDS ${_onnx_dir}/${_proto}.proto
    VERBATIM)
  list(APPEND _onnx_protos ${_onnx_gen}/onnx/${_proto}.pb.cc)
endforeach()
configure_file(${_onnx_dir}/common/version.h.in ${_onnx_gen}/onnx/common/version.h @ONLY)

add_library(onnx STATIC ${_onnx_sources} ${_onnx_protos})
add_library(ONNX::onnx ALIAS onnx)
target_compile_definitions(onnx PUBLIC ONNX_NAMESPACE=onnx ONNX_ML=1)
target_compile_options(onnx PRIVATE -w -O1)
target_include_directories(onnx SYSTEM PUBLIC
  $<BUILD_INTERFACE:${_onnx_gen}> $<BUILD_INTERFACE:${_onnx_site}>)
target_link_libraries(onnx PUBLIC protobuf::libprotobuf)
set_target_properties(onnx PROPERTIES CXX_STANDARD 17)

# Man pages, and completion for bash, zsh and fish, from what the programs say of
# themselves. They run for that: not where code is made for another machine.
if(CMAKE_CROSSCOMPILING OR LOOPC_ENABLE_ASAN OR LOOPC_ENABLE_TSAN)
  return()
endif()
include(GNUInstallDirs)
# Any version does: the one of the Python package is found later on.
find_program(LOOPC_PYTHON3 python3 REQUIRED DOC "Python, for man pages and completion")
mark_as_advanced(LOOPC_PYTHON3)
set(_script ${CMAKE_SOURCE_DIR}/utils/gen_shell.py)
set(LOOPC_SHARE ${CMAKE_BINARY_DIR}/share)
add_custom_command(OUTPUT ${LOOPC_SHARE}/man/man1/loopc.1
  COMMAND ${LOOPC_PYTHON3} ${_script} --tools $<TARGET_FILE_DIR:loopc> --output ${LOOPC_SHARE}
  DEPENDS ${_script} loopc loopc-run
  COMMENT "Man pages and completion"
  VERBATIM)
add_custom_target(loopc_shell ALL DEPENDS ${LOOPC_SHARE}/man/man1/loopc.1)
install(DIRECTORY ${LOOPC_SHARE}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR})

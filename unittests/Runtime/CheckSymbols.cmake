# Fails where an archive needs symbols that neither it nor the C library has.
#   cmake -DNM=llvm-nm -DARCHIVE=libloopc_rt.a -P CheckSymbols.cmake
# OTHER is an archive that it may use.
cmake_minimum_required(VERSION 3.25)

set(allowed
  # libc, as the runtime uses it
  aligned_alloc bcmp calloc clock_gettime free freelocale getauxval madvise malloc memchr
  memcmp memcpy memmove memset mmap mprotect munmap newlocale realloc sched_yield snprintf strchr strcmp
  strlen strncmp strstr strtod strtol uselocale vsnprintf
  # libm: numbers as texts, roots of one
  frexp ldexp nearbyint pow cos sin sincos
  # defined by the library for GPUs, weak
  loopc_rt_cuda_hooks
  # what compilers add for position-independent and hardened code
  _GLOBAL_OFFSET_TABLE_ __stack_chk_fail)
set(defines loopc_model_run)
if(ARCHIVE MATCHES "threads")
  set(allowed
    __sched_cpucount calloc clock_gettime close free getenv getpid memset loopc_rt_poll
    open read sched_getaffinity sched_getcpu sched_yield sigfillset snprintf strchr strcpy strlen strncmp
    strrchr strtol write
    pthread_getcpuclockid pthread_cond_broadcast pthread_cond_destroy pthread_cond_init
    pthread_cond_wait pthread_create pthread_join pthread_mutex_destroy
    pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock pthread_self
    pthread_setaffinity_np pthread_sigmask
    _GLOBAL_OFFSET_TABLE_ __stack_chk_fail)
  set(defines loopc_rt_parallel_for)
endif()

if(ARCHIVE MATCHES "rt_cuda")
  set(allowed
    calloc dlerror dlopen dlsym free getenv getpid malloc memcpy memset nanosleep
    realloc sched_yield snprintf strlen strncmp strtol vsnprintf
    pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock
    pthread_mutex_unlock
    _GLOBAL_OFFSET_TABLE_ __stack_chk_fail)
  set(defines loopc_rt_cuda_begin)
endif()

execute_process(COMMAND ${NM} --undefined-only --format=just-symbols ${ARCHIVE}
  OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} --defined-only --format=just-symbols ${ARCHIVE}
  OUTPUT_VARIABLE defined COMMAND_ERROR_IS_FATAL ANY)
if(OTHER)
  execute_process(COMMAND ${NM} --defined-only --format=just-symbols ${OTHER}
    OUTPUT_VARIABLE others COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND defined "${others}")
endif()
string(REGEX MATCHALL "[^\n]+" undefined "${undefined}")
string(REGEX MATCHALL "[^\n]+" defined "${defined}")
if(NOT "${defines}" IN_LIST defined)
  message(FATAL_ERROR "${ARCHIVE} does not define ${defines}: is it the runtime?")
endif()

set(foreign "")
foreach(symbol IN LISTS undefined)
  if(NOT symbol IN_LIST defined AND NOT symbol IN_LIST allowed
     AND NOT symbol MATCHES "\\.o:$")
    list(APPEND foreign ${symbol})
  endif()
endforeach()
if(foreign)
  list(REMOVE_DUPLICATES foreign)
  list(JOIN foreign ", " foreign)
  message(FATAL_ERROR "${ARCHIVE} needs more than the C library: ${foreign}")
endif()

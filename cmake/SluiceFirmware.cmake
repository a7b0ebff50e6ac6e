# Guest images, built by the bare-metal cross compiler. Builds are deterministic: no dates, and paths relative to the
# source trees.
if(NOT SLUICE_ROOT)
  set(SLUICE_ROOT ${CMAKE_SOURCE_DIR})
endif()
find_program(RISCV_CC riscv64-unknown-elf-gcc REQUIRED)
find_program(SLUICE_PYTHON python3 HINTS /usr/bin REQUIRED)

set(SLUICE_FIRMWARE_FLAGS
    -std=gnu11 -march=rv64gc_zba_zbb_zbs -mabi=lp64d -mcmodel=medany -mstrict-align -O2 -g
    -ffreestanding -nostdlib -static -flto -fuse-linker-plugin -fno-pic -fno-common -fno-strict-aliasing -fno-stack-protector
    -fno-tree-loop-distribute-patterns -ffunction-sections -fdata-sections
    -fno-asynchronous-unwind-tables -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
    -I${SLUICE_ROOT})

# Boot, board, console, interrupts, memory: what every image has.
set(SLUICE_FIRMWARE_SYSTEM
    boot/start.S boot/machine.c
    kernel/board.c kernel/console.c kernel/fdt.c kernel/hart.c kernel/interrupt.c kernel/memory.c kernel/panic.c
    kernel/start.c kernel/statistics.c kernel/string.c kernel/trap.S
    drivers/finisher.c drivers/imsic.c drivers/plic.c drivers/uart.c)
list(TRANSFORM SLUICE_FIRMWARE_SYSTEM PREPEND ${SLUICE_ROOT}/firmware/)

# The driver of the descriptor NIC, in firmware/.
set(SLUICE_FIRMWARE_DESCRIPTOR
    drivers/descriptor/nic.c drivers/descriptor/queue.c drivers/descriptor/rings.c drivers/descriptor/setup.c)

# Serves ONC RPC on the board's NICs; the RPC programs themselves are not included.
set(SLUICE_FIRMWARE_RPC
    drivers/nic.c ${SLUICE_FIRMWARE_DESCRIPTOR} drivers/pcie.c
    drivers/pio/coherent.c drivers/pio/nic.c drivers/pio/pcie.c drivers/pio/pio.c memory/translation.c net/checksum.c net/stack.c net/tcp.c rpc/decoder.c rpc/instances.c
    rpc/port.c rpc/portmapper.c rpc/schema.c rpc/turns.c)
list(TRANSFORM SLUICE_FIRMWARE_RPC PREPEND ${SLUICE_ROOT}/firmware/)

# sluice_rpc_programs(OUT IMAGE program...): sets OUT to the sources of these programs, and writes the image's
# rpc_programs.h, which lists the programs for firmware/rpc/program.h. A program is NAME.c, which ends with
# RPC_PROGRAM(NAME, ...), and NAME.h, which defines RPC_PROGRAM_NAME and NAME_VERSION. Either both lie beside each other
# in the project, or NAME.c is in firmware/programs and NAME.h in protocols/rpc. Where NAME.x describes the program NAME in
# RPC language, as protocols/rpc/services.x does those in firmware/programs, its handlers get arguments, and give
# results, by the schemas of that file (firmware/rpc/schema.h), as does a NIC that decodes calls (firmware/rpc/decoder.h).
function(sluice_rpc_programs out image)
  set(sources)
  set(headers)
  set(names)
  set(described)
  set(schemas)
  set(agreements)
  foreach(program ${ARGN})
    get_filename_component(name ${program} NAME_WE)
    get_filename_component(own ${program} ABSOLUTE)
    set(shipped ${SLUICE_ROOT}/firmware/programs/${program}.c)
    if(own MATCHES "\\.c$" AND EXISTS ${own})
      list(APPEND sources ${own})
      string(REGEX REPLACE "c$" "h" header ${own})
      file(RELATIVE_PATH shown ${CMAKE_CURRENT_SOURCE_DIR} ${header})
      if(NOT EXISTS ${header})
        message(FATAL_ERROR "${image}: the RPC program ${program} has no header ${shown} beside it")
      endif()
      string(REGEX REPLACE "h$" "x" described_by ${header})
      if(EXISTS ${described_by})
        _sluice_rpc_agreement(${image} ${described_by} ${name} agreement)
        string(APPEND agreements "${agreement}")
      endif()
    elseif(EXISTS ${shipped})
      list(APPEND sources ${shipped})
      set(shown protocols/rpc/${program}.h)
      set(described_by ${SLUICE_ROOT}/protocols/rpc/services.x)
    else()
      file(GLOB brought RELATIVE ${SLUICE_ROOT}/firmware/programs ${SLUICE_ROOT}/firmware/programs/*.c)
      string(REPLACE ".c" "" brought "${brought}")
      string(REPLACE ";" ", " brought "${brought}")
      message(FATAL_ERROR "${image}: ${program} is no RPC program: neither a C file here nor one of ${brought}")
    endif()
    if(NOT name MATCHES "^[a-z_][a-z0-9_]*$")
      message(FATAL_ERROR "${image}: the file of an RPC program has the program's name, a C identifier in lower case, not ${name}")
    endif()
    string(TOUPPER ${name} upper)
    if(EXISTS ${described_by})
      list(APPEND described ${described_by})
      string(APPEND schemas " X(${name})")
    endif()
    string(APPEND headers "#include \"${shown}\"\n")
    string(APPEND names " X(${name}, RPC_PROGRAM_${upper}, ${upper}_VERSION)")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${image}.dir/rpc_programs.h @ONLY CONTENT
"/* The RPC programs of @image@, by cmake/SluiceFirmware.cmake. */
#pragma once

@headers@
#define RPC_PROGRAMS(X)@names@
")
  _sluice_rpc_schemas(${CMAKE_CURRENT_BINARY_DIR}/${image}.dir/rpc_schemas.h "${schemas}\n${agreements}" ${described})
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets out to C's assertions that a program's header has the numbers of its .x file: the decoder would not find the
# schemas of another program.
function(_sluice_rpc_agreement image file name out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  string(TOUPPER ${name} upper)
  execute_process(COMMAND ${SLUICE_PYTHON} -B ${SLUICE_ROOT}/sw/rpc-schema ${file} --program ${upper} --json
                  RESULT_VARIABLE status OUTPUT_VARIABLE description ERROR_VARIABLE mistake)
  if(status)
    message(FATAL_ERROR "${image}: ${mistake}")
  endif()
  string(JSON number GET "${description}" programs 0 number)
  string(JSON versions LENGTH "${description}" programs 0 versions)
  set(condition 0)
  foreach(i RANGE 1 ${versions})
    math(EXPR i "${i} - 1")
    string(JSON version GET "${description}" programs 0 versions ${i} number)
    string(APPEND condition " || ${upper}_VERSION == ${version}u")
  endforeach()
  set(${out} "
_Static_assert(RPC_PROGRAM_${upper} == ${number}u, \"${name}.h and ${name}.x give the program different numbers\");
_Static_assert(${condition}, \"${name}.x has no version ${upper}_VERSION of ${name}.h\");
" PARENT_SCOPE)
endfunction()

# Writes the header for firmware/rpc/schema.c: the schemas of these .x files, and RPC_SCHEMAS(X), which expands to X(NAME)
# for each program with rows NAME_arguments and NAME_results.
function(_sluice_rpc_schemas header schemas)
  set(files ${ARGN})
  if(NOT files)
    set(files ${SLUICE_ROOT}/protocols/rpc/services.x)  # for the types
  endif()
  list(REMOVE_DUPLICATES files)
  file(GLOB compiler ${SLUICE_ROOT}/sw/rpc_schema/*.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files} ${compiler})
  execute_process(COMMAND ${SLUICE_PYTHON} -B ${SLUICE_ROOT}/sw/rpc-schema ${files} --c ${header}.new
                  RESULT_VARIABLE status ERROR_VARIABLE mistake)
  if(status)
    message(FATAL_ERROR "${mistake}")
  endif()
  file(READ ${header}.new contents)
  file(REMOVE ${header}.new)
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT "@contents@
#define RPC_SCHEMAS(X)@schemas@
")
endfunction()

# Sets out to the compiler's flags: paths in what it makes are relative.
function(_sluice_firmware_flags out)
  set(flags ${SLUICE_FIRMWARE_FLAGS})
  foreach(map ${SLUICE_ROOT}=. ${CMAKE_SOURCE_DIR}=. ${CMAKE_CURRENT_BINARY_DIR}=build)
    list(APPEND flags -ffile-prefix-map=${map} -Wa,--debug-prefix-map=${map})
  endforeach()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# Sets out to the objects of these sources, of the image or process NAME.
function(_sluice_firmware_objects out name)
  _sluice_firmware_flags(flags)
  set(objects)
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    set(short ${source})
    foreach(folder ${SLUICE_ROOT}/firmware ${CMAKE_CURRENT_SOURCE_DIR})
      string(REPLACE "${folder}/" "" short ${short})
    endforeach()
    if(IS_ABSOLUTE ${short})
      get_filename_component(short ${short} NAME)
    endif()
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${short}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${RISCV_CC} ${flags} -I${CMAKE_CURRENT_SOURCE_DIR}
              -I${CMAKE_CURRENT_BINARY_DIR}/${name}.dir -MD -MF ${object}.d -MT ${object} -c ${source}
              -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Building firmware image ${name}: ${short}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# Links NAME.elf of objects by a linker script, with further options.
function(_sluice_firmware_link name script objects)
  _sluice_firmware_flags(flags)
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf
    COMMAND ${RISCV_CC} ${flags} -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments ${ARGN} -T ${script}
            ${objects} -o ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf
    DEPENDS ${objects} ${script}
    COMMENT "Linking ${name}.elf"
    VERBATIM)
endfunction()

# sluice_firmware_image(NAME BASE source... [PROCESSES process...]): NAME.elf in the build directory from these sources and
# no others, for RAM at address BASE, or at 0x8000_0000 if BASE is "", with these processes (sluice_process()) in it.
# Source paths are absolute or relative to the source directory.
function(sluice_firmware_image name base)
  cmake_parse_arguments(IMAGE "" "" "PROCESSES" ${ARGN})
  _sluice_firmware_objects(objects ${name} ${IMAGE_UNPARSED_ARGUMENTS})
  _sluice_firmware_flags(flags)
  foreach(process ${IMAGE_PROCESSES})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${process}.process.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${RISCV_CC} ${flags} "-DPROCESS_NAME=\"${process}\"" "-DPROCESS_FILE=\"${process}.elf\""
              -Wa,-I${CMAKE_CURRENT_BINARY_DIR} -c ${SLUICE_ROOT}/firmware/process/embed.S -o ${object}
      DEPENDS ${SLUICE_ROOT}/firmware/process/embed.S ${CMAKE_CURRENT_BINARY_DIR}/${process}.elf
      COMMENT "Building firmware image ${name}: process ${process}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  if(base)
    set(base -Wl,--defsym=image_base=${base})
  endif()
  _sluice_firmware_link(${name} ${SLUICE_ROOT}/firmware/boot/link.ld "${objects}" ${base})
endfunction()

# What an image that runs processes has beside the system.
set(SLUICE_FIRMWARE_PROCESS memory/translation.c process/address_space.c process/elf.c process/process.c process/user.S)
list(TRANSFORM SLUICE_FIRMWARE_PROCESS PREPEND ${SLUICE_ROOT}/firmware/)

# sluice_process(NAME source...): NAME.elf, a program for user mode (firmware/user), of these sources, which define main().
function(sluice_process name)
  _sluice_firmware_objects(objects ${name} ${SLUICE_ROOT}/firmware/user/start.S ${SLUICE_ROOT}/firmware/kernel/string.c ${ARGN})
  _sluice_firmware_link(${name} ${SLUICE_ROOT}/firmware/user/link.ld "${objects}")
endfunction()

# A kernel that serves RPC programs, each by processes of its own, on a board with Lauberhorn; and such a process.
set(SLUICE_FIRMWARE_LAUBERHORN
    apps/lauberhorn_server.c drivers/lauberhorn/frames.c drivers/lauberhorn/lauberhorn.c drivers/lauberhorn/lines.c
    drivers/lauberhorn/services.c drivers/lauberhorn/workers.c drivers/nic.c drivers/pcie.c net/checksum.c net/stack.c
    net/tcp.c process/batch.c process/time_slice.c rpc/absent.c rpc/decoder.c rpc/encoder.c rpc/instances.c rpc/port.c rpc/portmapper.c
    rpc/schema.c)
list(TRANSFORM SLUICE_FIRMWARE_LAUBERHORN PREPEND ${SLUICE_ROOT}/firmware/)
set(SLUICE_FIRMWARE_SERVICE
    user/by_lines.c user/by_queue.c user/by_socket.c user/main.c user/runtime.c drivers/descriptor/queue.c
    drivers/descriptor/rings.c drivers/lauberhorn/lines.c net/checksum.c net/stack.c net/tcp.c rpc/port.c rpc/portmapper.c
    rpc/schema.c)
list(TRANSFORM SLUICE_FIRMWARE_SERVICE PREPEND ${SLUICE_ROOT}/firmware/)

# _sluice_process_once(NAME source...): as sluice_process(), but only for the first image of a directory that has it.
function(_sluice_process_once name)
  get_property(is_there DIRECTORY PROPERTY sluice_process_${name})
  if(NOT is_there)
    sluice_process(${name} ${ARGN})
    set_property(DIRECTORY PROPERTY sluice_process_${name} TRUE)
  endif()
endfunction()

# A kernel that serves RPC programs likewise on a board with a descriptor NIC.
set(SLUICE_FIRMWARE_SERVER
    apps/process_server.c ${SLUICE_FIRMWARE_DESCRIPTOR} drivers/nic.c drivers/pcie.c net/checksum.c net/stack.c net/tcp.c process/batch.c
    process/scheduler.c process/time_slice.c rpc/absent.c rpc/instances.c rpc/port.c rpc/portmapper.c rpc/schema.c
    server/bypass.c server/delivery.c server/messages.c server/processes.c server/socket.c)
list(TRANSFORM SLUICE_FIRMWARE_SERVER PREPEND ${SLUICE_ROOT}/firmware/)

# _sluice_image_of_services(NAME SOURCES source... PROGRAMS program...): NAME.elf, a kernel of these sources with these
# programs (sluice_rpc_programs()), each a process image service-PROGRAM, and the process image of batch threads.
function(_sluice_image_of_services name)
  cmake_parse_arguments(IMAGE "" "" "SOURCES;PROGRAMS" ${ARGN})
  if(NOT IMAGE_PROGRAMS)
    message(FATAL_ERROR "the server ${name} names no program")
  endif()
  set(processes)
  foreach(program ${IMAGE_PROGRAMS})
    get_filename_component(process ${program} NAME_WE)
    set(process service-${process})
    sluice_rpc_programs(sources ${process} ${program})
    _sluice_process_once(${process} ${SLUICE_FIRMWARE_SERVICE} ${sources})
    list(APPEND processes ${process})
  endforeach()
  _sluice_process_once(process-batch ${SLUICE_ROOT}/firmware/user/batch.c)
  sluice_rpc_programs(sources ${name} ${IMAGE_PROGRAMS})
  sluice_firmware_image(${name} "" ${SLUICE_FIRMWARE_SYSTEM} ${SLUICE_FIRMWARE_PROCESS} ${IMAGE_SOURCES}
                        PROCESSES ${processes} process-batch)
endfunction()

# sluice_lauberhorn_image(NAME program...): Lauberhorn's kernel with these programs.
function(sluice_lauberhorn_image name)
  _sluice_image_of_services(${name} SOURCES ${SLUICE_FIRMWARE_LAUBERHORN} PROGRAMS ${ARGN})
endfunction()

# sluice_server_image(NAME program...): the descriptor NIC's, with the same processes.
function(sluice_server_image name)
  _sluice_image_of_services(${name} SOURCES ${SLUICE_FIRMWARE_SERVER} PROGRAMS ${ARGN})
endfunction()

# sluice_add_lauberhorn_server(NAME program...): that image, as a target.
function(sluice_add_lauberhorn_server name)
  sluice_lauberhorn_image(${name} ${ARGN})
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
endfunction()

# sluice_add_process_server(NAME program...): that of the descriptor NIC, as a target.
function(sluice_add_process_server name)
  sluice_server_image(${name} ${ARGN})
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
endfunction()

# sluice_add_firmware(NAME source...): an image of these sources, the system and PCIe enumeration. The sources define
# application_main() (firmware/kernel/start.h).
function(sluice_add_firmware name)
  sluice_firmware_image(${name} "" ${SLUICE_FIRMWARE_SYSTEM} ${SLUICE_ROOT}/firmware/drivers/pcie.c ${ARGN})
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
endfunction()

# sluice_add_rpc_server(NAME program... [DRIVERS source...]): rpc-server with these programs (sluice_rpc_programs()) and
# no others. DRIVERS: drivers of further NICs; each source ends with NIC_DRIVER() (firmware/drivers/nic.h).
function(sluice_add_rpc_server name)
  cmake_parse_arguments(SERVER "" "" "DRIVERS" ${ARGN})
  if(NOT SERVER_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_add_rpc_server(${name}) names no program")
  endif()
  sluice_rpc_programs(programs ${name} ${SERVER_UNPARSED_ARGUMENTS})
  sluice_firmware_image(${name} "" ${SLUICE_FIRMWARE_SYSTEM} ${SLUICE_ROOT}/firmware/apps/rpc_server.c ${programs}
                        ${SLUICE_FIRMWARE_RPC} ${SERVER_DRIVERS})
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
endfunction()

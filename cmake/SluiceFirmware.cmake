# Guest images, built by the bare-metal cross compiler. Builds are deterministic: no dates, and paths relative to the
# source trees.
if(NOT SLUICE_ROOT)
  set(SLUICE_ROOT ${CMAKE_SOURCE_DIR})
endif()
find_program(RISCV_CC riscv64-unknown-elf-gcc REQUIRED)

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

# sluice_firmware_image(NAME BASE address source...): NAME.elf in the build directory from these sources and no others,
# for RAM at the address; empty: at 0x8000_0000. Source paths are absolute or relative to the source directory.
function(sluice_firmware_image name base)
  set(flags ${SLUICE_FIRMWARE_FLAGS})
  foreach(map ${SLUICE_ROOT}=. ${CMAKE_SOURCE_DIR}=. ${CMAKE_CURRENT_BINARY_DIR}=build)
    list(APPEND flags -ffile-prefix-map=${map} -Wa,--debug-prefix-map=${map})
  endforeach()
  if(base)
    set(base -Wl,--defsym=image_base=${base})
  endif()
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
      COMMAND ${RISCV_CC} ${flags} -I${CMAKE_CURRENT_SOURCE_DIR} -MD -MF ${object}.d -MT ${object} -c ${source}
              -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Building firmware image ${name}: ${short}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(script ${SLUICE_ROOT}/firmware/boot/link.ld)
  set(elf ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
  add_custom_command(
    OUTPUT ${elf}
    COMMAND ${RISCV_CC} ${flags} -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments ${base} -T ${script}
            ${objects} -o ${elf}
    DEPENDS ${objects} ${script}
    COMMENT "Linking ${name}.elf"
    VERBATIM)
endfunction()

# sluice_add_firmware(NAME source...): an image of these sources, the system and PCIe enumeration. The sources define
# application_main() (firmware/kernel/start.h).
function(sluice_add_firmware name)
  sluice_firmware_image(${name} "" ${SLUICE_FIRMWARE_SYSTEM} ${SLUICE_ROOT}/firmware/drivers/pcie.c ${ARGN})
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
endfunction()

/* SPDX-License-Identifier: Apache-2.0 */
# An ELF file as a part of the image. PROCESS_NAME and PROCESS_FILE: texts.
        .section .rodata.process, "a"
        .balign 16
1:      .incbin PROCESS_FILE
2:
3:      .asciz  PROCESS_NAME
        .section .process_images, "a"
        .balign 8
        .dword  3b, 1b, 2b

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare_with_qemu.sh ISS_RUN GUEST: the guest (GUEST.bin, GUEST.elf) prints the same on the ISS and on QEMU.
# Exit status 77, skipped, where QEMU is not installed.
set -u
command -v qemu-system-riscv64 >/dev/null || { echo "skipped: qemu-system-riscv64 is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$2.bin" >"$folder/iss" || { echo "the guest failed on the ISS"; exit 1; }
# Without AIA, QEMU 7.2 takes interrupts in the order of their numbers.
timeout 120 qemu-system-riscv64 -M virt,aia=aplic-imsic -cpu rv64,zba=true,zbb=true,zbs=true -m 128M -bios none -display none \
  -serial stdio -monitor none -kernel "$2.elf" </dev/null >"$folder/qemu" || { echo "the guest failed on QEMU"; exit 1; }
[ -s "$folder/iss" ] || { echo "the guest printed nothing"; exit 1; }
diff "$folder/iss" "$folder/qemu" && echo "$(wc -l <"$folder/iss") lines alike"

# SPDX-License-Identifier: Apache-2.0
# Sourced by sw/run, sw/test and sw/bench: installs what is missing (Debian 12), configures and builds.
# sluice_build PRESET [TARGET...]: afterwards the build tree is build/PRESET.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages="g++ cmake ninja-build ccache pkg-config libsystemc-dev catch2 libfmt-dev libcli11-dev libtomlplusplus-dev \
nlohmann-json3-dev librandom123-dev libboost-math-dev libfdt-dev libmuparserx-dev nettle-dev gcc-riscv64-unknown-elf \
picolibc-riscv64-unknown-elf python3"
test_packages="qemu-system-misc gdb-multiarch tshark protobuf-compiler device-tree-compiler rpcbind rpcsvc-proto libtirpc-dev \
iputils-ping iproute2 netbase procps opensbi slurm-wlm munge u-boot-qemu verilator yosys gtkwave zlib1g-dev"

sluice_install() {
  local missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "sluice: installing ${missing[*]}" >&2
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "sluice: missing packages, and neither root nor sudo: ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "sluice: the packages could not be installed" >&2
    return 1
  fi
  rm -f "$log"
}

# On a terminal the build shows its progress; elsewhere only what fails is worth reading.
sluice_build() {
  local preset=$1
  shift
  local tree="$root/build/$preset" log
  log=$(mktemp)
  if [ ! -e "$tree/build.ninja" ]; then
    echo "sluice: configuring build/$preset" >&2
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    echo "sluice: building build/$preset, which takes a few minutes" >&2
  fi
  if [ -t 2 ]; then
    ninja -C "$tree" "$@" >&2 || return 1
  else
    ninja -C "$tree" "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  fi
  rm -f "$log"
}

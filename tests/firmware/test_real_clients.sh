#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_real_clients.sh RPC_CLIENT INTERFACE SERVER...: starts SERVER, which creates the TAP INTERFACE and serves 10.0.0.2 on
# it, in a network namespace of its own, and tries ping, rpcinfo and libtirpc's RPC_CLIENT on it. Exit status 77 where
# namespaces or TAP are not permitted.
set -eu
if [ "$1" != inside ]; then
  if ! unshare -n true 2>/dev/null || [ ! -w /dev/net/tun ]; then
    echo "skipped: network namespaces and TAP need root"
    exit 77
  fi
  exec unshare -n "$0" inside "$@"
fi
shift
client=$1
interface=$2
shift 2
"$@" &
server=$!
trap 'kill $server' EXIT
tries=0
until ip link show "$interface" >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || { echo "the server made no interface $interface"; exit 1; }
  sleep 0.1
done
ip address add 10.0.0.1/24 dev "$interface"
ip link set "$interface" up

expect() { # expect TEXT COMMAND...: the command succeeds and says TEXT
  text=$1
  shift
  if ! output=$("$@" 2>&1) || ! echo "$output" | grep -q "$text"; then
    echo "failed: $*"
    echo "$output"
    exit 1
  fi
  echo "good: $*"
}
if command -v ping >/dev/null; then
  expect ' 5 received' ping -c 5 -i 0.2 -W 5 10.0.0.2
  expect ' 2 received' ping -c 2 -i 0.2 -W 5 -s 1472 10.0.0.2
fi
if command -v rpcinfo >/dev/null; then
  expect '536870913 *1 *udp *20049' rpcinfo -p 10.0.0.2
  expect 'version 1 ready' rpcinfo -T udp 10.0.0.2 536870913
  expect 'version 2 ready' rpcinfo -T udp 10.0.0.2 portmapper
  expect 'version 1 ready' rpcinfo -n 20049 -u 10.0.0.2 536870914 1
  if rpcinfo -n 20049 -u 10.0.0.2 536870914 2 2>/dev/null; then echo "version 2 of echo answered"; exit 1; fi
fi
expect 'every result right' "$client" 10.0.0.2 2000

#!/bin/sh
# test_rpc_client.sh HOST_SERVER RPC_CLIENT: libtirpc's rpc-client and rpcinfo against the firmware's protocol code on
# this machine, in a network namespace of its own. Exit status 77 where namespaces are not permitted.
set -eu
if [ "${1:-}" != inside ]; then
  unshare -n true 2>/dev/null || { echo "skipped: network namespaces need root"; exit 77; }
  exec unshare -n "$0" inside "$@"
fi
shift
ip link set lo up
"$1" 30 &
server=$!
trap 'kill $server' EXIT
sleep 0.3
"$2" 127.0.0.1 2000
if ! command -v rpcinfo >/dev/null; then
  echo "rpcinfo is not installed: its part is left out"
  exit 0
fi
rpcinfo -T udp 127.0.0.1 536870913 | grep -q 'version 1 ready'
rpcinfo -n 20049 -u 127.0.0.1 536870914 1 | grep -q 'version 1 ready'
if rpcinfo -n 20049 -u 127.0.0.1 536870914 2; then exit 1; fi
echo "rpcinfo agrees"

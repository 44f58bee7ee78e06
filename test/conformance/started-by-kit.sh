#!/bin/bash
# The process that the conformance kit starts for a scenario, with the port of the client host and the URL of a server. The client
# itself runs in the process at the port. This is no script of Node: the kit starts 63 of them, and most of the time would be theirs.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
for given in "$2" "$MCP_CONFORMANCE_SCENARIO" "$MCP_CONFORMANCE_PROTOCOL_VERSION" "${MCP_CONFORMANCE_CONTEXT:-{\}}"; do
  printf '%s\n' "$given" >&3
done
IFS= read -r code <&3 && IFS= read -r text <&3 || exit 1
if [ "$code" = 0 ]; then printf '%s\n' "$text"; else printf '%s\n' "$text" >&2; fi
exit "$code"

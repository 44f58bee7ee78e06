#!/bin/sh
# tsx --env-file=FILE PROGRAM.ts [arguments], as the examples call it. The loader of tsx looks at each module of the packages, too,
# which takes two seconds of processor time for a framework; here only the example's own files are compiled.
set -e
env=$1
program=${2%.ts}
shift 2
esbuild "$program.ts" --bundle --packages=external --platform=node --format=esm --log-level=error --outfile="$program.mjs"
exec node "$env" "$program.mjs" "$@"

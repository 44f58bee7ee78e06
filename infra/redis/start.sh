#!/bin/sh
# Starts Redis with users.acl, after turning on each user whose password is in the environment. The file in the
# repository holds no password and every user in it is off, so nothing works until someone sets one.
#
#   PARLEY_REDIS_PASSWORD            the user `parley`: the api and the worker (required)
#   PARLEY_REDIS_PASSWORD_FILE       or the path of a file with it
#   PARLEY_REDIS_NEXT_PASSWORD       a second one for the same user, while you change from one to the other
#   PARLEY_REDIS_OPERATOR_PASSWORD   the user `operator`: reads, diagnoses, takes backups
#   PARLEY_REDIS_REPLICA_PASSWORD    the user `replica`: replication
#   PARLEY_REDIS_SENTINEL_PASSWORD   the user `sentinel`: Sentinel processes
#   PARLEY_REDIS_MAXMEMORY           default 512mb; give the container about twice this
#   PARLEY_REDIS_RUN_DIR             where the finished files go; default /run/redis, an absolute path, in memory
#
# Further arguments go to redis-server as they are.
set -eu
umask 077

here=$(cd "$(dirname "$0")" && pwd)
run_dir=${PARLEY_REDIS_RUN_DIR:-/run/redis}
users=$run_dir/users.acl

if [ -n "${PARLEY_REDIS_PASSWORD_FILE:-}" ]; then
  PARLEY_REDIS_PASSWORD=$(cat "$PARLEY_REDIS_PASSWORD_FILE")
fi
if [ "${#PARLEY_REDIS_PASSWORD}" -lt 16 ]; then
  echo 'PARLEY_REDIS_PASSWORD must have at least 16 characters' >&2
  exit 1
fi

# Redis compares SHA-256 digests, so the plain password never reaches a file.
enable() {
  [ -n "$2" ] || return 0
  digest=$(printf '%s' "$2" | sha256sum | cut -c1-64)
  sed "s/^user $1 o[nf]* resetpass /user $1 on resetpass #$digest /" "$users" >"$users.next"
  mv "$users.next" "$users"
}

mkdir -p "$run_dir"
cat "$here/users.acl" >"$users"
# Sentinel rewrites the configuration of the servers it moves: let it have a copy.
cat "$here/redis.conf" >"$run_dir/redis.conf"
enable parley "$PARLEY_REDIS_PASSWORD"
enable parley "${PARLEY_REDIS_NEXT_PASSWORD:-}"
enable operator "${PARLEY_REDIS_OPERATOR_PASSWORD:-}"
enable replica "${PARLEY_REDIS_REPLICA_PASSWORD:-}"
enable sentinel "${PARLEY_REDIS_SENTINEL_PASSWORD:-}"
maxmemory=${PARLEY_REDIS_MAXMEMORY:-512mb}
unset PARLEY_REDIS_PASSWORD PARLEY_REDIS_NEXT_PASSWORD PARLEY_REDIS_OPERATOR_PASSWORD
unset PARLEY_REDIS_REPLICA_PASSWORD PARLEY_REDIS_SENTINEL_PASSWORD

exec redis-server "$run_dir/redis.conf" --aclfile "$users" --maxmemory "$maxmemory" "$@"

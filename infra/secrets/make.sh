#!/bin/sh
# Writes the secrets of docker-compose.yml into its volumes. For each secret the environment says what to do:
#
#   make         keep the stored one; make a random one if there is none
#   (nothing)    store an empty one, which turns it off
#   any other    store this one
#
#   PARLEY_JWT_SECRET, PARLEY_API_KEYS, PARLEY_REDIS_PASSWORD, PARLEY_GRAFANA_PASSWORD
#   PARLEY_SECRETS_DIR   the volumes `api`, `redis` and `grafana`; default /secrets
#   PARLEY_API_GROUP, PARLEY_REDIS_GROUP, PARLEY_GRAFANA_GROUP   who reads those of a volume; nobody else does
set -eu
umask 077

dir=${PARLEY_SECRETS_DIR:-/secrets}

random() {
  od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n'
}

# store <file> <its group> <what to do> <prefix of a made secret>
store() {
  if [ "$3" != make ]; then
    printf '%s' "$3" >"$1.next"
  elif [ -s "$1" ]; then
    # An earlier version let everybody read it.
    cat "$1" >"$1.next"
  else
    printf '%s%s' "$4" "$(random)" >"$1.next"
  fi
  chgrp "$2" "$1.next"
  chmod 640 "$1.next"
  mv "$1.next" "$1"
}

store "$dir/api/jwt-secret" "$PARLEY_API_GROUP" "$PARLEY_JWT_SECRET" ''
store "$dir/api/api-keys" "$PARLEY_API_GROUP" "$PARLEY_API_KEYS" 'default:'
store "$dir/redis/password" "$PARLEY_REDIS_GROUP" "$PARLEY_REDIS_PASSWORD" ''
store "$dir/grafana/password" "$PARLEY_GRAFANA_GROUP" "$PARLEY_GRAFANA_PASSWORD" ''

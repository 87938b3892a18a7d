#!/usr/bin/env bash
# Does what the entry point of the image mariadb does, as far as docker-compose.yml uses it.
set -euo pipefail
case "${1-}" in ''|-*) set -- mariadbd "$@" ;; esac
data=/var/lib/mysql
if [ "$(id -u)" = 0 ]; then
  chown mysql:mysql "$data" /run/mysqld
  exec setpriv --reuid=mysql --regid=mysql --clear-groups -- "$0" "$@"
fi
if [ ! -d "$data/mysql" ]; then
  mariadb-install-db --datadir="$data" --skip-test-db --auth-root-authentication-method=normal >/dev/null
  "$@" --skip-networking --wsrep-on=OFF --socket=/run/mysqld/init.sock &
  server=$!
  for _ in $(seq 300); do
    mariadb-admin --socket=/run/mysqld/init.sock --user=root ping >/dev/null 2>&1 && break
    sleep 0.1
  done
  for file in /docker-entrypoint-initdb.d/*.sql; do
    mariadb --socket=/run/mysqld/init.sock --user=root < "$file"
  done
  echo "ALTER USER root@localhost IDENTIFIED BY '$(cat "$MARIADB_ROOT_PASSWORD_FILE")'" |
    mariadb --socket=/run/mysqld/init.sock --user=root
  kill "$server"
  wait "$server"
fi
exec "$@"

#!/bin/sh
# Whether the server lets clients connect over the network, as `healthcheck.sh --connect` of the image mariadb.
exec mariadb-admin --protocol=tcp --host=127.0.0.1 --user=healthcheck ping >/dev/null 2>&1

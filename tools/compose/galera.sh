#!/usr/bin/env bash
# Starts MariaDB as a node of the cluster that CLUSTER names, in the containers of docker-compose.galera.yml. The first
# of these hosts begins a new cluster where it has no data yet. Later the node that was stopped last begins it again:
# Galera writes into grastate.dat that this is safe. Every other node joins those that run. A node that was killed has
# the members that it knew in gvwstate.dat, so that where all were killed they find each other again (pc.recovery). Such a
# node never begins a cluster, whatever grastate.dat says: the others may run.
set -euo pipefail
read -ra nodes <<< "$CLUSTER"
data=/var/lib/mysql
begin=()
if [ "$(hostname)" = "${nodes[0]}" ] && [ ! -d "$data/mysql" ]; then
  begin=(--wsrep-new-cluster)
elif grep -qs '^safe_to_bootstrap: 1' "$data/grastate.dat" && [ ! -e "$data/gvwstate.dat" ]; then
  begin=(--wsrep-new-cluster)
fi
exec docker-entrypoint.sh mariadbd "$@" \
  --wsrep-on=ON \
  --wsrep-provider=/usr/lib/galera/libgalera_smm.so \
  --wsrep-cluster-name=store \
  --wsrep-cluster-address="gcomm://$(IFS=,; echo "${nodes[*]}")" \
  --wsrep-node-name="$(hostname)" \
  --wsrep-sst-method=mariabackup \
  --wsrep-sst-auth=mysql: \
  --binlog-format=ROW \
  --default-storage-engine=InnoDB \
  --innodb-autoinc-lock-mode=2 \
  "${begin[@]}"

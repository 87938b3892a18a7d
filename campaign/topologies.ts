import type { DatabaseKind } from './databases/database.js'

/** A system that is tried. */
export interface Topology {
  readonly name: string
  readonly database: DatabaseKind
  /** `innodb_snapshot_isolation`, where the server has it. Default: as the server has it. */
  readonly snapshotIsolation?: boolean
  /** How many data services there are unless the command says otherwise: one for each node of a cluster. */
  readonly services: number
}

export const TOPOLOGIES: readonly Topology[] = [
  { name: 'sqlite', database: 'sqlite', services: 2 },
  { name: 'mariadb', database: 'mariadb', snapshotIsolation: false, services: 2 },
  { name: 'mariadb-snapshot', database: 'mariadb', snapshotIsolation: true, services: 2 },
  { name: 'mariadb-newest', database: 'mariadb-newest', snapshotIsolation: false, services: 2 },
  { name: 'mariadb-newest-snapshot', database: 'mariadb-newest', snapshotIsolation: true, services: 2 },
  { name: 'mysql', database: 'mysql', services: 2 },
  { name: 'galera', database: 'galera', services: 3 }
]

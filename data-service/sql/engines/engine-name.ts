/** The kinds by which a migration gives statements of its own for each. MariaDB and Galera take those of `mysql`. */
export type EngineName = 'sqlite' | 'mysql'

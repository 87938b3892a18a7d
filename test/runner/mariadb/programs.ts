import { existsSync } from 'node:fs'
import { installPackage } from '../install-package.js'
import { findProgram } from '../find-program.js'

/** The server and the program that makes its data folder. */
export interface MariadbPrograms {
  readonly server: string
  readonly installDb: string
}

/** And what makes a cluster of several servers. */
export interface GaleraPrograms extends MariadbPrograms {
  /** Galera's library. */
  readonly provider: string
}

const PROVIDERS = ['/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera-4/libgalera_smm.so']

/** undefined where MariaDB is not installed. */
export function findMariadb(): MariadbPrograms | undefined {
  const server = findProgram('mariadbd')
  const installDb = findProgram('mariadb-install-db')
  return server === undefined || installDb === undefined ? undefined : { server, installDb }
}

/** undefined where MariaDB, Galera or rsync, with which a node gets its data, is not installed. */
export function findGalera(): GaleraPrograms | undefined {
  const mariadb = findMariadb()
  const provider = PROVIDERS.find((path) => existsSync(path))
  if (mariadb === undefined || provider === undefined || findProgram('rsync') === undefined) return undefined
  return { ...mariadb, provider }
}

/** Installs Debian's packages of them where any is missing and may be installed. */
export async function ensureGalera(): Promise<void> {
  if (findMariadb() === undefined) await installPackage('mariadb-server')
  if (!PROVIDERS.some((path) => existsSync(path))) await installPackage('galera-4')
  if (findProgram('rsync') === undefined) await installPackage('rsync')
}

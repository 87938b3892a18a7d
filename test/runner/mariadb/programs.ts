import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// Debian keeps servers where an ordinary user's PATH does not look.
const USUAL = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']

/** The server and the program that makes its data folder. */
export interface MariadbPrograms {
  readonly server: string
  readonly installDb: string
}

/** undefined where MariaDB is not installed. */
export function findMariadb(): MariadbPrograms | undefined {
  const server = find('mariadbd')
  const installDb = find('mariadb-install-db')
  return server === undefined || installDb === undefined ? undefined : { server, installDb }
}

/** The path of a program; undefined where there is none. */
export function find(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...USUAL]
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

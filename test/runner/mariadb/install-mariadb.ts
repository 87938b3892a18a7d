import { execFileSync } from 'node:child_process'
import { runVisibly } from '../run-visibly.js'
import { find } from './programs.js'

/** Installs Debian's MariaDB. false where we may not, or where there is no apt-get. */
export async function installMariadb(): Promise<boolean> {
  const elevation = find('apt-get') === undefined ? undefined : rootPrefix()
  if (elevation === undefined) return false
  process.stderr.write('MariaDB is not installed: installing the package mariadb-server …\n')
  await aptGet(elevation, ['-qq', 'update'])
  // Its exit code does not matter: on a machine without an init system the package is in place all the same when
  // starting its service fails, and the caller looks for the programs themselves.
  await aptGet(elevation, ['-qq', '-y', '-o=Dpkg::Use-Pty=0', 'install', '--no-install-recommends', 'mariadb-server'])
  return true
}

function aptGet(elevation: readonly string[], args: readonly string[]): Promise<number> {
  const [program = 'apt-get', ...rest] = [...elevation, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args]
  return runVisibly(program, rest)
}

/** What to put before a command that needs root; undefined where we cannot become root without a password. */
function rootPrefix(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return []
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' })
    return ['sudo', '-n']
  } catch {
    return undefined
  }
}

import { execFileSync } from 'node:child_process'
import { findProgram } from './find-program.js'
import { runVisibly } from './run-visibly.js'

/** Installs a package of Debian. false where we may not, or where there is no apt-get. */
export async function installPackage(name: string): Promise<boolean> {
  const elevation = findProgram('apt-get') === undefined ? undefined : rootPrefix()
  if (elevation === undefined) return false
  process.stderr.write(`Installing the package ${name} …\n`)
  await aptGet(elevation, ['-qq', 'update'])
  // Its exit code does not matter: on a machine without an init system the package is in place all the same when
  // starting its service fails, and the caller looks for the programs themselves.
  await aptGet(elevation, ['-qq', '-y', '-o=Dpkg::Use-Pty=0', 'install', '--no-install-recommends', name])
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

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from './package-root.js'

const INSTALL_TIMEOUT_MS = 10 * 60 * 1000

/**
 * The folder of packages that the soak alone needs, by the name of their package.json and lock file in test/fixtures.
 * Installs them unless an earlier run of the same lock file has.
 */
export async function installedTools(name: string): Promise<string> {
  const source = join(packageRoot, 'test/fixtures', name)
  const lock = readFileSync(join(source, 'package-lock.json'))
  const folder = join(packageRoot, '.data', `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  if (existsSync(folder)) return folder
  // The processes keep their data there too, and warn of a folder that others can open.
  mkdirSync(join(packageRoot, '.data'), { recursive: true, mode: 0o700 })
  // Whoever finds the folder finds it whole: another test may install at the same time.
  const making = await mkdtemp(`${folder}-`)
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(source, file), join(making, file))
  await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: making,
    timeout: INSTALL_TIMEOUT_MS,
    env: { ...process.env, SCARF_ANALYTICS: 'false' }
  })
  if (existsSync(folder)) rmSync(making, { recursive: true })
  else renameSync(making, folder)
  return folder
}

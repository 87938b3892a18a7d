import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'

/**
 * The secret by which the data service knows the gateway: the user's own, or one that is made under DATA_DIR on first
 * start, for the eyes of this user alone.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>}
 */
export async function gatewaySecret(env) {
  if (env['GATEWAY_SECRET']) return env['GATEWAY_SECRET']
  const file = resolve(projectRoot, join(env['DATA_DIR'] || '.data', 'gateway-secret'))
  try {
    // Only now, since `npm start` has compiled it just before.
    const module = pathToFileURL(join(projectRoot, 'dist/shared/files.js')).href
    const folders = /** @type {{ makeFolder: (path: string, mode?: number) => Promise<void> }} */ (await import(module))
    await folders.makeFolder(dirname(file), 0o700)
    await writeFile(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' }).catch(unlessThere)
    await chmod(file, 0o600)
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new Failure(`The gateway's secret cannot be kept in ${file}: ${String(error)}. See DATA_DIR.`)
  }
}

/** @param {unknown} error */
function unlessThere(error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

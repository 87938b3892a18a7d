import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const CHOSEN = { SAMPLE_DATA: 'true', OWNER_BYPASS_ROLE: 'Admin', COOKIE_SECURE: 'false' }

/**
 * The environment with what `npm start` and the commands beside it choose for a first look. The user's own settings come
 * before these; a blank one counts as unset, as everywhere.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function demoEnvironment() {
  const set = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''))
  return { ...CHOSEN, DATA_PROTECTION_BLOB_STORAGE_URI: keyRing(set['DATA_DIR'] ?? '.data'), ...set }
}

/**
 * @param {string} dataDir
 * @returns {string} URI of a file there; relative to the working directory where the folder is
 */
function keyRing(dataDir) {
  const path = join(dataDir, 'key-ring.json')
  return isAbsolute(path) ? pathToFileURL(path).href : `file:${path.split('/').map(encodeURIComponent).join('/')}`
}

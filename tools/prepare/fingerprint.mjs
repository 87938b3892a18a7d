import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../project-root.mjs'

/**
 * A digest of name, size and time of every file under the paths: it changes when one is written, added or removed.
 *
 * @param {readonly string[]} paths files and folders, from the project root
 */
export function fingerprint(paths) {
  const hash = createHash('sha256')
  for (const file of paths.flatMap(filesUnder)) {
    const { size, mtimeMs } = statSync(join(projectRoot, file))
    hash.update(`${file}\0${size}\0${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/**
 * Every file under a path, in a stable order, from the project root.
 *
 * @param {string} path
 * @returns {string[]}
 */
export function filesUnder(path) {
  const stat = statSync(join(projectRoot, path), { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (stat.isFile()) return [path]
  return readdirSync(join(projectRoot, path))
    .toSorted()
    .flatMap((name) => filesUnder(`${path}/${name}`))
}

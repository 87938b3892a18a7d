import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from './project-root.mjs'

/**
 * Runs the command of `process.argv`, `uniform-rest <command> [argument…]`, on the reference store. Everything must be
 * compiled.
 *
 * @returns {Promise<number>} its exit code
 */
export async function runStore() {
  process.chdir(projectRoot)
  // Of a checkout, where the first of these commands may come before the first start.
  process.env['MIGRATE_AT_START'] ??= 'true'
  // What `npm start` chooses is what it looks at.
  if (process.argv[2] === 'doctor') process.env['OWNER_BYPASS_ROLE'] ??= 'Admin'
  // Migrations and the proto of typed services are written beside the sources.
  const folder = ['migrate', 'proto'].includes(process.argv[2] ?? '')
    ? ['examples', 'store']
    : ['dist', 'examples', 'store']
  process.argv.push('--app', join(...folder))
  await import(pathToFileURL(join(projectRoot, 'dist/cli/main.js')).href)
  return Number(process.exitCode ?? 0)
}

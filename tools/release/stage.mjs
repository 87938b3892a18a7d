import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'
import { pagesOfRepository, publishedCode, publishedPage, smallest, withoutComments } from './published.mjs'

/** What is published, by its folder here, in the order in which they depend on each other. */
export const PACKAGES = /** @type {const} */ (['clients/typescript', 'clients/react-admin', 'clients/pages', '.'])

/**
 * @typedef {{ name: string, version: string, description?: string, license?: string, private?: boolean, exports?: Readonly<Record<string, { types: string }>> } &
 *   Readonly<Record<string, unknown>>} Manifest
 */

/**
 * Puts what is published of a package into a folder of its own: the files that npm would pack, code without comments, types
 * that an entry point reaches, pages for users without pictures, and a manifest without scripts.
 *
 * @param {string} from
 * @param {string} folder
 * @param {string | undefined} repository the address that provenance names
 */
export async function stage(from, folder, repository) {
  const root = join(projectRoot, from)
  const manifest = readManifest(root)
  rmSync(folder, { recursive: true, force: true })
  const typed = typesReached(root, manifest)
  const paths = packedFiles(root).filter(
    (path) => !path.endsWith('.png') && (!path.endsWith('.d.ts') || typed.has(path))
  )
  const source = repository === undefined ? undefined : `${repository}/blob/v${manifest.version}`
  const pages = { published: withFolders(paths), source }
  for (const path of paths) {
    const content = await published(root, path, { distance: typed.get(path) ?? 0, pages })
    // Modules of types alone are empty, and no other one imports them.
    if (content.length === 0) continue
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
  }
  if (!existsSync(join(folder, 'LICENSE'))) cpSync(join(projectRoot, 'LICENSE'), join(folder, 'LICENSE'))
  // `init` takes the ranges of what an application is developed with from devDependencies.
  const { private: _, scripts: __, files: ___, ...rest } = manifest
  const publishConfig = { access: 'public', provenance: repository !== undefined }
  const named = repository === undefined ? {} : { repository: { type: 'git', url: repository, directory: from } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...rest, ...named, publishConfig }, null, 2)}\n`)
}

/** Declarations further away from an entry point than this are shown by no editor, and lose their comments. */
const COMMENTED = 2

/**
 * A file as it is published.
 *
 * @param {string} root
 * @param {string} path
 * @param {{ distance: number, pages: Pick<Parameters<typeof publishedPage>[1], 'published' | 'source'> }} how how far the file is
 *   away from an entry point
 */
async function published(root, path, { distance, pages }) {
  const bytes = readFileSync(join(root, path))
  if (path.endsWith('.js')) return publishedCode(bytes.toString())
  if (path.endsWith('.d.ts')) return distance > COMMENTED ? withoutComments(bytes.toString()) : bytes
  if (path.endsWith('.md')) return publishedPage(bytes.toString(), { path, ...pages })
  return path.endsWith('.br') ? smallest(bytes) : bytes
}

/** @param {readonly string[]} paths */
function withFolders(paths) {
  const found = new Set(paths)
  for (const path of found) if (path !== '.') found.add(posix.dirname(path))
  return found
}

/**
 * @param {string} folder
 * @returns {Manifest}
 */
export function readManifest(folder) {
  return /** @type {Manifest} */ (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
}

/**
 * What npm would pack, without the pages about the repository.
 *
 * @param {string} root
 * @returns {string[]}
 */
function packedFiles(root) {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Failure(`npm pack failed in ${root}:\n${stderr}`)
  const [packed] = /** @type {{ files: { path: string }[] }[]} */ (JSON.parse(stdout))
  const chapters = join(root, 'docs/README.md')
  const left = existsSync(chapters) ? pagesOfRepository(readFileSync(chapters, 'utf8')) : []
  const isLeft = (/** @type {string} */ path) => left.some((one) => path === one || path.startsWith(`${one}/`))
  return (packed?.files ?? []).map(({ path }) => path).filter((path) => path !== 'package.json' && !isLeft(path))
}

const IMPORTED = /(?:from |import |import\()['"](\.[^'"]+)\.js['"]/g

/**
 * The declarations that the entry points of a package reach, and in how many steps.
 *
 * @param {string} root
 * @param {Manifest} manifest
 */
function typesReached(root, { exports = {} }) {
  const reached = new Map(Object.values(exports).map(({ types }) => [posix.normalize(types), 0]))
  for (const [path, steps] of reached) {
    for (const [, target = ''] of readFileSync(join(root, path), 'utf8').matchAll(IMPORTED)) {
      const next = posix.join(posix.dirname(path), `${target}.d.ts`)
      if (!reached.has(next)) reached.set(next, steps + 1)
    }
  }
  return reached
}

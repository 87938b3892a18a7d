import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { transform } from 'esbuild'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'

/** What is published, by its folder here, in the order in which they depend on each other. */
export const PACKAGES = /** @type {const} */ (['clients/typescript', 'clients/react-admin', 'clients/pages', '.'])

/**
 * @typedef {{ name: string, version: string, description?: string, license?: string, private?: boolean, exports?: Readonly<Record<string, { types: string }>> } &
 *   Readonly<Record<string, unknown>>} Manifest
 */

/**
 * Puts what is published of a package into a folder of its own: the files that npm would pack, code without comments, types
 * that an entry point reaches, pages without pictures, and a manifest without scripts.
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
  for (const path of packedFiles(root)) {
    if (path === 'package.json' || path.endsWith('.png') || (path.endsWith('.d.ts') && !typed.has(path))) continue
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    if (path.endsWith('.js')) writeFileSync(target, await withoutComments(readFileSync(join(root, path), 'utf8')))
    else if (path.endsWith('.md')) writeFileSync(target, withoutPictures(readFileSync(join(root, path), 'utf8')))
    else if (path.endsWith('.br')) writeFileSync(target, smallest(readFileSync(join(root, path))))
    else cpSync(join(root, path), target)
  }
  if (!existsSync(join(folder, 'LICENSE'))) cpSync(join(projectRoot, 'LICENSE'), join(folder, 'LICENSE'))
  // `init` takes the ranges of what an application is developed with from devDependencies.
  const { private: _, scripts: __, files: ___, ...published } = manifest
  const access = { access: 'public', provenance: repository !== undefined }
  const source = repository === undefined ? {} : { repository: { type: 'git', url: repository, directory: from } }
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...published, ...source, publishConfig: access }, null, 2)}\n`
  )
}

/**
 * @param {string} folder
 * @returns {Manifest}
 */
export function readManifest(folder) {
  return /** @type {Manifest} */ (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
}

/**
 * @param {string} root
 * @returns {string[]}
 */
function packedFiles(root) {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Failure(`npm pack failed in ${root}:\n${stderr}`)
  const [packed] = /** @type {{ files: { path: string }[] }[]} */ (JSON.parse(stdout))
  return (packed?.files ?? []).map(({ path }) => path)
}

const IMPORTED = /(?:from |import |import\()['"](\.[^'"]+)\.js['"]/g

/**
 * The declarations that the entry points of a package reach.
 *
 * @param {string} root
 * @param {Manifest} manifest
 */
function typesReached(root, { exports = {} }) {
  const reached = new Set(Object.values(exports).map(({ types }) => posix.normalize(types)))
  for (const path of reached) {
    for (const [, target = ''] of readFileSync(join(root, path), 'utf8').matchAll(IMPORTED)) {
      reached.add(posix.join(posix.dirname(path), `${target}.d.ts`))
    }
  }
  return reached
}

/**
 * Code as it is but for comments, names and lines included, so that stacks can be read.
 *
 * @param {string} code
 */
async function withoutComments(code) {
  const said = await transform(code, { format: 'esm', target: 'es2023', legalComments: 'none', charset: 'utf8' })
  const [shebang = ''] = /^#!.*\n/.exec(code) ?? []
  return said.code.startsWith('#!') ? said.code : shebang + said.code
}

/**
 * What was compressed in a hurry while it was built, as small as Brotli makes it.
 *
 * @param {Buffer} compressed
 */
function smallest(compressed) {
  const content = brotliDecompressSync(compressed)
  const { BROTLI_PARAM_LGWIN, BROTLI_MAX_WINDOW_BITS, BROTLI_PARAM_SIZE_HINT } = constants
  const params = { [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS, [BROTLI_PARAM_SIZE_HINT]: content.length }
  return brotliCompressSync(content, { params })
}

/**
 * A page whose pictures are only named: they are in the repository.
 *
 * @param {string} page
 */
function withoutPictures(page) {
  return page.replaceAll(/!\[([^\]]*)\]\([^)\s]+\.png\)/g, '(Picture: $1)')
}

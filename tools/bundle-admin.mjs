import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { build } from 'esbuild'
import { adminIcons, ICONS } from './admin-icons.mjs'
import { projectRoot } from './project-root.mjs'

/**
 * Material UI is there twice: react-admin has a copy of its own. Both of them would make the script a fifth longer, and the
 * theme would reach one of them alone. react-admin takes the version that the admin is compiled with.
 *
 * @type {import('esbuild').Plugin}
 */
const oneMaterial = {
  name: 'one Material UI',
  setup(build) {
    build.onResolve({ filter: /^@mui\/(?:material|system|utils)(?:\/|$)/ }, ({ path, kind, pluginData }) =>
      pluginData === oneMaterial
        ? undefined
        : build.resolve(path, { kind, resolveDir: projectRoot, pluginData: oneMaterial })
    )
  }
}

/**
 * Makes the admin in a folder of its own: one script for browsers, with a digest of its content in its name, compressed, and
 * at last the licenses of what is in it.
 *
 * @param {string} folder
 */
export async function bundleAdmin(folder) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: ['clients/admin/src/main.tsx'],
    entryNames: '[name]-[hash]',
    outdir: folder,
    tsconfig: 'clients/admin/tsconfig.json',
    define: { 'process.env.NODE_ENV': '"production"' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    plugins: [adminIcons, oneMaterial],
    write: false,
    metafile: true
  })
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { path, contents } of outputFiles) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length }
    writeFileSync(`${path}.br`, await promisify(brotliCompress)(contents, { params }))
  }
  writeFileSync(join(folder, 'licenses.txt'), licenses(Object.keys(metafile.inputs)))
}

/**
 * The licenses of the packages that files come from, which go where the bundle goes.
 *
 * @param {readonly string[]} files
 */
function licenses(files) {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  packages.add(ICONS)
  const texts = [...packages].toSorted().map((folder) => {
    const { name, version, license } = /** @type {{ name: string, version: string, license: string }} */ (
      JSON.parse(readFileSync(join(projectRoot, folder, 'package.json'), 'utf8'))
    )
    const file = readdirSync(join(projectRoot, folder)).find((one) => /^licen[cs]e/i.test(one))
    const text = file === undefined ? '' : readFileSync(join(projectRoot, folder, file), 'utf8')
    return `${name} ${version}: ${license}\n\n${text.trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'
import { runStore } from './run-store.mjs'

/** What the processes are made of. The command itself, in cli/, stays as it was when it started. */
const SOURCES = ['shared', 'gateway', 'data-service', 'schema', 'examples']

// `npm run dev`: `npm start`, and whenever a source has changed it alone is compiled and what uses it starts again. Types
// are left to the editor and to the next build: the compiler takes seconds to look at all of them.
await runCommand(async () => {
  await prepare()
  const { watchFiles } = /** @type {typeof import('../dist/cli/processes/watch-files.js')} */ (
    await import(pathToFileURL(join(projectRoot, 'dist/cli/processes/watch-files.js')).href)
  )
  const folders = SOURCES.map((name) => join(projectRoot, name))
  watchFiles(folders, new AbortController().signal, async (files) => {
    for (const file of files) await compile(file).catch(tell)
  })
  // Who changes the store sees a mistyped parameter at once, as in a new application.
  process.env['STRICT_HANDLING'] ??= 'true'
  process.argv.splice(2, Infinity, 'dev')
  return await runStore()
})

/**
 * Compiles one file to where the compiler puts it. A file that was removed stays in dist/ until the next build.
 *
 * @param {string} file
 */
async function compile(file) {
  const source = readFileSync(file, 'utf8')
  const output = join(projectRoot, 'dist', relative(projectRoot, file))
  if (!/\.tsx?$/.test(file)) return write(output, source)
  const { transform } = await import('esbuild')
  const { code } = await transform(source, {
    loader: file.endsWith('x') ? 'tsx' : 'ts',
    format: 'esm',
    sourcefile: file,
    sourcemap: 'inline',
    tsconfigRaw: readFileSync(join(projectRoot, 'tsconfig.json'), 'utf8')
  })
  write(output.replace(/\.tsx?$/, '.js'), code)
}

/**
 * Puts a whole file in the place of another, so that nobody reads a part of it.
 *
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** @param {unknown} error that names the file and the line */
function tell(error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
}

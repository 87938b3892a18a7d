import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suggestion } from '../../data-service/entity/fields/names.js'
import { StartError } from '../../shared/start-error.js'
import { Failure } from './command.js'
import { withPlaces } from './mistake-places.js'
import { readPackage } from './package.js'

/**
 * What a person can act on where the files of an application cannot be loaded: the file, the line, the word and what would be
 * right. An error that comes from none of its files, and a defect in the code of one, are answered as they are, and shown with
 * their stack.
 */
export async function explainedLoadError(error: unknown, folder: string): Promise<unknown> {
  try {
    if (error instanceof StartError) return new StartError(withPlaces(error.message, folder), { cause: error })
    if (!(error instanceof Error)) return error
    const said = 'code' in error ? ofModules(error, folder) : ((await ofNames(error, folder)) ?? ofCode(error, folder))
    return said === undefined ? error : new Failure(said, { cause: error })
  } catch {
    // What cannot be explained is still the error that happened.
    return error
  }
}

/** Whether Node takes the files of a folder for modules, as the nearest package.json says. */
export function holdsModules(folder: string): boolean {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { readonly type?: unknown }).type === 'module' // npm's file
  const parent = dirname(folder)
  return parent !== folder && holdsModules(parent)
}

const NOT_FOUND = /^Cannot find (module|package) '(.+?)' imported from (.+)$/

/** Of files and packages that are not found, and of a package.json that says nothing of modules. */
function ofModules(error: Error & { readonly code: unknown }, folder: string): string | undefined {
  // Node could not say so itself: the loader of TypeScript first tries the other kind of file.
  if (String(error.code).startsWith('ERR_REQUIRE_') && !holdsModules(folder)) {
    return `The package.json of ${folder} must say "type": "module": the files of an application are modules.`
  }
  if (error.code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [, kind, missing = '', importer = ''] = NOT_FOUND.exec(error.message) ?? []
  const from = relative(folder, importer)
  if (!isWithin(folder, importer)) return undefined
  const remedy =
    kind === 'package'
      ? `the package ${missing}, which is not installed. Run \`npm install\` in ${folder}.`
      : `${relative(folder, missing)}, and there is no such file. Put it back, or take out of ${from} what names it.`
  return `${join(folder, from)} imports ${remedy}`
}

const NOT_DEFINED = /^(\w+) is not defined$/
const NOT_EXPORTED = /^The requested module '(.+?)' does not provide an export named '(.+?)'$/

/** Of a name without its import, and of an import of what there is not. */
async function ofNames(error: Error, folder: string): Promise<string | undefined> {
  const place = placeIn(folder, error)
  if (place === undefined) return undefined
  const { name: own } = readPackage()
  const [, undefinedName] = NOT_DEFINED.exec(error.message) ?? []
  if (undefinedName !== undefined) {
    const known = await wordsOfPackage()
    return known.includes(undefinedName)
      ? `${place.shown}: \`${undefinedName}\` is not defined. Add it to what the file imports from ${own}.`
      : `${place.shown}: \`${undefinedName}\` is not defined.${suggestion(undefinedName, known)} Import or declare it.`
  }
  const [, from = '', name] = NOT_EXPORTED.exec(error.message) ?? []
  if (name === undefined) return undefined
  const isFile = from.startsWith('.')
  const known = from === own ? await wordsOfPackage() : isFile ? exportsOf(resolve(dirname(place.file), from)) : []
  const near = suggestion(name, known)
  const others = known.length > 0 && known.length <= 8 ? ` It exports ${known.join(', ')}.` : ''
  return `${place.shown}: '${from}' exports no value \`${name}\`.${near || others || ' A type is imported by `import type`.'}`
}

/** What entity files, migrations and configs import. */
async function wordsOfPackage(): Promise<string[]> {
  return Object.keys(await import('../public/uniform-rest.js'))
}

/** The names that a file of the application exports, as far as its text says so. */
function exportsOf(path: string): string[] {
  const file = [path, path.replace(/\.(m?)js$/, '.$1ts'), join(path, 'index.ts')].find(
    (one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true
  )
  const text = file === undefined ? '' : readFileSync(file, 'utf8')
  return [...text.matchAll(/^export (?:async )?(?:const|let|function|class) (\w+)/gm)].map(([, name = '']) => name)
}

/** What esbuild says of a file that is no TypeScript, in a line of the message. */
const NO_SYNTAX = /^(.+):(\d+):\d+: ERROR: (.+)$/m

/** Of a file that cannot be read, and of a word of the package that throws when the file is run. */
function ofCode(error: Error, folder: string): string | undefined {
  const [, file = '', line, text = ''] = error.name === 'TransformError' ? (NO_SYNTAX.exec(error.message) ?? []) : []
  if (line !== undefined && isWithin(folder, file)) {
    return `${shown(folder, file, Number(line))}: ${text}. A comma or a bracket may be missing there, or in the line before.`
  }
  const place = placeIn(folder, error)
  // What the file itself throws is a defect, which its stack leads to.
  return place === undefined || place.throws ? undefined : `${place.shown}: ${error.message}`
}

/** A line of a stack, `at close (file:///…/tasks.ts:12:3)`, or its first one, `/…/tasks.ts:12`. */
const FRAME = /^(?: {4}at (?:.* \()?)?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+)(?::\d+)?\)?$/

interface Place {
  readonly file: string
  readonly shown: string
  /** Whether this line threw, and not code that it calls. */
  readonly throws: boolean
}

/** The first line of the stack that is in a file of the application. */
function placeIn(folder: string, { stack = '' }: Error): Place | undefined {
  let isCalling = false
  for (const line of stack.split('\n')) {
    const [, path, number = ''] = FRAME.exec(line) ?? []
    if (path === undefined) continue
    const file = path.startsWith('file:') ? fileURLToPath(path.replace(/\?.*$/, '')) : path.replace(/\?.*$/, '')
    if (isWithin(folder, file)) {
      const throws = !isCalling && line.startsWith('    at ')
      return { file, shown: shown(folder, file, Number(number)), throws }
    }
    isCalling = true
  }
  return undefined
}

function isWithin(folder: string, file: string): boolean {
  const path = relative(folder, file)
  return path !== '' && !isAbsolute(path) && !path.startsWith('..') && !path.includes('node_modules')
}

function shown(folder: string, file: string, line: number): string {
  return `${relative(folder, file).replaceAll(sep, '/')}:${line}`
}

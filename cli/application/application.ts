import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Application } from '../../data-service/application.js'
import type { Environment } from '../../shared/settings.js'
import { StartError } from '../../shared/start-error.js'
import { type CommandLine, Failure } from './command.js'
import { readDotEnv } from './dot-env.js'

/** An application as it was found, with the settings in force. */
export interface LoadedApplication {
  readonly application: Application
  /** The folder of its `uniform-rest.config.*`, absolute. */
  readonly folder: string
  /** The environment first, then `.env` of the working directory, then the `settings` of the application. */
  readonly environment: Environment
}

/** What an application is loaded by. */
export type ApplicationSource = Pick<CommandLine, 'folder' | 'environment' | 'directory'>

/** Of the config, in the order in which they are looked for. */
export const CONFIG_NAMES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `uniform-rest.config.${extension}`)

/** Loads the application of the folder. Throws a Failure that says what is missing or wrong. */
export async function loadApplication(source: ApplicationSource): Promise<LoadedApplication> {
  const loaded = await findApplication(source)
  if (loaded !== undefined) return loaded
  throw new Failure(
    `There is no ${CONFIG_NAMES[0]} in ${source.folder}. Run this in the folder of an application, name the folder with ` +
      '--app, or make one with `uniform-rest init <folder>`.'
  )
}

/** As loadApplication, but undefined for a folder without an application. */
export async function findApplication(source: ApplicationSource): Promise<LoadedApplication | undefined> {
  const { folder } = source
  const file = configIn(folder)
  if (file === undefined) return undefined
  const application = await importApplication(file)
  return {
    application,
    folder,
    environment: withSettingsOf(application, environmentOf(source))
  }
}

/** The settings in force: those of the environment, and below them those of the application. Blank ones count as unset. */
export function withSettingsOf(application: Application | undefined, environment: Environment): Environment {
  return { ...application?.settings, ...set(environment) }
}

function configIn(folder: string): string | undefined {
  return CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path))
}

let typeScriptIsLoadable = false

/** Gets ready to load the application of a folder, and loads nothing of it yet. */
export async function prepareToLoad(folder: string): Promise<void> {
  if (typeScriptIsLoadable || !/\.m?ts$/.test(configIn(folder) ?? '')) return
  // Only this loader finds `./x.ts` where a file imports `./x.js`, on every version of Node that is supported.
  const { register } = await import('tsx/esm/api')
  register()
  typeScriptIsLoadable = true
}

async function importApplication(file: string): Promise<Application> {
  await prepareToLoad(dirname(file))
  const module: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw explained(error, dirname(file))
  })
  const application = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
  if (isApplication(application)) return application
  throw new Failure(`${file} must have a default export: \`export default defineApplication({ … })\`.`)
}

/** Whether Node takes the files of a folder for modules, as the nearest package.json says. */
export function holdsModules(folder: string): boolean {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { readonly type?: unknown }).type === 'module' // npm's file
  const parent = dirname(folder)
  return parent !== folder && holdsModules(parent)
}

const NOT_FOUND = /^Cannot find (module|package) '(.+?)' imported from (.+)$/

/** What a person can act on where a config cannot be loaded. Any other error is shown with its stack. */
function explained(error: unknown, folder: string): unknown {
  if (error instanceof StartError) return new StartError(withFiles(error.message, folder), { cause: error })
  if (!(error instanceof Error && 'code' in error)) return error
  // Node could not say so itself: the loader of TypeScript first tries the other kind of file.
  if (String(error.code).startsWith('ERR_REQUIRE_') && !holdsModules(folder)) {
    return new Failure(
      `The package.json of ${folder} must say "type": "module": the files of an application are modules.`,
      {
        cause: error
      }
    )
  }
  if (error.code !== 'ERR_MODULE_NOT_FOUND') return error
  const [, kind, missing = '', importer = ''] = NOT_FOUND.exec(error.message) ?? []
  const from = relative(folder, importer)
  if (from === '' || isAbsolute(from) || from.startsWith('..') || from.includes('node_modules')) return error
  const remedy =
    kind === 'package'
      ? `the package ${missing}, which is not installed. Run \`npm install\` in ${folder}.`
      : `${relative(folder, missing)}, and there is no such file. Put it back, or take out of ${from} what names it.`
  return new Failure(`${join(folder, from)} imports ${remedy}`, { cause: error })
}

function isApplication(value: unknown): value is Application {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['entities', 'migrations', 'roles', 'settings'].every((name) => name in value)
  )
}

/** The environment with what `.env` of the working directory adds. A blank setting counts as unset. Throws a Failure. */
export function environmentOf({ environment, directory }: Pick<CommandLine, 'environment' | 'directory'>): Environment {
  return { ...set(readDotEnv(join(directory, '.env'))), ...set(environment) }
}

function set(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim() !== ''))
}

const ENTITY_FILE = /\bdefineEntity\(\s*\{\s*name:\s*['"`]([^'"`]+)['"`]/g
const PASSED_OVER = /^(?:node_modules|\..*)$/

/** Mistakes in entities as a Failure that names the files of the folder; any other error as it is. */
export function mistakesWithFiles(error: unknown, folder: string): unknown {
  // By name: the check of entities is loaded only with the data service.
  const isOfEntities = error instanceof Error && error.name === 'CatalogueError'
  return isOfEntities ? new Failure(withFiles(error.message, folder), { cause: error }) : error
}

/** Adds to each line about an entity, `- tasks: …`, the file of the folder that begins it with `defineEntity({ name: 'tasks'`. */
export function withFiles(mistakes: string, folder: string): string {
  const files = new Map<string, string>()
  for (const file of sourcesIn(folder)) {
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of text.matchAll(ENTITY_FILE)) files.set(name, relative(folder, file).replaceAll(sep, '/'))
  }
  return mistakes.replace(/^- ([^\s:]+):/gm, (line, name: string) =>
    files.has(name) ? `- ${name} (${files.get(name)}):` : line
  )
}

/** A recursive `readdir` would go through node_modules too, which takes seconds. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (PASSED_OVER.test(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourcesIn(path)
    return /(?<!\.d)\.m?[jt]s$/.test(entry.name) ? [path] : []
  })
}

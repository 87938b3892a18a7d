import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Application } from '../public/application.js'
import type { Environment } from '../../shared/settings.js'
import { type CommandLine, Failure } from './command.js'
import { readDotEnv } from './dot-env.js'
import { explainedLoadError } from './load-error.js'

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
  const module: unknown = await import(pathToFileURL(file).href).catch(async (error: unknown) => {
    throw await explainedLoadError(error, dirname(file))
  })
  const application = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
  if (isApplication(application)) return application
  throw new Failure(`${file} must have a default export: \`export default defineApplication({ … })\`.`)
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

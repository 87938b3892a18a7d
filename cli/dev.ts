import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findPages } from '../gateway/server/pages-package.js'
import type { Environment } from '../shared/settings.js'
import { loadApplication, type LoadedApplication } from './application/application.js'
import type { CommandLine } from './application/command.js'
import { packageFolder } from './application/package.js'
import { runTogether, type Running, type WatchedCode } from './run-together.js'
import { shellWord } from '../schema/model/shell-word.js'

/** `uniform-rest dev`: both processes with settings for a first look, and again after each change of a file that they use. */
export async function dev(line: CommandLine): Promise<number> {
  const { application, folder, environment: own } = await loadApplication(line)
  const loaded = { application, folder, environment: firstLook(own, application) }
  return runTogether(loaded, {
    line,
    watched: watchedCode(loaded),
    readable: true,
    welcome: (running) => welcome(running, loaded)
  })
}

/** The files of the application and, where this package is no installed one but a checkout, its own compiled code. */
function watchedCode({ application, folder }: LoadedApplication): WatchedCode {
  const own = packageFolder.split(sep).includes('node_modules') ? [] : [...OWN_CODE]
  const ownFolders = own.map(([room, users]) => [join(packageFolder, 'dist', room), users] as const)
  const ofRenderer = application.renderer && dirname(fileURLToPath(application.renderer.module))
  return {
    folders: [folder, ...ownFolders.map(([path]) => path)],
    usedBy: (file) => {
      const isBelow = (path: string): boolean => file.startsWith(join(path, sep))
      const users = ownFolders.find(([path]) => isBelow(path))?.[1]
      if (users !== undefined) return users
      // The renderer uses what is below a folder of its own, where it has one, and the data service all else.
      const isPage = ofRenderer !== undefined && ofRenderer !== folder && isBelow(ofRenderer)
      return [isPage ? 'renderer' : 'data-service']
    }
  }
}

const OWN_CODE = [
  ['gateway', ['gateway']],
  ['data-service', ['data-service']],
  ['shared', ['data-service', 'gateway']]
] as const

/** What is chosen for a first look; every setting of the user comes before it. */
export function firstLook(environment: Environment, { sample }: LoadedApplication['application']): Environment {
  return {
    ...(sample === undefined ? {} : { SAMPLE_DATA: 'true' }),
    MIGRATE_AT_START: 'true',
    OWNER_BYPASS_ROLE: 'Admin',
    COOKIE_SECURE: 'false',
    ADMIN_UI: 'true',
    DOCS_PUBLIC: 'true',
    STRICT_HANDLING: 'true',
    DATA_PROTECTION_BLOB_STORAGE_URI: keyRing(environment['DATA_DIR'] ?? '.data'),
    ...environment
  }
}

/** The URI of a file in the data folder: relative to the working directory if the folder is. */
function keyRing(dataDir: string): string {
  const path = join(dataDir, 'key-ring.json')
  return isAbsolute(path) ? pathToFileURL(path).href : `file:${path.split('/').map(encodeURIComponent).join('/')}`
}

/** What a newcomer needs once everything serves. */
function welcome({ base, dataService, hasRenderer }: Running, loaded: LoadedApplication): string {
  const { application, environment } = loaded
  const { entities, roles, sample } = application
  const [role, ...others] = Object.keys(roles)
  // One that the line below can read without a token, if there is one.
  const first =
    entities.find(({ access }) => Object.values(access).every(({ kind }) => kind === 'everyone')) ?? entities[0]
  const tried = environment['SAMPLE_DATA'] === 'true' && sample !== undefined
  return [
    '',
    ...(hasRenderer ? [`  Pages  ${new URL('/', base).href}`] : []),
    `  API    ${base}${first === undefined ? '' : `  such as ${base}/${first.name}`}`,
    ...(environment['ADMIN_UI'] === 'true' && findPages() !== undefined ? [`  Admin  ${base}/admin`] : []),
    environment['DOCS_UI'] === 'false'
      ? `  Docs   ${base}/openapi.json`
      : `  Docs   ${base}/docs  and, as OpenAPI, ${base}/openapi.json`,
    `  gRPC   ${dataService}`,
    '',
    `  An account of your own: ${command('account', loaded)} add you@example.com${role === undefined ? '' : ` --role ${shellWord(role)}`}`,
    ...(others.length === 0 ? [] : [`  Other roles: ${others.join(', ')}`]),
    ...(tried ? ['', ...sampleLines(sample, { base, token: command('token', loaded) })] : []),
    '',
    '  Ctrl-C ends everything.',
    '',
    ''
  ].join('\n')
}

function sampleLines(
  { accounts, password, welcome: more = () => [] }: NonNullable<LoadedApplication['application']['sample']>,
  how: { readonly base: string; readonly token: string }
): string[] {
  const width = Math.max(...accounts.map(({ email }) => email.length)) + 2
  return [
    `  Sample accounts, password ${password}; ${how.token} <account> prints an access token of one`,
    ...accounts.map(
      ({ email, roles, owner }) =>
        `    ${email.padEnd(width)}${roles.join(', ')}${owner === null ? '' : `, owner ${owner}`}`
    ),
    '',
    '  Try',
    ...more(how).map((line) => `    ${line}`)
  ]
}

/**
 * The command for the same application, to be run in the working directory; arguments can follow. The signing key and the
 * embedded database are in the data folder.
 */
export function command(
  name: 'account' | 'token',
  { folder, environment }: Pick<LoadedApplication, 'folder' | 'environment'>
): string {
  const dataDir = environment['DATA_DIR']
  const where = dataDir === undefined ? '' : `DATA_DIR=${shellWord(dataDir)} `
  // In the repository of this package the scripts of its package.json run the reference store.
  if (process.cwd() === packageFolder && relative(packageFolder, folder) === REFERENCE_STORE) {
    return `${where}npm run --silent ${name} --`
  }
  const app = relative(process.cwd(), folder)
  return `${where}npx uniform-rest ${name}${app === '' ? '' : ` --app ${shellWord(app)}`}`
}

const REFERENCE_STORE = join('dist', 'examples', 'store')

import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Environment } from '../shared/settings.js'
import { loadApplication, type LoadedApplication } from './application.js'
import type { CommandLine } from './command.js'
import { runTogether, type Running } from './run-together.js'

/** `uniform-rest dev`: both processes with settings for a first look, and the data service again after each change of a file. */
export async function dev(line: CommandLine): Promise<number> {
  const { application, folder, environment: own } = await loadApplication(line)
  const loaded = { application, folder, environment: firstLook(own, application) }
  return runTogether(loaded, { line, watch: true, readable: true, welcome: (running) => welcome(running, loaded) })
}

/** What is chosen for a first look; every setting of the user comes before it. */
export function firstLook(environment: Environment, { sample }: LoadedApplication['application']): Environment {
  return {
    ...(sample === undefined ? {} : { SAMPLE_DATA: 'true' }),
    OWNER_BYPASS_ROLE: 'Admin',
    COOKIE_SECURE: 'false',
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
function welcome({ base, dataService, hasRenderer }: Running, { application, environment }: LoadedApplication): string {
  const { entities, sample } = application
  const [first] = entities
  const tried = environment['SAMPLE_DATA'] === 'true' && sample !== undefined
  return [
    '',
    ...(hasRenderer ? [`  Pages  ${new URL('/', base).href}`] : []),
    `  API    ${base}${first === undefined ? '' : `  such as ${base}/${first.name}`}`,
    `  Docs   ${base}/docs  and, as OpenAPI, ${base}/openapi.json`,
    `  gRPC   ${dataService}`,
    '',
    `  An account of your own: ${command('account', environment['DATA_DIR'])} add <email>`,
    ...(tried ? ['', ...sampleLines(sample, { base, token: command('token', environment['DATA_DIR']) })] : []),
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

/** The signing key and the embedded database are in the data folder. */
function command(name: 'account' | 'token', dataDir: string | undefined): string {
  const where = dataDir === undefined ? '' : `DATA_DIR='${dataDir.replaceAll("'", String.raw`'\''`)}' `
  return `${where}npm run --silent ${name} --`
}

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type CommandLine, Failure, withUsage } from './application/command.js'
import { findPages, PAGES_PACKAGE } from '../gateway/server/pages-package.js'
import { packageFolder, readPackage } from './application/package.js'

const USAGE =
  'Usage: uniform-rest init <folder> [--no-example] [--database sqlite|mariadb] [--owner <kind>] [--deployment compose|none]'

const OPTIONS = {
  'no-example': { type: 'boolean', default: false },
  database: { type: 'string' },
  owner: { type: 'string' },
  deployment: { type: 'string' }
} as const

/**
 * `uniform-rest init my-app` makes the folder of a new application, which `npm install`, `npm start` and `npm test` work in.
 * Its name becomes the name of the package. A folder with anything but `.git` in it is rejected, so nothing is overwritten.
 * With `--no-example` it has no entity, for tables that a database has already. A terminal is asked for what no flag says.
 */
export async function init(line: CommandLine): Promise<number> {
  const { args, directory, stdout } = line
  const { values, positionals } = withUsage(USAGE, () =>
    parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  )
  const [given, more] = positionals
  const isBare = values['no-example']
  if (given === undefined || given === '') throw new Failure(`Name the folder of the new application.\n${USAGE}`)
  if (more !== undefined) throw new Failure(`init does not know ${JSON.stringify(more)}.\n${USAGE}`)
  const folder = resolve(directory, given)
  const name = basename(folder)
  checkName(name)
  await explainSystemErrors(folder, () => checkEmpty(folder))
  const chosen = await choices(values, line)
  await explainSystemErrors(folder, async () => {
    const to = { folder, replace: (text: string) => named(deployedBy(chosen.deployment, text), name) }
    if (isBare) await copyTemplate(BARE_TEMPLATE, to)
    await copyTemplate(TEMPLATE, {
      ...to,
      leftOut: [...(isBare ? EXAMPLE : [BARE]), ...(chosen.deployment === 'none' ? DEPLOYMENT : [])]
    })
    await writePackage(folder, { name, dependencies: await installablePackages(folder) })
    await writeChoices(folder, chosen)
  })
  const shown = relative(directory, folder) || '.'
  const what = isBare ? 'without an entity' : 'with one entity, tasks'
  const server =
    chosen.deployment === 'compose'
      ? '  docker compose up --detach --wait database\n'
      : '  (write the address of your server into DATABASE_URL in .env)\n'
  const database = chosen.database === 'mariadb' ? server : ''
  const last = isBare ? '  DATABASE_URL=… npx uniform-rest introspect\n' : `${database}  npm start\n`
  stdout.write(
    `${shown} holds a new application ${what}. Its README.md says every step; the first are\n\n` +
      `${shown === '.' ? '' : `  cd ${shown}\n`}  npm install\n${last}`
  )
  return 0
}

interface Choices {
  readonly database: string
  /** A kind of owner, such as `member`; empty for none. */
  readonly owner: string
  /** What runs it: `compose` for containers, `none` for whatever else there is. */
  readonly deployment: string
}

/** What the flags say. A terminal is asked for the rest. */
async function choices(flags: Partial<Choices>, { stdin, stdout }: CommandLine): Promise<Choices> {
  const isComplete = flags.database !== undefined && flags.owner !== undefined && flags.deployment !== undefined
  const input = isComplete ? undefined : stdin()
  const lines = input?.isTTY === true ? createInterface({ input, output: stdout }) : undefined
  try {
    const ask = async (question: string): Promise<string> => ((await lines?.question(question)) ?? '').trim()
    const database = flags.database ?? ((await ask('Database, sqlite or mariadb [sqlite]: ')) || 'sqlite')
    if (database !== 'sqlite' && database !== 'mariadb') {
      throw new Failure(`The database is sqlite or mariadb, not ${JSON.stringify(database)}.\n${USAGE}`)
    }
    const owner = flags.owner ?? (await ask('Who owns rows, such as member, if anybody []: '))
    if (!/^(?:[a-z][a-zA-Z0-9]{0,40})?$/.test(owner)) {
      throw new Failure(`A kind of owner is a word such as member, not ${JSON.stringify(owner)}.\n${USAGE}`)
    }
    const deployment = flags.deployment ?? ((await ask('Files for Docker, compose or none [compose]: ')) || 'compose')
    if (deployment !== 'compose' && deployment !== 'none') {
      throw new Failure(`The deployment is compose or none, not ${JSON.stringify(deployment)}.\n${USAGE}`)
    }
    return { database, owner, deployment }
  } finally {
    lines?.close()
  }
}

/** Writes `.env` with secrets that nobody else has, and the kind of owner into the config. */
async function writeChoices(folder: string, { database, owner }: Choices): Promise<void> {
  const example = await readFile(join(folder, '.env.example'), 'utf8')
  const made = example.replaceAll(/^#(\w+)=$/gm, (_line, name: string) => `${name}=${randomBytes(32).toString('hex')}`)
  const password = /^MARIADB_MIGRATION_PASSWORD=(.*)$/m.exec(made)?.[1] ?? '<password>'
  const url = made.replace(/^#(DATABASE_URL=.*)<password>/m, `$1${password}`)
  await writeFile(join(folder, '.env'), database === 'mariadb' ? url : made, { flag: 'wx', mode: 0o600 })
  if (owner === '') return
  const config = join(folder, 'uniform-rest.config.ts')
  const says = `  // \`account add <email> --owner ${owner}=7\`; rows of one are ownRows('${owner}Id', { owner: '${owner}' }) in an entity.
  owners: { ${owner}: '${owner}_id' },
`
  await writeFile(config, (await readFile(config, 'utf8')).replace(/^ {2}settings: /m, `${says}$&`))
}

/** The rules of npm for new names (https://docs.npmjs.com/cli/configuring-npm/package-json#name), without scopes. */
function checkName(name: string): void {
  const problem =
    name.length > 214
      ? 'is longer than 214 characters'
      : !/^[a-z0-9][a-z0-9._~-]*$/.test(name)
        ? 'must begin with a lower-case letter or a digit, and hold nothing else but those, -, _, . and ~'
        : ['node_modules', 'favicon.ico', readPackage().name].includes(name)
          ? 'is taken'
          : undefined
  if (problem === undefined) return
  throw new Failure(
    `The folder's name becomes the name of an npm package: ${JSON.stringify(name)} ${problem}. Choose another folder.`
  )
}

/** Throws a Failure for an error of the file system, such as that of a folder that may not be written. */
async function explainSystemErrors(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Failure(`The application cannot be made in ${folder}: ${error.message}. Choose another folder.`, {
      cause: error
    })
  }
}

async function checkEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch(async (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTDIR') throw new Failure(`${folder} is a file. Choose another folder.`)
    if (code !== 'ENOENT') throw error
    const link = await lstat(folder).catch(() => undefined)
    if (link === undefined) return []
    throw new Failure(`${folder} is a symbolic link to nothing. Choose another folder.`)
  })
  const first = found.find((one) => one !== '.git')
  if (first === undefined) return
  throw new Failure(`${folder} is not empty: it has ${first}. Nothing was written. Choose another folder.`)
}

/** The template's files as they are packed. npm leaves out `.gitignore` and the like, so a leading `dot-` stands for the dot. */
const TEMPLATE = join(packageFolder, 'cli', 'template')

/** What stands in place of the template's files in an application without an example. */
const BARE = 'bare'
const BARE_TEMPLATE = join(TEMPLATE, BARE)

/** What the example consists of, and the files that BARE_TEMPLATE has in place of the template's. */
const EXAMPLE: readonly string[] = ['entities', 'migrations', 'test', 'README.md', 'uniform-rest.config.ts', BARE]

/** What runs it in containers. */
const DEPLOYMENT: readonly string[] = ['Dockerfile', 'docker-compose.yml', 'dot-dockerignore', 'database']

/** A part of the template for containers, and what stands in its place without them. */
const PART = /\{\{compose\}\}\n?(.*?)(?:\{\{none\}\}\n?(.*?))?\{\{end\}\}\n?/gs

function deployedBy(deployment: string, text: string): string {
  return text.replaceAll(PART, (_part, compose: string, none: string = '') =>
    deployment === 'compose' ? compose : none
  )
}

const NAME_OF_TEMPLATE = 'my-app'

function named(text: string, name: string): string {
  return text.replaceAll(NAME_OF_TEMPLATE, name)
}

/** The text of `uniform-rest.config.ts` that `init --no-example` writes for an application of that name. */
export async function bareConfig(name = NAME_OF_TEMPLATE): Promise<string> {
  return named(await readFile(join(BARE_TEMPLATE, 'uniform-rest.config.ts'), 'utf8'), name)
}

/** Under its own name it would begin a package within this one. */
const PACKAGE_TEMPLATE = 'package.template.json'

async function copyTemplate(
  from: string,
  to: {
    readonly folder: string
    readonly replace: (text: string) => string
    /** Names in `from` that are not copied. */
    readonly leftOut?: readonly string[]
  }
): Promise<void> {
  await mkdir(to.folder, { recursive: true })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.name === PACKAGE_TEMPLATE || to.leftOut?.includes(entry.name) === true) continue
    const source = join(from, entry.name)
    const target = join(to.folder, entry.name.replace(/^dot-/, '.'))
    if (entry.isDirectory()) await copyTemplate(source, { ...to, folder: target, leftOut: [] })
    else await writeFile(target, to.replace(await readFile(source, 'utf8')), { flag: 'wx' })
  }
}

/**
 * What the new package.json has as dependencies: this package, and that of the pages. A package that was installed from a file is
 * copied into the folder, so that the folder can be moved, committed and built elsewhere; any other comes from the registry. A
 * checkout is linked, and has the pages itself.
 */
async function installablePackages(folder: string): Promise<Readonly<Record<string, string>>> {
  const { name, version } = readPackage()
  const modules = dirname(packageFolder)
  if (basename(modules) !== 'node_modules') return { [name]: `file:${relative(folder, packageFolder)}` }
  const ours = installedFrom(modules, name)
  const pages = installedFrom(modules, PAGES_PACKAGE)
  return {
    // Whoever has a file in place of the registry may have none of the pages.
    ...(ours !== undefined && findPages() === undefined
      ? {}
      : { [PAGES_PACKAGE]: pages === undefined ? `^${version}` : await vendored(folder, PAGES_PACKAGE, pages) }),
    [name]: ours === undefined ? `^${version}` : await vendored(folder, name, ours)
  }
}

/** Copies the file of a package into the folder, and answers what package.json says of it. */
async function vendored(folder: string, name: string, file: string): Promise<string> {
  if (!existsSync(file)) {
    throw new Failure(`${name} was installed from ${file}, which is gone: the new application needs it. Put it back.`)
  }
  const copy = `vendor/${basename(file)}`
  await mkdir(join(folder, 'vendor'), { recursive: true })
  await copyFile(file, join(folder, copy))
  return `file:${copy}`
}

/** The file that npm's own record of `node_modules` says the package was installed from. */
function installedFrom(modules: string, name: string): string | undefined {
  const record = join(modules, '.package-lock.json')
  if (!existsSync(record)) return undefined
  const { packages = {} } = JSON.parse(readFileSync(record, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>
  } // npm's hidden lockfile
  const { resolved } = packages[`node_modules/${name}`] ?? {}
  if (resolved?.startsWith('file:') !== true) return undefined
  const path = resolved.slice('file:'.length)
  return path.startsWith('//') ? fileURLToPath(resolved) : resolve(modules, '..', decodeURI(path))
}

/** SQLite serves `npm start` and `npm test`; an installation for production without it has a database server. */
const DEV_DEPENDENCIES = [
  '@photostructure/sqlite',
  '@types/chai',
  '@types/mocha',
  '@types/node',
  'chai',
  'mocha',
  'tsx',
  'typescript'
]

/**
 * Adds to the template's package.json what is known only here: the dependencies. Its `allowScripts` answer what npm 11 asks;
 * no install script is needed, since binaries for Linux, macOS and Windows come with the packages.
 */
async function writePackage(
  folder: string,
  { name, dependencies }: { name: string; dependencies: Readonly<Record<string, string>> }
): Promise<void> {
  const { allowScripts, ...template } = JSON.parse(
    await readFile(join(TEMPLATE, PACKAGE_TEMPLATE), 'utf8')
  ) as Readonly<Record<string, unknown>> // ours
  const ours = readPackage()
  const ranges = { ...ours.devDependencies, ...ours.dependencies }
  const made = {
    ...template,
    name,
    engines: ours.engines,
    dependencies,
    devDependencies: Object.fromEntries(DEV_DEPENDENCIES.map((one) => [one, ranges[one]])),
    allowScripts
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(made, null, 2)}\n`, { flag: 'wx' })
}

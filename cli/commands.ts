import { resolve } from 'node:path'
import { suggestion } from '../data-service/entity/fields/names.js'
import { messageOf, StartError } from '../shared/start-error.js'
import { type Command, type CommandLine, Failure, type Surroundings } from './application/command.js'

interface CommandEntry {
  readonly says: string
  /** Set for a command whose only option is `--app`. */
  readonly standsAlone?: true
  readonly load: () => Promise<Command>
}

/** Every command with its line in `uniform-rest --help`. The module of a command is loaded only when it runs. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: {
    says: '<folder>  makes the folder of a new application; --no-example for tables that a database has already; --database, --owner, --deployment',
    load: async () => (await import('./init.js')).init
  },
  dev: {
    says: 'runs both processes with settings for a first look, and again after each change of a file',
    standsAlone: true,
    load: async () => (await import('./dev.js')).dev
  },
  start: {
    says: '[gateway | data-service]  runs both processes, or one of them; --print-config prints its settings',
    load: async () => (await import('./start.js')).start
  },
  check: {
    says: '[--sql]  says what is wrong with entities and settings, and what tables differ in; --sql prints statements that would fix it',
    load: async () => (await import('./check.js')).check
  },
  doctor: {
    says: 'looks at settings, files, certificates, databases and tables, and says what to do; changes nothing',
    standsAlone: true,
    load: async () => (await import('./doctor.js')).doctor
  },
  introspect: {
    says: 'writes entity files for the tables that the database of DATABASE_URL has, and reads it only',
    load: async () => (await import('./introspect.js')).introspect
  },
  'client-types': {
    says: '[--out <file>]  writes the types that a typed client of the application is made with',
    load: async () => (await import('./client-types.js')).clientTypes
  },
  proto: {
    says: '[--check]  writes the proto of the typed gRPC services, and keeps the numbers of its fields',
    load: async () => (await import('./proto.js')).proto
  },
  sample: {
    says: '[--<resource> <count>]…  loads the sample rows into an empty database, and adds rows',
    load: async () => (await import('./sample.js')).sample
  },
  account: {
    says: 'add | list | disable | set-password | roles | claims | …  the accounts of the database',
    load: async () => (await import('./account.js')).account
  },
  migrate: {
    says: '[status | create <name>]  runs pending migrations, lists them, or writes the next; --dry-run prints SQL',
    load: async () => (await import('./migrate.js')).migrate
  },
  token: {
    says: '<email>  prints an access token of an account',
    load: async () => (await import('./account.js')).token
  },
  import: {
    says: '<resource> <file>  sends a file of CSV or NDJSON to a gateway, which creates its rows',
    load: async () => (await import('./import.js')).importFile
  },
  outbox: {
    says: 'list | retry | drop <id>…  shows what no handler could deliver, has it delivered again, or deletes it',
    load: async () => (await import('./outbox.js')).outbox
  },
  history: {
    says: 'purge --before <date> [--archive <file>]  takes old values out of the history of rows',
    load: async () => (await import('./history.js')).history
  }
}

const HELP = `Usage: uniform-rest <command> [--app <folder>]

${Object.entries(COMMANDS)
  .map(([name, { says }]) => `  ${name.padEnd(12)} ${says}`)
  .join('\n')}

A command works on the application in the working directory, or in the folder of --app: that with a
uniform-rest.config.ts. Settings are environment variables, lines of .env, or \`settings\` of that file, in this order.

  uniform-rest --version prints the versions of the package, the contract, the proto and the vocabulary.
`

/** Runs the command that the arguments name. Answers the exit code; rejects with what `explanation` puts into words. */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { name, line } = parseCommandLine(argv, surroundings)
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    surroundings.stdout.write(HELP)
    return 0
  }
  if (name === '--version' || name === '-v') {
    surroundings.stdout.write((await import('./application/package.js')).versionLines())
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined)
    throw new Failure(
      `There is no command ${JSON.stringify(name)}.${suggestion(name, Object.keys(COMMANDS))}\n\n${HELP}`
    )
  const [first] = line.args
  if (first !== undefined && command.standsAlone) {
    throw new Failure(`uniform-rest ${name} takes nothing but --app <folder>, not ${JSON.stringify(first)}.`)
  }
  const execute = await command.load()
  return execute(line)
}

/** Takes `--app <folder>` out, wherever it is. */
function parseCommandLine(
  argv: readonly string[],
  surroundings: Surroundings
): { readonly name: string | undefined; readonly line: CommandLine } {
  const rest = [...argv]
  const at = rest.findIndex((one) => one === '--app' || one.startsWith('--app='))
  let folder = '.'
  if (at >= 0) {
    const [flag = ''] = rest.splice(at, 1)
    const given = flag === '--app' ? rest.splice(at, 1)[0] : flag.slice('--app='.length)
    if (given === undefined || given === '') throw new Failure('--app must be followed by a folder.')
    folder = given
  }
  const [name, ...args] = rest
  return { name, line: { ...surroundings, args, folder: resolve(surroundings.directory, folder) } }
}

/** What people can act on is shown as it is. Anything else is a defect, and its stack shows where. */
export function explanation(error: unknown): string {
  if (error instanceof StartError) return `Cannot start: ${error.message}`
  if (!(error instanceof Error)) return String(error)
  // By name: the module of a CatalogueError is loaded only by commands that need it.
  if (['Failure', 'SettingsError', 'ArgumentError', 'CatalogueError', 'AccountMistake'].includes(error.name))
    return error.message
  // The stacks of Sequelize's errors do not contain the message.
  const stack = error.stack ?? ''
  return stack.includes(messageOf(error)) ? stack : `${messageOf(error)}\n${stack}`
}

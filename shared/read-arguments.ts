/** What the command line of a process asks for. */
export type Task = 'serve' | 'print-config' | 'help'

const TASKS: ReadonlyMap<string, Task> = new Map([
  ['--print-config', 'print-config'],
  ['--help', 'help'],
  ['-h', 'help']
])

/** `args` without the interpreter and the module. Throws an ArgumentError that names the first one nobody knows. */
export function readArguments(args: readonly string[]): Task {
  const tasks = args.map((arg) => {
    const task = TASKS.get(arg)
    if (task === undefined) throw new ArgumentError(arg)
    return task
  })
  return tasks.includes('help') ? 'help' : (tasks[0] ?? 'serve')
}

export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'

  constructor(argument: string) {
    super(
      `Cannot start: there is no argument ${JSON.stringify(argument)}. ` +
        'It takes --print-config and --help; everything else is an environment variable of docs/settings.md.'
    )
  }
}

/** What `--help` prints. */
export function help(process: 'gateway' | 'data-service'): string {
  return `Usage: node dist/${process}/main.js [--print-config | --help]

  --print-config  prints the settings in force, secrets redacted, and ends
  --help          prints this

Settings are environment variables; docs/settings.md explains each. npm start runs both processes.
`
}

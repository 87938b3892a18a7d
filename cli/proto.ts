import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { describedPackage } from '../data-service/rpc/typed-calls.js'
import { EMPTY_LOCK, lockText, type ProtoLock } from '../data-service/typed-services/numbers.js'
import type { TypedPackage } from '../data-service/typed-services/typed-package.js'
import { loadApplication } from './application/application.js'
import { checkApplication } from './check.js'
import { type CommandLine, Failure } from './application/command.js'

/** The folder of the proto, in that of the application. */
const FOLDER = 'grpc'

/** The file with every number that was ever given, beside the proto. */
const LOCK = 'proto.lock.json'

/**
 * `uniform-rest proto` writes the proto of the typed services, and the lock that keeps its numbers, into the folder `grpc`
 * of the application. `--check` writes nothing, and the exit code is 1 where the files are not those of the entities.
 */
export async function proto(line: CommandLine): Promise<number> {
  const [flag, ...more] = line.args
  if (more.length > 0 || (flag !== undefined && flag !== '--check')) {
    throw new Failure(`uniform-rest proto takes --check or nothing, not ${JSON.stringify(line.args.join(' '))}.`)
  }
  const loaded = await loadApplication(line)
  checkApplication(loaded)
  const { application, folder } = loaded
  const { typedServices } = application
  if (typedServices === undefined) {
    throw new Failure("The application has no typed services. State them: typedServices: { package: 'shop.v1' }.")
  }
  if (!PACKAGE.test(typedServices.package)) {
    throw new Failure(
      'The package of typedServices must be names in lower case with dots between, the last a version, such as shop.v1, ' +
        `not ${JSON.stringify(typedServices.package)}.`
    )
  }
  const lockFile = join(folder, FOLDER, LOCK)
  // The file and not what the application imported: the two differ until the import stands in the application.
  const before = existsSync(lockFile) ? readLock(lockFile) : EMPTY_LOCK
  const typed = describedPackage(application, { ...typedServices, lock: before })
  const files = filesOf(typed).map(([path, text]) => ({ path: join(folder, FOLDER, path), text }))
  const changed = files.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
  const named = changed.map(({ path }) => relative(line.directory, path)).join(', ')
  if (flag === '--check') {
    line.stdout.write(
      changed.length === 0
        ? 'The proto is that of the entities.\n'
        : `Not those of the entities: ${named}. Run \`uniform-rest proto\`.\n`
    )
    return changed.length === 0 ? 0 : 1
  }
  for (const { path, text } of changed) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  line.stdout.write(changed.length === 0 ? 'Nothing has changed.\n' : `Written: ${named}.\n`)
  if (typedServices.lock === undefined) {
    line.stdout.write(
      `Import ./${FOLDER}/${LOCK} with { type: 'json' } as lock where the application is defined, and state\n` +
        `typedServices: { package: '${typedServices.package}', lock }, so that the service serves these numbers.\n`
    )
  }
  return 0
}

const PACKAGE = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*\.v[0-9]+$/

/** The files of a package by their paths in the folder of the proto. */
export function filesOf(typed: TypedPackage): readonly (readonly [path: string, text: string])[] {
  return [
    [typed.path, typed.text()],
    [LOCK, lockText(typed.lock())]
  ]
}

function readLock(file: string): ProtoLock {
  try {
    const lock: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof lock === 'object' && lock !== null && 'rows' in lock && 'types' in lock) return lock as ProtoLock // Ours.
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new Failure(`${file} is not a lock of this command. Take it from the version control again.`)
}

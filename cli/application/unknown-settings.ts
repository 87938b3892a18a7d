import { join } from 'node:path'
import type { Application } from '../public/application.js'
import { editDistance, suggestion } from '../../data-service/entity/fields/names.js'
import { isWebhook } from '../../data-service/entity/event.js'
import { type Environment, SETTING_NAMES } from '../../shared/settings.js'
import { type CommandLine, printable } from './command.js'
import { readDotEnv } from './dot-env.js'

/** An argument of `start`: whoever started the process has told the names that are no settings. */
export const SETTINGS_TOLD = '--settings-told'

/** Where settings come from. */
interface Sources {
  readonly environment: Environment
  readonly dotEnv: Environment
  /** undefined where there is no application. */
  readonly application: Pick<Application, 'settings' | 'secondStore' | 'renderer' | 'outbox'> | undefined
}

/** Writes a line to standard error for each name that was probably meant for a setting, and is none. */
export function tellUnknownSettings(line: CommandLine, application: Application | undefined): void {
  const { environment, directory, stderr } = line
  const dotEnv = readDotEnv(join(directory, '.env'))
  for (const text of unknownSettings({ environment, dotEnv, application })) stderr.write(`${text}\n`)
}

/**
 * A sentence for each name that was probably meant for a setting. In an application's own `settings` that is every unknown
 * name. `.env` and the environment are for other programs too: in the one, names count that begin like a setting or are
 * misspelt ones, in the other only the misspelt ones.
 */
export function unknownSettings({ environment, dotEnv, application }: Sources): string[] {
  const { settings = {}, secondStore, renderer, outbox = [] } = application ?? {}
  const known = new Set<string>(SETTING_NAMES)
  const ofWebhooks = outbox.filter(isWebhook).flatMap(({ url, secret }) => [url, secret])
  for (const name of [
    secondStore?.setting,
    renderer?.portSetting,
    ...ofWebhooks.map((from) => (typeof from === 'string' ? undefined : from.setting))
  ]) {
    if (name !== undefined) known.add(name)
  }
  const unknown = (where: string, names: Environment, isMeant: (name: string) => boolean): string[] =>
    Object.keys(names)
      .filter((name) => !known.has(name) && isMeant(name))
      .map((name) => `${where} ${printable(name)}, and there is no such setting.${suggestion(name, known)}`)
  const words = new Set(Array.from(known, firstWord))
  for (const word of FOREIGN_WORDS) words.delete(word)
  const misspelt = (name: string): boolean => name.length >= SHORTEST && isMisspelt(name, known)
  return [
    ...unknown('The `settings` of the application hold', settings, () => true),
    ...unknown('The file .env holds', dotEnv, (name) => words.has(firstWord(name)) || misspelt(name)),
    ...unknown('The environment holds', environment, misspelt)
  ]
}

/** First words of settings that names of other programs begin with as well: HTTP_PROXY, those of OpenTelemetry and of mail. */
const FOREIGN_WORDS: readonly string[] = ['HTTP', 'OTEL', 'SMTP']

/** Characters. Any two shorter names are much alike. */
const SHORTEST = 9

/** Letters that are wrong, missing or too many. Two that stand in each other's place are two. */
const MOST_MISTAKES = 2

function isMisspelt(name: string, known: ReadonlySet<string>): boolean {
  return Array.from(known).some(
    (setting) => Math.abs(setting.length - name.length) <= MOST_MISTAKES && editDistance(name, setting) <= MOST_MISTAKES
  )
}

function firstWord(name: string): string {
  return name.split('_', 1)[0] ?? name
}

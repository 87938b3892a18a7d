import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { Failure } from './command.js'

/** Mistakes in entities as a Failure that names the files of the folder; any other error as it is. */
export function mistakesWithPlaces(error: unknown, folder: string): unknown {
  // By name: the check of entities is loaded only with the data service.
  const isOfEntities = error instanceof Error && error.name === 'CatalogueError'
  return isOfEntities ? new Failure(withPlaces(error.message, folder), { cause: error }) : error
}

/**
 * Adds the file and the line to each line about an entity: `- tasks: …` becomes `- tasks (entities/tasks.ts:12): …`. The file
 * is the one of the folder with `defineEntity({ name: 'tasks'`, and the line the one of the last word that the mistake quotes.
 */
export function withPlaces(mistakes: string, folder: string): string {
  const definitions = definitionsIn(folder)
  return mistakes.replace(/^- ([^\s:]+): (.*)$/gm, (line, name: string, mistake: string) => {
    const found = definitions.get(name) ?? definitions.get(name.split('.', 1)[0] ?? '') ?? []
    const places = found.map((one) => `${one.file}:${lineOf(mistake, one)}`)
    return places.length === 0 ? line : `- ${name} (${places.join(', ')}): ${mistake}`
  })
}

/** An entity in the text of its file. */
interface Definition {
  /** Relative to the folder, with slashes. */
  readonly file: string
  readonly text: string
  /** Where it begins, and where the next one does. */
  readonly from: number
  readonly to: number
}

const ENTITY = /\bdefineEntity\(\s*\{\s*name:\s*['"`]([^'"`]+)['"`]/g

/** By the names of entities. There are two of a name by mistake. */
function definitionsIn(folder: string): ReadonlyMap<string, readonly Definition[]> {
  const definitions = new Map<string, Definition[]>()
  for (const path of sourcesIn(folder)) {
    const text = readFileSync(path, 'utf8')
    const file = relative(folder, path).replaceAll(sep, '/')
    const found = [...text.matchAll(ENTITY)]
    for (const [at, { 1: name = '', index }] of found.entries()) {
      const one = { file, text, from: index, to: found[at + 1]?.index ?? text.length }
      definitions.set(name, [...(definitions.get(name) ?? []), one])
    }
  }
  return definitions
}

const PASSED_OVER = /^(?:node_modules|\..*)$/

/** A recursive `readdir` would go through node_modules too, which takes seconds. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (PASSED_OVER.test(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourcesIn(path)
    return /(?<!\.d)\.m?[jt]s$/.test(entry.name) ? [path] : []
  })
}

/** Follows the words that the mistake quotes through the entity, as `action \`close\`: \`status\` is enum and never "opened"`. */
function lineOf(mistake: string, { text, from, to }: Definition): number {
  let at = from
  for (const word of wordsOf(mistake)) at = placeOf(word, text.slice(0, to), at) ?? at
  return text.slice(0, at).split('\n').length
}

/** What the first sentence quotes, and the word of the entity file before `names`. */
function wordsOf(mistake: string): string[] {
  const [sentence = ''] = mistake.split(/[.?] (?=[A-Z])/, 1)
  return [...sentence.matchAll(/`([^`]+)`|"([^"]+)"|(\w+)(?= names )/g)].map(([, ...words]) => words.join(''))
}

/** Where a word follows: best as a key, else as a text, else at all. */
function placeOf(word: string, text: string, from: number): number | undefined {
  const escaped = word.replaceAll(/[^\w\s]/g, String.raw`\$&`)
  const forms = [
    String.raw`(?<![\w$.-])['"]?${escaped}['"]?\s*[:(]`,
    `['"\`]${escaped}['"\`]`,
    String.raw`\b${escaped}\b`
  ]
  for (const form of forms) {
    const found = text.slice(from).search(new RegExp(form))
    if (found >= 0) return from + found
  }
  return undefined
}

import { Utils } from 'sequelize'
import * as words from '../../data-service/entity/fields/words.js'
import { CAMEL_CASE, KEBAB_CASE, wordsOf } from '../../data-service/entity/fields/names.js'

// Names for the API out of names in a database, which may be in any style and any script.

/** Words that have no plural of their own, or are one. */
const UNCOUNTABLE: readonly string[] = [
  'staff',
  'info',
  'information',
  'data',
  'media',
  'inventory',
  'history',
  'stock',
  'content'
]

function pluralWord(word: string): string {
  return UNCOUNTABLE.includes(word) ? word : Utils.pluralize(word)
}

function singularWord(word: string): string {
  return UNCOUNTABLE.includes(word) ? word : Utils.singularize(word)
}

/** `order`, `line` for `OrderLines`. */
export function singularWords(name: string): string[] {
  return wordsOf(name).map((word, at, all) => (at === all.length - 1 ? singularWord(word) : word))
}

/** A name that no other one of the set has, by a number at its end if it must be. Adds it. */
function claim(name: string, taken: Set<string>, joint: string): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}${joint}${number}`
    if (taken.has(candidate.toLowerCase())) continue
    taken.add(candidate.toLowerCase())
    return candidate
  }
}

/** What stands before the names of tables and views in some schools, and says nothing. */
const PREFIXES: readonly string[] = ['tbl', 'vw']

/** By table, the names that are left without a prefix, but for those whose resource would not be the only one of its name. */
export function withoutPrefix(
  tables: readonly string[],
  prefix: string,
  taken: ReadonlySet<string>
): ReadonlyMap<string, string> {
  const isPrefixed = (table: string): boolean => prefix !== '' && table.startsWith(prefix) && table !== prefix
  const shortOf = (table: string): string => (isPrefixed(table) ? table.slice(prefix.length) : table)
  const resources = tables.map((table) => resourceName(shortOf(table), new Set()))
  const counts = new Map<string, number>()
  for (const one of resources) counts.set(one, (counts.get(one) ?? 0) + 1)
  const isFree = (one: string): boolean => counts.get(one) === 1 && !taken.has(one)
  return new Map(
    tables.flatMap((table, at): [string, string][] =>
      isPrefixed(table) && isFree(resources[at] ?? '') ? [[table, shortOf(table)]] : []
    )
  )
}

/** `film-actors` for `film_actor`. `taken` are the names of other resources and of paths that are not free. */
export function resourceName(table: string, taken: Set<string>): string {
  const all = wordsOf(table)
  const words = all.length > 1 && PREFIXES.includes(all[0] ?? '') ? all.slice(1) : all
  const last = words.pop()
  const joined = [...words, ...(last === undefined ? ['table'] : [pluralWord(last)])].join('-')
  const name = KEBAB_CASE.test(joined) ? joined : `table-${joined}`
  return claim(name, taken, '-')
}

/** `close-month` for the procedure `close_month`. `taken` are the names of other operations. */
export function operationName(procedure: string, taken: Set<string>): string {
  const joined = wordsOf(procedure).join('-')
  return claim(KEBAB_CASE.test(joined) ? joined : `procedure-${joined}`, taken, '-')
}

/** camelCase of words that may begin with a digit. */
function camelCaseName(words: readonly string[], otherwise: string): string {
  const [first = otherwise, ...others] = words
  const name = first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return CAMEL_CASE.test(name) ? name : otherwise + name.charAt(0).toUpperCase() + name.slice(1)
}

/** `categoryId` for `category_id`, `CategoryID` and `Category Id`. `taken` are the other properties, in lower case. */
export function columnPropertyName(column: string, taken: Set<string>): string {
  const name = camelCaseName(wordsOf(column), 'column')
  // Every object has these.
  return claim(name in {} ? `${name}Value` : name, taken, '')
}

/** The constant that an entity file exports: `filmActors` for `film-actors`. */
export function constantName(resource: string): string {
  const name = camelCaseName(resource.split('-'), 'table')
  const isTaken = name in words || name === 'defineEntity' || name === 'permission' || LANGUAGE.includes(name)
  return isTaken ? `${name}Entity` : name
}

/** Words of the language that are no names, as far as a plural can be one. */
const LANGUAGE: readonly string[] = [
  'class',
  'this',
  'static',
  'public',
  'private',
  'interface',
  'new',
  'delete',
  'import',
  'export',
  'default'
]

/** Words that say how a column refers, and not to what. */
const MARKS: readonly string[] = ['id', 'fk', 'key', 'ref', 'code', 'no', 'nr', 'number', 'uuid', 'guid']

/**
 * The name of a reference: that of its column without `_id`, so that several references to one table have different ones.
 * Where that is a property already, as for a column `owner`, the table that it leads to comes after it.
 */
export function referenceName(columns: readonly string[], target: string, taken: Set<string>): string {
  const [column = ''] = columns
  const words = wordsOf(column)
  const isMark = (word: string | undefined): boolean => word !== undefined && MARKS.includes(word)
  const bare = isMark(words.at(-1)) ? words.slice(0, -1) : isMark(words[0]) ? words.slice(1) : words
  const targetWords = singularWords(target)
  if (columns.length > 1) {
    // What all columns begin with says more than the table: `parent` of parent_operator and parent_stop_no.
    const all = columns.map(wordsOf)
    const begin = (one: readonly string[], at: number): string => one.slice(0, at + 1).join(' ')
    const shared = words.filter((_, at) =>
      all.every((one) => one.length > at + 1 && begin(one, at) === begin(words, at))
    )
    return claim(camelCaseName(shared.length > 0 ? shared : targetWords, 'row'), taken, '')
  }
  if (bare.length === 0) return claim(camelCaseName(targetWords, 'row'), taken, '')
  const name = camelCaseName(bare, 'row')
  if (!taken.has(name.toLowerCase())) return claim(name, taken, '')
  const isSame = bare.at(-1) === targetWords.at(-1)
  return claim(camelCaseName([...bare, ...(isSame ? ['row'] : targetWords)], 'row'), taken, '')
}

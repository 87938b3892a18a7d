import { type Children, type Column, type Entity, type Joined, type ManyToMany, tellingColumns } from '../entity.js'
import type { Field, FieldType, Operand } from '../fields/field.js'
import type { KeyType } from '../fields/rows.js'
import { compositeId, isComposite, isKeyed, type Keyed } from '../key.js'
import { type JsonSchema, validatorOf } from '../fields/json-schema.js'
import { CAMEL_CASE, KEBAB_CASE, LONGEST_NAME, suggestion } from '../fields/names.js'
import { operatorsOf } from '../fields/operators.js'
import { exampleMistakes } from './validate-examples.js'

/** First path segments that belong to the gateway (contract.md section 8). */
export const RESERVED: readonly string[] = ['auth', 'problems', 'health', 'metrics', 'admin', 'docs', 'mcp']

/** Names of resources and tables that are malformed, reserved or used twice. */
export function namingMistakes(entities: readonly Entity[]): string[] {
  const mistakes: string[] = []
  const resources = new Set<string>()
  const tables = new Map<string, string>()
  const claim = (store: string, table: string, owner: string): void => {
    const key = `${store}/${table.toLowerCase()}`
    const holder = tables.get(key)
    // Two resources of one name are a mistake already.
    if (holder === owner) return
    if (holder !== undefined) {
      mistakes.push(`${owner}: table \`${table}\` is that of ${holder} already. Give one of them another \`table\`.`)
    } else tables.set(key, owner)
  }
  const claimChildren = (children: Children, owner: string): void => {
    // The rows of a resource may be children too, and have its table.
    if (children.resource !== undefined) return
    claim(children.store, children.table, owner)
    for (const one of children.children) claimChildren(one, `${owner}.${one.name}`)
  }
  for (const { name, table, children } of entities) {
    if (!KEBAB_CASE.test(name)) mistakes.push(`${name}: the name must be kebab-case such as \`stock-items\`.`)
    if (name.length > LONGEST_NAME) mistakes.push(`${name}: the name has more than ${LONGEST_NAME} characters.`)
    if (RESERVED.includes(name)) mistakes.push(`${name}: the gateway keeps this path for itself.`)
    if (resources.has(name))
      mistakes.push(`${name}: there are two resources of this name, for one path. Give one of them another \`name\`.`)
    resources.add(name)
    claim('primary', table, name)
    for (const child of children) claimChildren(child, `${name}.${child.name}`)
  }
  return [...mistakes, ...entities.flatMap((entity) => writerMistakes(entity, entities))]
}

/** Children that are the rows of a resource, of which somebody else writes the rows or nobody knows. */
function writerMistakes({ name: root, children }: Entity, entities: readonly Entity[]): string[] {
  return children.flatMap(({ name, resource, table, rootWrites }) => {
    if (resource === undefined) return []
    const target = entities.find((one) => one.name === resource && one.table === table)
    if (target === undefined) return [`${root}.${name}: \`${resource}\` is not among the entities of the application.`]
    if (rootWrites !== 'all') return []
    const isWritten = target.writes.size + target.actions.size + target.hooks.all.length > 0
    const others = entities.filter(
      (one) =>
        one.name !== root && one.children.some((other) => other.resource === resource && other.rootWrites === 'all')
    )
    const by = isWritten ? [resource] : others.map((one) => one.name)
    return by.map((one) => `${root}.${name}: says writtenBy: 'root', and ${one} has writes of these rows too.`)
  })
}

export const KEY_TYPES: readonly FieldType[] = [
  'int',
  'long',
  'guid',
  'string',
  'date',
  'dateTime',
  'decimal',
  'enum',
  'base64url'
] satisfies KeyType[]
/** MySQL has 65 digits. One is to spare, for operands beyond the column. */
const MAX_PRECISION = 64
/** Digits after the point that MariaDB has; MySQL has 30. */
const MAX_SCALE = 38

/** Mistakes in the columns of an entity and of its children, and names that clash. */
export function fieldMistakes(entity: Entity): string[] {
  const { columns, computed, joined, references, manyToMany, children } = entity
  const named = [...columns, ...computed, ...joined, ...references, ...manyToMany, ...children]
  return [
    ...nameMistakes(named.map(({ name }) => name)),
    ...(isKeyed(entity) ? keyMistakes(entity) : keylessMistakes(entity)),
    ...tableMistakes(entity),
    ...computed.flatMap(({ name, from }) =>
      from
        .filter((source) => source.field.hidden)
        .map((source) => `computed \`${name}\` would show the hidden \`${source.name}\`.`)
    ),
    ...joined.flatMap(({ name, field }) => exampleMistakes(name, field)),
    ...children.flatMap(childrenMistakes)
  ]
}

/** Rows without an id have nothing else to show and to be sorted by. */
function keylessMistakes({ columns }: Entity): string[] {
  const isSeen = columns.some(({ field }) => !field.hidden && field.readableBy === undefined)
  return isSeen ? [] : ["`key: 'none'` needs a field that every reader sees: these rows have no id."]
}

function childrenMistakes(child: Children): string[] {
  const { name, columns, resource, foreignKey, references, children } = child
  // The columns of a resource are checked with it.
  const own =
    resource === undefined
      ? [...keyMistakes(child), ...tableMistakes(child), ...children.flatMap(childrenMistakes)]
      : []
  return [
    ...nameMistakes([...columns, ...references, ...children].map((one) => one.name)),
    ...foreignKey.flatMap(({ column }) => databaseNameMistakes('foreign key', column)),
    ...foreignKey.flatMap((column) => foreignKeyMistakes(column, columns)),
    ...tellingColumns(child)
      .filter(({ field }) => field.hidden)
      .map((one) => `\`${one.name}\` of \`${resource}\` is in no answer, and the children would tell it.`),
    ...own
  ].map((mistake) => `children \`${name}\`: ${mistake}`)
}

/** A property of a child in a column of its foreign key has another type than the key that it holds. */
function foreignKeyMistakes({ column, field }: Column, columns: readonly Column[]): string[] {
  const own = columns.find((one) => one.column === column)
  if (own === undefined || own.field.type === field.type) return []
  return [`\`${own.name}\` is ${own.field.type}, but the key that it refers to is ${field.type}.`]
}

/** Names that are not camelCase, or that differ in letter case only. */
export function nameMistakes(names: readonly string[]): string[] {
  const seen = new Map([['rowversion', 'rowVersion']])
  const mistakes: string[] = []
  for (const name of names) {
    const other = seen.get(name.toLowerCase())
    if (other !== undefined) mistakes.push(`\`${name}\` clashes with \`${other}\`: names are told apart without case.`)
    else seen.set(name.toLowerCase(), name)
    if (!CAMEL_CASE.test(name)) mistakes.push(`\`${name}\` must be camelCase.`)
  }
  return mistakes
}

/** Characters that the words of a key take in an id: columns of ids leave room for so many (mysql-own-tables.ts). */
const LONGEST_WORDS_OF_KEY = 2500

/** Mistakes in the columns of a key. That it is there at all is checked by defineEntity. */
function keyMistakes(keyed: Keyed): string[] {
  const columns = [...keyed.key]
  const names = new Set(columns.map(({ name }) => name))
  const mistakes = names.size < columns.length ? ['`key` names a field twice.'] : []
  const words = columns.map(({ field }) => Math.max(0, ...field.words.map((word) => compositeId(word).length)))
  if (words.reduce((sum, one) => sum + one, 0) > LONGEST_WORDS_OF_KEY) {
    mistakes.push(`the words of its key would take more than ${LONGEST_WORDS_OF_KEY} characters of an id.`)
  }
  for (const { name, field } of columns) {
    if (!KEY_TYPES.includes(field.type) || field.nullable || field.hidden) {
      mistakes.push(
        `\`${name}\` must be a visible int, long, guid, string, date, dateTime, decimal, enum or base64url that is never null, as a part of the key.`
      )
    }
    if (field.readableBy !== undefined) mistakes.push(`\`${name}\` is of the key: it cannot take a permission to read.`)
    if (isComposite(keyed) && field.writability === 'always') {
      mistakes.push(`\`${name}\` is of the key, which no update changes: say onCreate(…) or readOnly(…).`)
    }
  }
  return mistakes
}

/**
 * A name that every database takes and that statements can quote: MySQL has at most 64 characters, none beyond U+FFFF and
 * no space at the end, and a backtick would end the quotes.
 */
const DATABASE_NAME = /^[^\p{Cc}\p{Cs}\u{10000}-\u{10ffff}`]{0,63}[^\p{Cc}\p{Cs}\u{10000}-\u{10ffff}`\s]$/u

/** `what` says what has the name: `table`, `row version`, `procedure`. */
export function databaseNameMistakes(what: string, name: string): string[] {
  if (DATABASE_NAME.test(name)) return []
  return [
    `${what} \`${name}\`: a name in the database has 1 to 64 characters, no backtick, no control character and no ` +
      'space at its end. Rename it there, or make a view that names it otherwise.'
  ]
}

interface TableColumns {
  readonly table: string
  readonly columns: readonly Column[]
  readonly versionColumn: string | undefined
}

function tableMistakes({ table, columns, versionColumn }: TableColumns): string[] {
  return [
    ...databaseNameMistakes('table', table),
    ...(versionColumn === undefined ? [] : databaseNameMistakes('row version', versionColumn)),
    ...columnMistakes(columns, versionColumn)
  ]
}

/**
 * Mistakes in the parameters and members of requests that belong to no row: names, sizes, and words that only columns
 * have.
 */
export function parameterMistakes(parameters: readonly Column[]): string[] {
  const mistakes = [...nameMistakes(parameters.map(({ name }) => name)), ...columnMistakes(parameters)]
  for (const { name, field } of parameters) {
    if (name in {}) mistakes.push(`\`${name}\` is a name that every object has.`)
    if (field.hidden || field.writability !== 'always')
      mistakes.push(`\`${name}\` is a value that no request could send.`)
    if (field.readableBy !== undefined) mistakes.push(`\`${name}\` is no column: it takes no permission to read.`)
    if (field.writableBy !== undefined) mistakes.push(`\`${name}\` is no column: it takes no permission to write.`)
    if (field.preset !== undefined) mistakes.push(`\`${name}\` is no column: it takes no preset(…).`)
    if (field.unique) mistakes.push(`\`${name}\` is no column, which alone can be unique.`)
    if (field.filledByDatabase) mistakes.push(`\`${name}\` is no column, which alone has a default in the database.`)
  }
  return mistakes
}

/** The same of those that come as a text, in a path or a query. */
export function textParameterMistakes(parameters: readonly Column[]): string[] {
  const mistakes = parameterMistakes(parameters)
  for (const { name, field } of parameters) {
    if (!isComparable(field.type))
      mistakes.push(`\`${name}\` is ${field.type}, which no parameter of a path or a query can be.`)
  }
  return mistakes
}

/** Two statements of what a column holds that no request sets. */
function defaultMistakes(name: string, { writability, defaultTo, filledByDatabase, preset }: Field): string[] {
  const isGenerated = writability === 'generated'
  if (preset !== undefined && (isGenerated || defaultTo !== undefined || filledByDatabase)) {
    return [`\`${name}\` has a preset(…), which gives every new row its value: it is not generated and has no default.`]
  }
  if (isGenerated && (defaultTo !== undefined || filledByDatabase)) {
    return [`\`${name}\` is generated(…), which only the database sets, and takes no default.`]
  }
  return defaultTo !== undefined && filledByDatabase
    ? [`\`${name}\` has two defaults, defaultTo(…) and filledByDatabase(…). Say one of them.`]
    : []
}

/** An own type whose examples or default are not of the type, or not in the form in which they are stored. */
function customMistakes(name: string, { custom, type, defaultTo, minLength, maxLength }: Field): string[] {
  if (custom === undefined) return []
  const mistakes = CAMEL_CASE.test(custom.name) ? [] : [`\`${name}\`: the type \`${custom.name}\` must be camelCase.`]
  const fits = (value: Operand): boolean =>
    custom.parse(value) === value &&
    (type !== 'string' || (String(value).length >= minLength && String(value).length <= maxLength))
  const odd = custom.examples.filter((example) => !fits(example))
  if (custom.examples.length === 0) mistakes.push(`\`${name}\`: the type \`${custom.name}\` has no example.`)
  for (const example of odd) {
    mistakes.push(`\`${name}\`: ${JSON.stringify(example)} is no stored value of the type \`${custom.name}\`.`)
  }
  if (defaultTo !== undefined && (typeof defaultTo === 'object' || !fits(defaultTo)))
    mistakes.push(`\`${name}\`: the default ${JSON.stringify(defaultTo)} is no stored value of \`${custom.name}\`.`)
  return mistakes
}

/** Mistakes in the types of columns and in their names in the database, which has no two that differ in case alone. */
export function columnMistakes(columns: readonly Column[], versionColumn?: string): string[] {
  const mistakes: string[] = []
  const named = new Map(versionColumn === undefined ? [] : [[versionColumn.toLowerCase(), 'rowVersion']])
  for (const { name, column, field } of columns) {
    const other = named.get(column.toLowerCase())
    if (other !== undefined && other !== name) {
      mistakes.push(`\`${name}\` and \`${other}\` share the column \`${column}\`.`)
    }
    named.set(column.toLowerCase(), name)
    mistakes.push(...databaseNameMistakes(`\`${name}\` is in the column`, column))
    if (field.type === 'string' && !(Number.isSafeInteger(field.maxLength) && field.maxLength >= 1))
      mistakes.push(`\`${name}\` needs a maximum length.`)
    if (field.type === 'string' && field.minLength > field.maxLength) {
      mistakes.push(`\`${name}\` has a minimum length above its maximum.`)
    }
    mistakes.push(...customMistakes(name, field), ...defaultMistakes(name, field))
    const ofType = typeMistakes(field).map((one) => `\`${name}\` ${one}`)
    mistakes.push(...(ofType.length === 0 ? exampleMistakes(name, field) : ofType))
    if (field.type !== 'decimal') continue
    if (!Number.isInteger(field.precision) || field.precision < 1 || field.precision > MAX_PRECISION) {
      mistakes.push(`\`${name}\` has precision ${field.precision}; it must be 1 to ${MAX_PRECISION} digits in all.`)
    }
    if (!Number.isInteger(field.scale) || field.scale < 0 || field.scale > Math.min(field.precision, MAX_SCALE)) {
      const most = field.precision > MAX_SCALE ? String(MAX_SCALE) : `its precision, ${field.precision}`
      mistakes.push(`\`${name}\` has scale ${field.scale}; it must be 0 to ${most}.`)
    }
  }
  return mistakes
}

/** MySQL keeps no more words of a set, and no longer ones of an enum or a set. */
const MOST_WORDS_OF_SET = 64
const LONGEST_WORD = 255

/** Mistakes in what the word of a type was given, to follow the name of the field. */
function typeMistakes(field: Field): string[] {
  const { type, storage, precision, words, minLength, maxLength, defaultTo } = field
  const mistakes: string[] = []
  if ((type === 'dateTime' || type === 'time') && !isWholeWithin(precision, 0, 6)) {
    mistakes.push(`has a precision of ${precision} digits; it must be 0 to 6.`)
  }
  if (storage === 'bits' && !isWholeWithin(precision, 1, 64))
    mistakes.push(`has ${precision} bits; it must be 1 to 64.`)
  if (
    (type === 'binary' || type === 'base64url') &&
    (!isWholeWithin(maxLength, 1, 2 ** 32 - 1) || minLength > maxLength)
  ) {
    mistakes.push(`takes ${minLength} to ${maxLength} bytes; it needs a size.`)
  }
  if (type === 'json' && field.schema !== undefined) mistakes.push(...schemaMistakes(field.schema))
  if (field.unique && !isComparable(type)) mistakes.push(`is ${type}, which cannot be unique.`)
  if (type !== 'enum' && type !== 'set') return mistakes
  if (words.length === 0) mistakes.push('has no words.')
  if (type === 'set' && words.length > MOST_WORDS_OF_SET) {
    mistakes.push(`has ${words.length} words; a set has at most ${MOST_WORDS_OF_SET}.`)
  }
  if (new Set(words.map((word) => word.toLowerCase())).size < words.length) {
    mistakes.push('has two words that differ in letter case alone.')
  }
  for (const word of words) {
    const isSound = !word.endsWith(' ') && !word.includes('\0') && word.length <= LONGEST_WORD
    if (!isSound || (type === 'set' && (word === '' || word.includes(',')))) {
      const length =
        type === 'set' ? `1 to ${LONGEST_WORD} characters, has no comma` : `at most ${LONGEST_WORD} characters`
      mistakes.push(`has the word ${JSON.stringify(word)}: one has ${length} and no space at its end.`)
    }
  }
  if (type === 'enum' && defaultTo !== undefined && !words.includes(String(defaultTo))) {
    mistakes.push(`has the default ${JSON.stringify(defaultTo)}, which is none of its words.`)
  }
  return mistakes
}

function isWholeWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most
}

export function isComparable(type: FieldType): boolean {
  return type !== 'set' && type !== 'json' && type !== 'binary'
}

function schemaMistakes(schema: JsonSchema): string[] {
  try {
    validatorOf(schema)
    return []
  } catch (error) {
    return [`has a JSON schema that is none: ${error instanceof Error ? error.message : String(error)}.`]
  }
}

/** Mistakes in references and in the properties joined through them: targets, key types, value types. */
export function navigationMistakes(entity: Entity, entities: readonly Entity[]): string[] {
  const targetOf = (name: string): Entity | undefined => entities.find((one) => one.name === name)
  const names = entities.map((one) => one.name)
  const mistakes = [
    ...referenceMistakes(entity, entities),
    ...entity.children.flatMap((one) => childReferenceMistakes(one, entities))
  ]
  for (const joined of entity.joined) mistakes.push(...pathMistakes(joined, targetOf))
  for (const one of entity.manyToMany) {
    const found = targetOf(one.through) === undefined ? undefined : linkMistakes(one, entity, targetOf)
    const mistake = found ?? [`leads through \`${one.through}\`, no resource.${suggestion(one.through, names)}`]
    mistakes.push(...mistake.map((text) => `manyToMany \`${one.name}\`: ${text}`))
  }
  return mistakes
}

/** Those of a resource are checked with it. */
function childReferenceMistakes(child: Children, entities: readonly Entity[]): string[] {
  const own = child.resource === undefined ? referenceMistakes(child, entities) : []
  const nested = child.children.flatMap((one) => childReferenceMistakes(one, entities))
  return [...own, ...nested].map((mistake) => `children \`${child.name}\`: ${mistake}`)
}

function referenceMistakes(
  { references, columns }: Pick<Entity, 'references' | 'columns'>,
  entities: readonly Entity[]
): string[] {
  // A name that is no field is a mistake already, and what takes its place has a type of no meaning.
  const unknown = new Set(
    references.flatMap(({ via }) => via.filter((one) => !columns.includes(one))).map((one) => one.name)
  )
  const targetOf = (name: string): Entity | undefined => entities.find((one) => one.name === name)
  const names = entities.map((one) => one.name)
  const mistakes: string[] = []
  for (const { name, to, via } of references) {
    const key = targetOf(to)?.key
    if (to === '') continue
    if (key === undefined) {
      mistakes.push(`reference \`${name}\` leads to \`${to}\`, no resource.${suggestion(to, names)}`)
    } else if (key.length === 0) {
      mistakes.push(`reference \`${name}\` leads to \`${to}\`, whose rows have no key.`)
    } else if (key.length !== via.length) {
      const wanted = key.map((one) => one.name).join(', ')
      mistakes.push(`reference \`${name}\`: via names ${via.length} fields, and the key of \`${to}\` is ${wanted}.`)
    }
    for (const [at, { name: part, field }] of via.entries()) {
      if (field.hidden)
        mistakes.push(`reference \`${name}\`: \`${part}\` is in no answer, and the reference would tell it.`)
      const column = key?.[at]
      if (column === undefined || column.field.type === field.type || unknown.has(part)) continue
      const target = key?.length === 1 ? `the id of \`${to}\`` : `\`${to}.${column.name}\``
      mistakes.push(`reference \`${name}\`: \`${part}\` is ${field.type}, but ${target} is ${column.field.type}.`)
    }
  }
  return mistakes
}

/** Mistakes in the references of a link entity, and in the order of the rows that they lead to. */
function linkMistakes(
  { through, from, to, sort }: ManyToMany,
  entity: Entity,
  targetOf: (name: string) => Entity | undefined
): string[] {
  const references = targetOf(through)?.references ?? []
  const names = references.map(({ name }) => name)
  const mistakes = [...new Set([from, to])]
    .filter((name) => !names.includes(name))
    .map((name) => `\`${through}\` has no reference \`${name}\`.${suggestion(name, names)}`)
  if (targetOf(through)?.key.length === 0) mistakes.push(`the rows of \`${through}\` have no key.`)
  if (from === to) mistakes.push('`from` and `to` are two references of the link entity.')
  const back = references.find(({ name }) => name === from)
  if (back !== undefined && back.to !== entity.name) {
    mistakes.push(`\`${through}.${from}\` leads to \`${back.to}\` and not to \`${entity.name}\`.`)
  }
  const onward = references.find(({ name }) => name === to)
  const target = onward && targetOf(onward.to)
  for (const property of target === undefined ? [] : sort) {
    const column = target?.columns.find(({ name }) => name === property)
    const known = target?.columns.map(({ name }) => name) ?? []
    const field = column?.field
    if (field === undefined) {
      mistakes.push(`sort names \`${property}\`, which is no field of \`${onward?.to}\`.${suggestion(property, known)}`)
    } else if (field.hidden || field.readableBy !== undefined || !isComparable(field.type)) {
      mistakes.push(`sort names \`${property}\`, which not every reader sees or which has no order.`)
    }
  }
  return mistakes
}

/** Follows the references of a joined property to the entity that it shows a column of. */
function pathMistakes(joined: Joined, targetOf: (name: string) => Entity | undefined): string[] {
  let target = targetOf(joined.through.to)
  let isNullable = joined.through.via.some(({ field }) => field.nullable)
  for (const step of joined.further) {
    // An unknown target is a mistake of the reference.
    if (target === undefined) return []
    const reference = target.references.find(({ name }) => name === step)
    if (reference === undefined) {
      const near = suggestion(
        step,
        target.references.map(({ name }) => name)
      )
      return [`joined \`${joined.name}\`: \`${step}\` is not a reference of \`${target.name}\`.${near}`]
    }
    isNullable ||= reference.via.some(({ field }) => field.nullable)
    target = targetOf(reference.to)
  }
  return target === undefined ? [] : joinedMistakes(joined, target, isNullable)
}

function joinedMistakes({ name, property, field }: Joined, target: Entity, isNullable: boolean): string[] {
  const visible = target.columns.filter((one) => !one.field.hidden)
  const column = visible.find((one) => one.name === property)
  if (column === undefined) {
    const near = suggestion(
      property,
      visible.map((one) => one.name)
    )
    return [`joined \`${name}\`: \`${property}\` is not a field of \`${target.name}\`.${near}`]
  }
  const mistakes = lostWords(field).map((word) => `joined \`${name}\` is only shown: its field cannot say ${word}(…).`)
  if (shape(field) !== shape(column.field)) {
    mistakes.push(
      `joined \`${name}\` is ${shape(field)}, but \`${target.name}.${property}\` is ${shape(column.field)}.`
    )
  }
  if (!field.nullable && (isNullable || column.field.nullable)) {
    mistakes.push(`joined \`${name}\` must be optional: what it comes from may be null.`)
  }
  return mistakes
}

/** Words of a field that mean nothing for a value that is only shown, and not hidden. */
function lostWords(field: Field): string[] {
  const { hidden, writability, preset, writableBy, unique, defaultTo, filledByDatabase } = field
  const isSet = writability === 'always' || writability === 'onCreate'
  const said: Readonly<Record<string, boolean>> = {
    hidden: hidden && !isSet,
    writeOnly: hidden && isSet,
    onCreate: writability === 'onCreate' && preset === undefined,
    generated: writability === 'generated',
    preset: preset !== undefined,
    writableBy: writableBy !== undefined,
    unique,
    defaultTo: defaultTo !== undefined,
    filledByDatabase
  }
  return Object.keys(said).filter((word) => said[word])
}

function shape(field: Field): string {
  const { type, precision, storage, unsigned, words } = field
  if (type === 'decimal') return `decimal(${precision},${field.scale})`
  if (type === 'string') return `string(${field.maxLength})`
  const sizes = [storage === 'usual' ? '' : storage, unsigned ? 'unsigned' : '', precision === 0 ? '' : `${precision}`]
  const said = [...(type === 'dateTime' && precision === 3 ? [] : sizes), ...words].filter((one) => one !== '')
  return said.length === 0 ? type : `${type}(${said.join(', ')})`
}

export const LABEL_TYPES: readonly FieldType[] = ['string', 'enum', 'int', 'long', 'guid']

/** Searchable properties that are no text, or are named twice. */
function searchMistakes(
  searchable: readonly string[],
  visible: readonly { readonly name: string; readonly field: Field }[]
): string[] {
  const found = searchable.flatMap((name) => visible.find((one) => one.name === name) ?? [])
  const mistakes = found
    .filter(({ field }) => field.type !== 'string')
    .map(({ name, field }) => `searchable names \`${name}\`, which is ${field.type} and no string.`)
  if (new Set(searchable).size < searchable.length) mistakes.push('searchable names a property twice.')
  return mistakes
}

function unsortable(name: string, visible: readonly { readonly name: string; readonly field: Field }[]): string[] {
  const type = visible.find((one) => one.name === name)?.field.type
  return type === undefined || isComparable(type)
    ? []
    : [`sortable names \`${name}\`, which is ${type} and has no order.`]
}

/** Mistakes in `filterable`, `sortable`, `searchable`, `operators` and `label`. */
export function queryMistakes(entity: Entity): string[] {
  const { columns, joined, computed, filterable, sortable, searchable, fullText, label } = entity
  const visible = [...columns.filter((one) => !one.field.hidden), ...joined]
  const unfit = (name: string, list: string): string[] => {
    if (visible.some((one) => one.name === name)) return []
    if (columns.some((one) => one.name === name)) return [`${list} names the hidden \`${name}\`.`]
    if (computed.some((one) => one.name === name))
      return [`${list} names the computed \`${name}\`, which has no column.`]
    const near = suggestion(
      name,
      visible.map((one) => one.name)
    )
    return [`${list} names \`${name}\`, which is not a field.${near}`]
  }
  const mistakes = [
    ...[...filterable.keys()].flatMap((name) => unfit(name, 'filterable')),
    ...[...sortable].flatMap((name) => unfit(name, 'sortable')),
    ...[...sortable].flatMap((name) => unsortable(name, visible)),
    ...searchable.flatMap((name) => unfit(name, 'searchable')),
    ...searchMistakes(searchable, visible),
    ...(fullText ? searchable : [])
      .filter((name) => joined.some((one) => one.name === name))
      .map((name) => `fullText names the joined \`${name}\`. The index is of the entity's own columns.`)
  ]
  for (const [name, operators] of filterable) {
    const type = visible.find((one) => one.name === name)?.field.type
    if (type === undefined) continue
    const known: readonly string[] = operatorsOf(type).map(({ word }) => word)
    if (operators.length === 0) mistakes.push(`filterable \`${name}\` is left without an operator.`)
    for (const operator of operators) {
      if (!known.includes(operator)) {
        mistakes.push(`\`${operator}\` is no operator of ${type} \`${name}\`, which has ${known.join(', ')}.`)
      }
    }
  }
  if (label !== undefined && (label.field.hidden || label.field.nullable || !LABEL_TYPES.includes(label.field.type))) {
    mistakes.push(`label \`${label.name}\` must be a visible string, enum, int, long or guid that is never null.`)
  }
  return mistakes
}

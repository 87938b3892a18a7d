import { type ColumnWord, isColumnWord, stringLiteral, wordText } from '../model/column-types.js'
import { layout, type Part } from '../migrations/migration-file.js'
import { type EntityDraft, type FieldDraft, isRenamed } from './entity-draft.js'
import { constantName } from './names.js'

/** The text of an entity file; without types for an application in JavaScript they are the same. */
export function entityFile(draft: EntityDraft): string {
  const definition: Part = ['{', definitionMembers(draft), '}', 'broken']
  const start = `export const ${draft.constant} = defineEntity(`
  return [
    layout(['import {', importsOf(draft), "} from 'uniform-rest'"], 0, -1),
    '',
    ...remarksOf(draft),
    `${start}${layout(definition, 0, start.length)})`,
    ''
  ].join('\n')
}

function definitionMembers(draft: EntityDraft): Part[] {
  const { resource, table, key, fields, label, filterable, sortable, fullText, references, versionColumn, writes } =
    draft
  const members: Part[] = [`name: ${stringLiteral(resource)}`]
  if (table !== resource.replaceAll('-', '_')) members.push(`table: ${stringLiteral(table)}`)
  members.push(`description: ${stringLiteral(descriptionOf(draft))}`)
  if (key.length === 0) members.push("key: 'none'")
  else if (versionColumn === undefined) members.push("rowVersion: 'none'")
  if (key.length > 1) members.push(listOf('key', key))
  members.push(['fields: {', fields.map(fieldText), '}', 'broken'])
  if (label !== undefined) members.push(`label: ${stringLiteral(label)}`)
  members.push(listOf('filterable', filterable), listOf('sortable', sortable))
  if (fullText.length > 0) members.push(['searchable: fullText(', fullText.map(stringLiteral), ')'])
  if (references.length > 0) {
    const texts = references.map(({ name, to, via }) => {
      const [first = '', second] = via
      const columns = second === undefined ? stringLiteral(first) : `[${via.map(stringLiteral).join(', ')}]`
      return `${name}: { to: ${stringLiteral(to)}, via: ${columns} }`
    })
    members.push(['references: {', texts, '}', 'broken'])
  }
  if (versionColumn === undefined) return [...members, `access: { read: permission('${resource}:read') }`]
  return [
    ...members,
    `access: { read: permission('${resource}:read'), write: permission('${resource}:write') }`,
    listOf('writes', writes)
  ]
}

function listOf(name: string, values: readonly string[]): Part {
  return [`${name}: [`, values.map(stringLiteral), ']']
}

/** One sentence for people: the comment of the table, or its name. */
function descriptionOf({ table, kind, comment }: EntityDraft): string {
  const text = comment.replaceAll(/\s+/g, ' ').trim()
  return text === '' ? `Rows of the ${kind} ${table}.` : text
}

/** An entity file as it was written: a person may have given the resource another name since. */
export interface ListedFile {
  readonly resource: string
  /** Whether the rows of its table have a version. */
  readonly isVersioned: boolean
}

/** Permissions that the file names. */
function namedPermissions({ resource, isVersioned }: ListedFile): string[] {
  return isVersioned ? [`${resource}:read`, `${resource}:write`] : [`${resource}:read`]
}

/** `title: text(255, 0)`, as a line of `fields`. */
export function fieldText(field: FieldDraft): string {
  return `${field.property}: ${fieldWordText(field)}`
}

function fieldWordText(field: FieldDraft): string {
  const word = wordText(field.word)
  return isRenamed(field) ? `column(${stringLiteral(field.column)}, ${word})` : word
}

function importsOf(draft: EntityDraft): string[] {
  const words = new Set(['defineEntity', 'permission', ...(draft.fullText.length > 0 ? ['fullText'] : [])])
  for (const word of fieldWords(draft.fields)) words.add(word)
  return [...words].toSorted()
}

/** The words that the fields are written in. */
export function fieldWords(fields: readonly FieldDraft[]): string[] {
  const wordsIn = ({ word, args }: ColumnWord): string[] => [word, ...args.filter(isColumnWord).flatMap(wordsIn)]
  return fields.flatMap((field) => [...wordsIn(field.word), ...(isRenamed(field) ? ['column'] : [])])
}

/** What a reader should know, as comments above the entity. */
function remarksOf({ notes, cascades }: EntityDraft): string[] {
  const cascading = cascades.map(
    (one) =>
      `Rows of ${one} are deleted with the row that they refer to: they could be \`children\` of this entity in place of a ` +
      'resource of their own (docs/adding-an-entity.md).'
  )
  return [...notes, ...cascading].flatMap(remark)
}

const REMARK_WIDTH = 117

/** The lines of a comment. */
export function remark(text: string): string[] {
  const lines: string[] = []
  for (const word of text.replaceAll(/\s+/g, ' ').split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length + 1 > REMARK_WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((line) => `// ${line}`)
}

/** The file that lists all written entity files, with the permissions that they name. */
export function listFile(files: readonly ListedFile[], isTyped: boolean): string {
  const constants: Part = ['[', files.map(({ resource }) => constantName(resource)), ']']
  const permissions: Part = ['[', files.flatMap(namedPermissions).map(stringLiteral), ']']
  const type = isTyped ? ': Permission[]' : ''
  return [
    '// Written by `uniform-rest introspect`, which writes it anew for as long as nobody changes it.',
    ...(isTyped ? ["import type { Permission } from 'uniform-rest'"] : []),
    ...files.map(({ resource }) => `import { ${constantName(resource)} } from './${resource}.js'`),
    '',
    `export const introspected = ${layout(constants, 0, 28)}`,
    '',
    '/** What the entity files ask of those who read and write: give each role its part of it. */',
    `export const introspectedPermissions${type} = ${layout(permissions, 0, 54)}`,
    ''
  ].join('\n')
}

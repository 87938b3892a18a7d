import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeCatalogue } from '../data-service/plan/model/catalogue.js'
import { operationsOf } from '../data-service/operations/calls/account-operations.js'
import { describeCatalogue } from '../data-service/operations/describe/describe.js'
import type { Action } from '../shared/gen/entity/v1/Action.js'
import type { CustomRead } from '../shared/gen/entity/v1/CustomRead.js'
import type { DescribeResponse } from '../shared/gen/entity/v1/DescribeResponse.js'
import type { JsonShape } from '../shared/gen/entity/v1/JsonShape.js'
import type { Member } from '../shared/gen/entity/v1/Member.js'
import type { Navigation } from '../shared/gen/entity/v1/Navigation.js'
import type { Operation } from '../shared/gen/entity/v1/Operation.js'
import type { Property } from '../shared/gen/entity/v1/Property.js'
import type { Resource } from '../shared/gen/entity/v1/Resource.js'
import { messageOf } from '../shared/start-error.js'
import { loadApplication } from './application/application.js'
import { checkApplication } from './check.js'
import { type CommandLine, Failure, withUsage } from './application/command.js'

const USAGE = `Usage: uniform-rest client-types                prints types of the application for @uniform-rest/client
         --out <file>                        writes them into this file
`

/**
 * `uniform-rest client-types` writes one TypeScript file with the types of everything that the application serves. It needs
 * no database and no running service.
 */
export async function clientTypes(line: CommandLine): Promise<number> {
  const { out } = withUsage(
    USAGE,
    () => parseArgs({ args: [...line.args], options: { out: { type: 'string' } }, allowPositionals: false }).values
  )
  const loaded = await loadApplication(line)
  const { ownership } = checkApplication(loaded)
  const { entities } = loaded.application
  const text = clientTypesOf(
    describeCatalogue(makeCatalogue(entities), ownership, operationsOf(loaded.application))('gateway')
  )
  if (out === undefined) {
    line.stdout.write(text)
    return 0
  }
  const file = resolve(line.directory, out)
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  } catch (error) {
    throw new Failure(`${out} cannot be written: ${messageOf(error)}.`)
  }
  line.stdout.write(`Wrote ${relative(line.directory, file)}\n`)
  return 0
}

/** What can be named of the rows of a resource. */
const NAVIGATIONS_OF =
  "type NavigationsOf<T extends { references: object; children: object }> = T['references'] & T['children']"

/** The text of the file, which imports nothing. */
export function clientTypesOf({ resources = [], operations = [] }: DescribeResponse): string {
  const names = new TypeNames(resources.map(({ name = '' }) => name))
  const operators = new OperatorNames()
  const application = [
    `resources: ${block(resources.map(({ name = '' }) => `${memberName(name)}: ${names.of(name)}`))}`,
    `operations: ${block(operations.map(operationTypes))}`
  ]
  const parts = [
    '// Written by `uniform-rest client-types`. Do not change it: run the command again.',
    '/** What the application serves, for `createClient` of @uniform-rest/client. */',
    `export interface Application ${block(application)}`,
    ...resources.flatMap((resource) => resourceTypes(resource, names, operators)),
    ...operators.declarations(),
    ...(resources.some(leadsToOthers) ? [NAVIGATIONS_OF] : [])
  ]
  return (
    parts
      .map((part) => (part.startsWith('/**') ? `${part}\n` : `${part}\n\n`))
      .join('')
      .trimEnd() + '\n'
  )
}

/** A name in PascalCase for each resource. */
class TypeNames {
  readonly #names = new Map<string, string>()

  constructor(resources: readonly string[]) {
    const taken = new Set(['Application'])
    for (const resource of resources) {
      const name = resource.replace(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())
      // No resource's name ends in an underscore.
      let free = /^\d/.test(name) ? `_${name}` : name
      while (taken.has(free)) free += '_'
      taken.add(free)
      this.#names.set(resource, free)
    }
  }

  of(resource: string): string {
    return this.#names.get(resource) ?? 'object'
  }
}

/** Of types that have the same operators. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  int: 'Number',
  long: 'Number',
  decimal: 'Number',
  dateTime: 'Moment',
  date: 'Moment',
  time: 'Moment',
  guid: 'Equality',
  base64url: 'Equality',
  enum: 'Equality'
}

/** Each set of operators that some property has is declared once. */
class OperatorNames {
  readonly #sets = new Map<string, string>()

  of({ type = '', operators = [], operatorAliases = [] }: Property): string {
    const text = union([...operators.map(camelCase), ...operatorAliases])
    const known = this.#sets.get(text)
    if (known !== undefined) return known
    const name = `${KIND_NAMES[type] ?? type.charAt(0).toUpperCase() + type.slice(1)}Operator`
    const taken = new Set(this.#sets.values())
    let free = name
    for (let number = 2; taken.has(free); number++) free = `${name}${number}`
    this.#sets.set(text, free)
    return free
  }

  declarations(): string[] {
    return Array.from(this.#sets, ([text, name]) => `type ${name} = ${text}`)
  }
}

function resourceTypes(resource: Resource, names: TypeNames, operators: OperatorNames): string[] {
  const { name = '', description = '', properties = [], writeOnly = [], actions = [], reads = [] } = resource
  const { ownerParameter = '' } = resource
  const type = names.of(name)
  const can = (operation: string): boolean => resource.operations?.includes(operation) ?? false
  const that = (is: (property: Property) => boolean | undefined): string =>
    union(properties.filter(is).map((property) => property.name ?? ''))
  const id = properties.find((property) => property.name === 'id') ?? { type: 'string' }
  const filters = properties
    .filter(({ filterable = false }) => filterable)
    .map((property) => `${memberName(property.name)}: [${givenType(property)}, ${operators.of(property)}]`)
  const unique = properties
    .filter(({ unique: isUnique = false }) => isUnique)
    .map((property) => `${memberName(property.name)}: ${givenType(property)}`)
  const settable = [...properties, ...writeOnly].filter(({ setOnUpdate = false }) => setOnUpdate)
  const replaced = settable.map((one) =>
    given(one, one.nullable !== true && one.optionalOnUpdate !== true && isForAll(one))
  )
  const members = [
    `id: ${(resource.key ?? []).length === 0 ? 'never' : valueType(id)}`,
    `row: ${type}Row`,
    ...includes(resource, names),
    `filters: ${block(filters)}`,
    `sort: ${that(({ sortable }) => sortable)}`,
    `fields: ${that(({ selectable }) => selectable)}`,
    ...totalsTypes(resource),
    ...(can('history') ? ['history: true'] : []),
    `search: ${properties.some(({ searchable = false }) => searchable) ? 'string' : 'never'}`,
    `by: ${block(unique)}`,
    `replaceBy: ${block(resource.updatesByProperty === true ? unique : [])}`,
    `parameters: ${block(ownerParameterMember(ownerParameter))}`,
    `create: ${can('create') ? `${type}Create` : 'never'}`,
    `replace: ${can('update') ? `${type}Replace` : 'never'}`,
    `patch: ${can('update') ? `${type}Patch` : 'never'}`,
    `delete: ${can('delete') ? 'unknown' : 'never'}`,
    `actions: ${block(actions.map(actionTypes))}`,
    `reads: ${block(reads.map((read) => readTypes(read, ownerParameter)))}`
  ]
  return [
    `/** ${comment(description)} */`,
    `export interface ${type} ${block(members)}`,
    `/** A row of \`${name}\`. */`,
    `export interface ${type}Row ${block(properties.map(shown))}`,
    ...(can('create') ? [`export interface ${type}Create ${block(createMembers(resource))}`] : []),
    ...(can('update') ? [`export interface ${type}Replace ${block(replaced)}`] : []),
    ...(can('update') ? [`export interface ${type}Patch ${block(settable.map((one) => given(one, false)))}`] : [])
  ]
}

function totalsTypes({ totals }: Resource): string[] {
  if (totals === undefined || totals === null) return []
  const { dimensions = [], measures = [] } = totals
  return [
    `totals: ${block([`dimensions: ${block(dimensions.map(shown))}`, `measures: ${block(measures.map(shown))}`])}`
  ]
}

function ownerParameterMember(parameter: string): string[] {
  return parameter === '' ? [] : [`${memberName(parameter)}?: string | number`]
}

function createMembers(resource: Resource): string[] {
  const { navigations = [], createdChildren = [] } = resource
  const newMembers = ({ properties = [], writeOnly = [] }: Pick<Resource, 'properties' | 'writeOnly'>): string[] =>
    [...properties, ...writeOnly]
      .filter(({ setOnCreate = false }) => setOnCreate)
      .map((one) => given(one, one.requiredOnCreate === true && isForAll(one)))
  const children = navigations
    .filter(({ name = '', kind }) => kind === 'NAVIGATION_KIND_CHILDREN' && createdChildren.includes(name))
    .map((child) => `${memberName(child.name)}?: readonly ${block(newMembers(child))}[]`)
  return [...newMembers(resource), ...children]
}

function actionTypes({ name, description, input = [], childPrecondition = '' }: Action): string {
  const members = input.map((one) => given(one, one.requiredOnCreate === true || one.nullable !== true))
  const version = childPrecondition === '' ? [] : [`${memberName(childPrecondition)}: string`]
  return told(description, `${memberName(name)}: ${block([...members, ...version])}`)
}

function readTypes(read: CustomRead, ownerParameter: string): string {
  const { name, description, parameters = [], ownerFiltered = false, items = [], bareItems = false } = read
  const taken = parameters.map((one) => `${memberName(one.name)}${one.nullable === true ? '?' : ''}: ${givenType(one)}`)
  const all = [...taken, ...(ownerFiltered ? ownerParameterMember(ownerParameter) : [])]
  const item = bareItems ? shownType(items[0] ?? {}) : block(items.map(shown))
  return told(description, `${memberName(name)}: ${block([`parameters: ${block(all)}`, `item: ${item}`])}`)
}

/** What `includeFKs` adds to a row, what `includeChildren` does, and what `include` can name within these. */
function includes({ navigations = [] }: Resource, names: TypeNames): string[] {
  const references: string[] = []
  const children: string[] = []
  const within: string[] = []
  for (const navigation of navigations) {
    const { name, kind, resource = '' } = navigation
    const row = `${names.of(resource)}Row`
    if (kind === 'NAVIGATION_KIND_REFERENCE') references.push(`${memberName(name)}: ${row} | null`)
    else if (kind === 'NAVIGATION_KIND_MANY_TO_MANY') children.push(`${memberName(name)}: ${row}[]`)
    else children.push(`${memberName(name)}: ${childType(navigation)}[]`)
    within.push(
      `${memberName(name)}: ${kind === 'NAVIGATION_KIND_CHILDREN' ? ofChildren(navigation, names) : ofRows(names.of(resource))}`
    )
  }
  return [`references: ${block(references)}`, `children: ${block(children)}`, `includes: ${block(within)}`]
}

function leadsToOthers({ navigations = [] }: Resource): boolean {
  return navigations.some(({ kind }) => kind !== 'NAVIGATION_KIND_CHILDREN')
}

function ofRows(type: string): string {
  return `NavigationsOf<${type}>`
}

/** Children of children are there without being named. */
function ofChildren({ navigations = [], references = [] }: Navigation, names: TypeNames): string {
  return block([
    ...references.map(({ name, resource = '' }) => `${memberName(name)}: ${names.of(resource)}Row | null`),
    ...navigations.map(({ name }) => `${memberName(name)}: unknown`)
  ])
}

function childType({ properties = [], navigations = [] }: Navigation): string {
  return block([...properties.map(shown), ...navigations.map((one) => `${memberName(one.name)}: ${childType(one)}[]`)])
}

function operationTypes({
  method,
  path,
  description,
  pathParameters,
  queryParameters,
  body,
  answer
}: Operation): string {
  const members = [
    `path: ${block((pathParameters ?? []).map((one) => given(one, true)))}`,
    `query: ${block((queryParameters ?? []).map((one) => given(one, one.nullable !== true)))}`,
    `body: ${body === undefined || body === null ? 'never' : shapeType(body, 'given')}`,
    `answer: ${answer === undefined || answer === null ? 'undefined' : shapeType(answer, 'shown')}`
  ]
  return told(description, `${memberName(`${method} ${path}`)}: ${block(members)}`)
}

/** Of a request or of an answer. */
type Side = 'given' | 'shown'

function shapeType({ kind, members = [], item, nested }: JsonShape, side: Side): string {
  const object = block(members.map((member) => memberType(member, side)))
  if (kind !== 'SHAPE_KIND_LIST') return object
  const list = side === 'given' ? 'readonly ' : ''
  if (item !== undefined && item !== null) return `${list}(${side === 'given' ? givenType(item) : shownType(item)})[]`
  return nested === undefined || nested === null ? `${list}${object}[]` : `${list}(${shapeType(nested, side)})[]`
}

function memberType({ property, name, shape }: Member, side: Side): string {
  if (property !== undefined && property !== null) {
    return side === 'given' ? given(property, property.requiredOnCreate === true) : shown(property)
  }
  if (shape === undefined || shape === null) return `${memberName(name)}: unknown`
  // A list that may be empty may be left out of a request.
  const isOptional = side === 'given' && shape.kind === 'SHAPE_KIND_LIST' && (shape.minItems ?? 0) === 0
  return `${memberName(name)}${isOptional ? '?' : ''}: ${shapeType(shape, side)}`
}

/** A member of an answer. One that takes a permission to see is left out for callers without it. */
function shown(property: Property): string {
  const isOptional = (property.readableBy ?? []).length > 0
  return told(property.description, `${memberName(property.name)}${isOptional ? '?' : ''}: ${shownType(property)}`)
}

function shownType(property: Property): string {
  return nullableType(valueType(property), property)
}

/** Whether no permission is needed to set it: a body of a caller without one does not have it. */
function isForAll({ writableBy = '' }: Property): boolean {
  return writableBy === ''
}

/** A member of a request. */
function given(property: Property, isRequired: boolean): string {
  const type = nullableType(givenType(property), property)
  return told(property.description, `${memberName(property.name)}${isRequired ? '' : '?'}: ${type}`)
}

function nullableType(type: string, { nullable = false }: Property): string {
  return nullable && type !== 'unknown' ? `${type} | null` : type
}

/** The value as the service writes it (contract.md section 3). */
function valueType({ type, words = [] }: Property): string {
  switch (type) {
    case 'bool':
      return 'boolean'
    case 'int':
    case 'double':
      return 'number'
    case 'enum':
      return union(words)
    case 'set':
      return `(${union(words)})[]`
    case 'json':
      return 'unknown'
    default:
      return 'string'
  }
}

/** The value as the service takes it. */
function givenType(property: Property): string {
  switch (property.type) {
    case 'long':
    case 'decimal':
      return 'string | number'
    case 'dateTime':
      return 'string | Date'
    case 'set':
      return `readonly ${valueType(property)}`
    default:
      return valueType(property)
  }
}

/** An operator as the key of an object: `startsWith`, which the service takes for `starts with`. */
function camelCase(word: string): string {
  return word.replace(/ (\w)/g, (_all, letter: string) => letter.toUpperCase())
}

function union(texts: readonly string[]): string {
  return texts.length === 0 ? 'never' : texts.map(quotedLiteral).join(' | ')
}

function quotedLiteral(text: string): string {
  return `'${text
    .replace(/[\\']/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)}'`
}

function memberName(name = ''): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quotedLiteral(name)
}

/** A member with the sentence about it, if there is one. */
function told(description = '', member: string): string {
  return description === '' ? member : `/** ${comment(description)} */\n${member}`
}

function comment(text: string): string {
  return text.replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ')
}

function block(members: readonly string[]): string {
  return members.length === 0
    ? '{}'
    : `{\n${members.map((member) => `  ${member.replaceAll('\n', '\n  ')}\n`).join('')}}`
}

import type { Access, Action, Navigation, Property, Resource } from '../data/data-client.js'
import { code, escapeHtml, link, table } from '../http/html-page.js'
import { NoComponents } from '../openapi/components.js'
import { operationsOf } from '../openapi/document.js'
import { includedNames } from '../openapi/parameters.js'
import { boundsInWords } from '../openapi/property-schema.js'
import { docsPage, type DocsSite, resourcePageUrl } from './docs-page.js'
import { examplesSection } from './examples.js'
import { stateDiagrams, statesInWords } from './states.js'

/** The page of one resource. `all` are those that its caller sees. */
export function resourcePage(resource: Resource, all: readonly Resource[], site: DocsSite): string {
  const { base } = site
  const components = new NoComponents(all)
  const { name, description, publicReads, properties, navigations } = resource
  const listPath = `/${name}`
  const hasPages = resource.operations.includes('paged')
  const heading = hasPages ? link(`${base}${listPath}/paged`, escapeHtml(name)) : escapeHtml(name)
  return docsPage(
    name,
    `<h1>${heading}</h1>
<p>${escapeHtml(description)} Reads ${publicReads ? 'are public' : 'need a token'}.</p>
${examplesSection(resource, site)}
<h2>Routes</h2>
${table([
  ['Route', 'What it does'],
  ...routesOf(resource).map(({ method, path, summary }) => {
    // A browser that asks for the list may be a renderer's (contract.md section 8).
    const isLink = method === 'GET' && path !== listPath && !path.includes('{')
    return [isLink ? link(base + path, code(`GET ${path}`)) : code(`${method} ${path}`), escapeHtml(summary)]
  })
])}
${accessSection(resource)}
<h2>Fields</h2>
${table([['Field', 'Type', 'Takes part in'], ...[...properties, ...resource.writeOnly].map((one) => fieldRow(one, resource))])}
${operatorsSection(properties)}
${navigations.length === 0 ? '' : `<h2>Navigations</h2>\n${table([['Name', 'Rows', 'With'], ...navigations.map((one) => navigationRow(one, components, base))])}`}
${totalsSection(resource)}
${dryRunSection(resource)}
${actionsSection(resource)}`,
    { ...site, resources: all, current: name }
  )
}

/** Who may do what. */
function accessSection(resource: Resource): string {
  const { readAccess, writeAccess, writeAccesses, writesUnseen, operations, actions } = resource
  const writes = [...operations.filter((one) => WRITES.has(one)), ...(actions.length === 0 ? [] : ['actions'])]
  const rows = [
    ...readAccess.flatMap(({ operations: reads, access }) =>
      access === null ? [] : [[reads.map(code).join(', '), accessText(access)]]
    ),
    ...(writeAccess === null ? [] : [[writes.map(code).join(', '), accessText(writeAccess)]]),
    // Where single writes differ there is no access of all of them.
    ...(writeAccess === null ? writeAccesses : []).flatMap(({ operations: some, access }) =>
      access === null ? [] : [[some.map(code).join(', '), accessText(access)]]
    )
  ]
  // A data service of an earlier version tells no rules.
  if (rows.length === 0) return ownerNote(resource)
  return `<h2>Who may what</h2>
${table([['Operations', 'For'], ...rows])}
${writesUnseen ? '<p>A caller may write rows that a read by id does not show to the caller.</p>' : ''}
${ownerNote(resource)}`
}

const WRITES: ReadonlySet<string> = new Set([
  'create',
  'batch',
  'import',
  'update',
  'updateBatch',
  'delete',
  'deleteBatch'
])

/** Who is meant, and which rows, as HTML. */
function accessText({ kind, permission, property, parts }: Access): string {
  switch (kind) {
    case 'ACCESS_KIND_EVERYONE':
      return 'everyone, without a token too'
    case 'ACCESS_KIND_PERMISSION':
      return `callers with ${code(permission)}`
    case 'ACCESS_KIND_OWN_ROWS':
      return `owners: ${property === '' ? 'their own rows' : `the rows whose ${code(property)} is their own`}; all rows with the role that the service names for it`
    case 'ACCESS_KIND_ROWS':
      return 'the rows that a rule of the resource lets the caller see'
    case 'ACCESS_KIND_ANY_OF':
      return parts.map(accessText).join(', <em>or</em> ')
    case 'ACCESS_KIND_ALL_OF':
      return parts.map(accessText).join(', <em>and only</em> ')
    default:
      return 'callers whom the data service lets'
  }
}

/** The operators of each field that can be filtered by. */
function operatorsSection(properties: readonly Property[]): string {
  const filtered = properties.filter(({ filterable }) => filterable)
  if (filtered.length === 0) return ''
  return `<h2>Filters</h2>
${table([
  ['Field', 'Operators', 'Short names'],
  ...filtered.map(({ name, operators, operatorAliases }) => [
    code(name),
    escapeHtml(operators.join(', ')),
    operatorAliases.map(code).join(', ')
  ])
])}`
}

/** What rows can be grouped by, and what can be computed of each group. */
function totalsSection({ name, operations, totals }: Resource): string {
  if (totals === null || !operations.includes('totals')) return ''
  const { dimensions, measures } = totals
  const rowsOf = (parameter: string, properties: readonly Property[]): string[][] =>
    properties.map((one) => [code(parameter), code(one.name), escapeHtml(propertyTypeText(one))])
  return `<h2>Totals</h2>
<p>${code(`GET /${name}/totals`)} groups the rows that match by dimensions, and computes measures of each group.</p>
${table([['Parameter', 'Name', 'Type'], ...rowsOf('by', dimensions), ...rowsOf('measures', measures)])}`
}

/** That writes can be tried. */
function dryRunSection({ operations, actions }: Resource): string {
  // An import writes in several transactions.
  const isWritten = actions.length > 0 || operations.some((one) => WRITES.has(one) && one !== 'import')
  if (!isWritten) return ''
  return `<h2>Dry run</h2>
<p>With ${code('Prefer: tx=rollback')} the service tries a write, answers as the write would, and rolls everything back. ${code('Preference-Applied: tx=rollback')} confirms it. An import has no dry run.</p>`
}

/** The actions with their states, and pictures of the states. */
function actionsSection(resource: Resource): string {
  const { name, actions, deleteCondition } = resource
  const diagrams = stateDiagrams(resource)
  const deletes = deleteCondition === '' ? '' : `<p>${escapeHtml(deleteCondition)}</p>`
  if (actions.length === 0) return deletes
  return `<h2>Actions</h2>
<p>Each is ${code(`PUT /${name}/{id}/<action>`)} with ${code('If-Match')}, the ${code('ETag')} of the row.</p>
${diagrams}
${table([['Action', 'What it does', 'Body', 'For', 'From', 'To'], ...actions.map(actionRow)])}
${deletes}`
}

/** Names the operations that take the owner parameter. Empty if none does. */
function ownerNote({ ownerParameter, ownerFiltered, reads }: Resource): string {
  const operations = ownerFiltered.map((operation) => (operation === 'act' ? 'every action' : code(operation)))
  const own = reads.filter((read) => read.ownerFiltered).map(({ name }) => code(name))
  const filtered = [...operations, ...own]
  if (filtered.length === 0) return ''
  return `<p>${code(`?${ownerParameter}=…`)} names the owner of the rows, which is the caller, on ${filtered.join(', ')}.</p>`
}

function fieldRow(property: Property, { fullText }: Resource): string[] {
  const { name, filterable, sortable, searchable, setOnCreate, requiredOnCreate, setOnUpdate, preset } = property
  const { readableBy, writableBy, unique } = property
  const unread = property.writeOnly ? '; in no answer' : ''
  const uses = [
    ...(filterable ? ['filter'] : []),
    ...(sortable ? ['sort'] : []),
    ...(searchable ? [fullText ? 'search by words' : 'search'] : []),
    ...(unique ? ['a path by it'] : []),
    ...(setOnCreate ? [preset ? "create (the token's value)" : requiredOnCreate ? 'create (required)' : 'create'] : []),
    ...(setOnUpdate ? ['update'] : [])
  ]
  const writers = writableBy === '' ? '' : `, written by callers with ${code(writableBy)}`
  const readers = readableBy.length === 0 ? '' : `, for callers with ${readableBy.map(code).join(' and ')}`
  return [
    code(name),
    escapeHtml(propertyTypeText(property)),
    `${uses.length === 0 ? 'answers' : uses.join(', ')}${unread}${writers}${readers}`
  ]
}

/** `int from 1 to 1000`, `decimal(10,2) at least 0`, `string of 1 to 200`, each with `or null` if the field is nullable. */
function propertyTypeText(property: Property): string {
  const { type, nullable, precision, scale, words } = property
  const size = type === 'decimal' ? `(${precision},${scale})` : lengthText(property)
  const bounds = boundsInWords(property)
  const of = words.length === 0 ? '' : ` of ${words.join(', ')}`
  return `${type}${size}${of}${bounds === '' ? '' : ` ${bounds}`}${nullable ? ' or null' : ''}`
}

function lengthText({ minLength, maxLength }: Property): string {
  if (maxLength === 0) return ''
  return minLength === 0 ? ` up to ${maxLength}` : ` of ${minLength} to ${maxLength}`
}

function navigationRow(navigation: Navigation, components: NoComponents, base: string): string[] {
  const { name, kind, resource, properties, navigations } = navigation
  const includes = includedNames(components, navigation).map((one) => `include=${one}`)
  const withFlag = (flag: string): string => [`${flag}=true`, ...includes].map(code).join('<br>')
  // A resource that the caller may not call has no name here.
  const rows =
    resource === '' ? 'rows of another resource' : link(resourcePageUrl(base, resource), escapeHtml(resource))
  return kind === 'NAVIGATION_KIND_CHILDREN'
    ? [
        code(name),
        [...properties, ...navigations].map((child) => code(child.name)).join(', '),
        withFlag('includeChildren')
      ]
    : kind === 'NAVIGATION_KIND_MANY_TO_MANY'
      ? [code(name), `of ${rows}`, withFlag('includeChildren')]
      : [code(name), `one of ${rows}`, withFlag('includeFKs')]
}

function actionRow({ name, description, input, childPrecondition, permission, states, becomes }: Action): string[] {
  const members = [
    ...input.map((member) => `${code(member.name)} ${escapeHtml(propertyTypeText(member))}`),
    ...(childPrecondition === '' ? [] : [`${code(childPrecondition)} of the child`])
  ]
  return [
    code(name),
    escapeHtml(description),
    members.length === 0 ? 'none' : members.join('<br>'),
    permission === '' ? 'writers' : `writers with ${code(permission)}`,
    states.length === 0 ? 'any state' : escapeHtml(statesInWords(states)),
    becomes.length === 0 ? 'not said' : escapeHtml(statesInWords(becomes))
  ]
}

interface DocumentedRoute {
  readonly method: string
  readonly path: string
  readonly summary: string
}

/** The routes of a resource except its actions, as in the OpenAPI document. */
function routesOf(resource: Resource): DocumentedRoute[] {
  return operationsOf({ ...resource, actions: [] }, new NoComponents([])).map(({ method, path, document }) => ({
    method: method.toUpperCase(),
    path,
    summary: document.summary
  }))
}

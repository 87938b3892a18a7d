import fp from 'fastify-plugin'
import type { Catalogue } from '../data/catalogue.js'
import type { Action, Navigation, Operation, Property, Resource } from '../data/data-client.js'
import { ownerParameterOf } from '../entity-routes/paths.js'
import { code, escapeHtml, HTML_HEADERS, htmlPage, link, table } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import { answerOtherMethods } from '../server/methods.js'
import { operationsOf, seenByCaller } from './document.js'
import { boundsInWords } from './property-schema.js'

/** What the page says about where it is served. */
interface DocsPlace {
  /** The public base URL. */
  readonly base: string
  /** Whether browsers get lists and rows from a renderer. */
  readonly isRendered: boolean
}

/** The page that documents all resources for people. */
function docsOverview(
  { resources, operations }: { readonly resources: readonly Resource[]; readonly operations: readonly Operation[] },
  { base, isRendered }: DocsPlace
): string {
  return htmlPage(
    'Resources',
    `<h1>Resources</h1>
<p>Every resource has the same routes, parameters and answers below ${code(base)}. The whole contract, for programs, is in
${link(`${base}/openapi.json`, 'openapi.json')}. Every refusal has a code; ${link(`${base}/problems`, 'the problem pages')}
say what each means.</p>
<p>A resource with public reads needs no token to be read. Everything else takes
${code('Authorization: Bearer <access token>')}. ${code('POST /auth/login')} opens a session and answers an access token, and
${code('POST /auth/session/token')} a fresh one. An account is made by whoever runs the service, with
${code('uniform-rest account add <email>')}; ${code('POST /auth/password')} changes its password.</p>
${isRendered ? RENDERED : ''}
${table([
  ['Resource', 'What it holds', 'Reads'],
  ...resources.map(({ name, description, publicReads }) => [
    link(`#${name}`, escapeHtml(name)),
    escapeHtml(description),
    publicReads ? 'public' : 'token'
  ])
])}
${operations.length === 0 ? '' : operationsSection(operations)}
${filters(resources)}
${PAGES}
${resources.map((resource) => resourceSection(resource, base)).join('\n')}`
  )
}

const RENDERED = `<p>Lists and rows, ${code('/<resource>')} and ${code('/<resource>/<id>')}, answer programs in JSON and browsers with a page
of the site, where it has one. Every other route of a resource answers both alike.</p>`

function operationsSection(operations: readonly Operation[]): string {
  const token = ({ access, permission }: Operation): string =>
    access === 'everyone' ? 'public' : permission === '' ? 'token' : `token with ${code(permission)}`
  return `<section id="operations">
<h2>Operations</h2>
<p>What the application does beside its resources. Writes take ${code('Idempotency-Key')} as creates do.</p>
${table([
  ['Route', 'What it does', 'For'],
  ...operations.map((one) => [code(`${one.method} ${one.path}`), escapeHtml(one.description), token(one)])
])}
</section>`
}

function filters(resources: readonly Resource[]): string {
  return `<section id="filters">
<h2>Filters</h2>
<p>${code('filters[<field>].operator=…&filters[<field>].value=…')} on the paged route and on the export. All conditions
must hold. Letter case, spaces, ${code('_')} and ${code('-')} in an operator make no difference: ${code('startsWith')} is
${code('starts with')}. ${code('in')} and ${code('between')} take items with commas between.</p>
${table([['Type', 'Operators', 'In short'], ...operatorRows(resources)])}
</section>`
}

const PAGES = `<section id="pages">
<h2>Pages and words</h2>
<p>${code('X-Next-Cursor')} and ${code('X-Previous-Cursor')} of a page lead on as ${code('after=…')} and ${code('before=…')}, with the
same sort order and filters. A page by its cursor takes the same time however many rows are before it, and rows that come or
go meanwhile make no other row appear twice or not at all. ${code('sortColumn')} takes up to four names with commas between.</p>
<p>${code('search=…')} on the list, the paged route and the export keeps rows that contain every word, in at least one of the
fields that say so below.</p>
</section>`

/** One row for each type, with all operators that fields of the type have. */
function operatorRows(resources: readonly Resource[]): string[][] {
  const types = new Map<string, { readonly operators: Set<string>; readonly short: Set<string> }>()
  for (const { type, filterable, operators, operatorAliases } of resources.flatMap(({ properties }) => properties)) {
    if (!filterable) continue
    const of = types.get(type) ?? { operators: new Set(), short: new Set() }
    for (const operator of operators) of.operators.add(operator)
    for (const alias of operatorAliases) of.short.add(alias)
    types.set(type, of)
  }
  const sorted = [...types].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([type, { operators, short }]) => [
    code(type),
    escapeHtml([...operators].join(', ')),
    [...short].map(code).join(', ')
  ])
}

/** The section of one resource. */
function resourceSection(resource: Resource, base: string): string {
  const { name, description, publicReads, properties, navigations, actions } = resource
  const listPath = `/${name}`
  const hasPages = resource.operations.includes('paged')
  const heading = hasPages ? link(`${base}${listPath}/paged`, escapeHtml(name)) : escapeHtml(name)
  return `<section id="${escapeHtml(name)}">
<h2>${heading}</h2>
<p>${escapeHtml(description)} Reads ${publicReads ? 'are public' : 'need a token'}.</p>
<pre><code>${escapeHtml(exampleCall(resource, base))}</code></pre>
<h3>Routes</h3>
${table([
  ['Route', 'What it does'],
  ...routesOf(resource).map(({ method, path, summary }) => {
    // A browser that asks for the list may be a renderer's (contract.md section 8).
    const isLink = method === 'GET' && path !== listPath && !path.includes('{')
    return [isLink ? link(base + path, code(`GET ${path}`)) : code(`${method} ${path}`), escapeHtml(summary)]
  })
])}
${ownerNote(resource)}
<h3>Fields</h3>
${table([['Field', 'Type', 'Takes part in'], ...properties.map(fieldRow)])}
${navigations.length === 0 ? '' : `<h3>Navigations</h3>\n${table([['Name', 'Rows', 'With'], ...navigations.map(navigationRow)])}`}
${
  actions.length === 0
    ? ''
    : `<h3>Actions</h3>
<p>Each is ${code(`PUT /${name}/{id}/<action>`)} with ${code('If-Match')}, the ${code('ETag')} of the row.</p>
${table([['Action', 'What it does', 'Body'], ...actions.map(actionRow)])}`
}
</section>`
}

/** Names the operations that take the owner parameter. Empty if none does. */
function ownerNote({ ownerParameter, ownerFiltered, reads }: Resource): string {
  const operations = ownerFiltered.map((operation) => (operation === 'act' ? 'every action' : code(operation)))
  const own = reads.filter((read) => read.ownerFiltered).map(({ name }) => code(name))
  const filtered = [...operations, ...own]
  if (filtered.length === 0) return ''
  return `<p>${code(`?${ownerParameter}=…`)} names the owner whose rows are meant, the caller's own, on ${filtered.join(', ')}.</p>`
}

function fieldRow(property: Property): string[] {
  const { name, filterable, sortable, searchable, setOnCreate, requiredOnCreate, setOnUpdate, readableBy } = property
  const uses = [
    ...(filterable ? ['filter'] : []),
    ...(sortable ? ['sort'] : []),
    ...(searchable ? ['search'] : []),
    ...(setOnCreate ? [requiredOnCreate ? 'create (required)' : 'create'] : []),
    ...(setOnUpdate ? ['update'] : [])
  ]
  const readers = readableBy.length === 0 ? '' : `, for callers with ${readableBy.map(code).join(' and ')}`
  return [code(name), escapeHtml(typeText(property)), `${uses.length === 0 ? 'answers' : uses.join(', ')}${readers}`]
}

/** `int from 1 to 1000`, `decimal(10,2) at least 0`, `string of 1 to 200`, each with `or null` if the field is nullable. */
function typeText(property: Property): string {
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

function navigationRow({ name, kind, resource, properties, navigations }: Navigation): string[] {
  return kind === 'NAVIGATION_KIND_CHILDREN'
    ? [
        code(name),
        [...properties, ...navigations].map((child) => code(child.name)).join(', '),
        code('includeChildren=true')
      ]
    : kind === 'NAVIGATION_KIND_MANY_TO_MANY'
      ? [code(name), `of ${link(`#${resource}`, escapeHtml(resource))}`, code('includeChildren=true')]
      : [code(name), `one of ${link(`#${resource}`, escapeHtml(resource))}`, code('includeFKs=true')]
}

function actionRow({ name, description, input, childPrecondition }: Action): string[] {
  const members = [
    ...input.map((member) => `${code(member.name)} ${escapeHtml(typeText(member))}`),
    ...(childPrecondition === '' ? [] : [`${code(childPrecondition)} of the child`])
  ]
  return [code(name), escapeHtml(description), members.length === 0 ? 'none' : members.join('<br>')]
}

/** An example call for a shell, with a filter, a sort order and a selection of fields. */
function exampleCall(resource: Resource, base: string): string {
  const { name, label, properties, operations, publicReads } = resource
  const token = publicReads ? '' : ` -H "Authorization: Bearer $TOKEN"`
  if (!operations.includes('paged')) return `curl -i '${base}/${name}${query(owner(resource, 'list'))}'${token}`
  const byLabel = properties.find((one) => one.name === label && one.operators.includes('contains'))
  const sorted = properties.find((one) => one.sortable && one.name === label)
  const parameters = [
    ...(byLabel === undefined ? [] : [`filters[${label}].operator=contains`, `filters[${label}].value=a`]),
    ...(sorted === undefined ? [] : [`sortColumn=${sorted.name}`, 'sortDirection=desc']),
    ...owner(resource, 'paged'),
    'pageSize=5',
    `fields=${[...new Set(['id', label])].join(',')}`
  ]
  return `curl -gi '${base}/${name}/paged${query(parameters)}'${token}`
}

function owner(resource: Resource, operation: 'list' | 'paged'): string[] {
  const parameter = ownerParameterOf(resource, operation)
  return parameter === undefined ? [] : [`${parameter}=1`]
}

function query(parameters: readonly string[]): string {
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

interface Route {
  readonly method: string
  readonly path: string
  readonly summary: string
}

/** The routes of a resource except its actions, as in the OpenAPI document. */
function routesOf(resource: Resource): Route[] {
  return operationsOf({ ...resource, actions: [] }).map(({ method, path, document }) => ({
    method: method.toUpperCase(),
    path,
    summary: document.summary
  }))
}

/** `GET /docs`: the documentation of all resources for people, with what the caller may see. */
export const docsPage = fp<{ catalogue: Catalogue; address: PublicAddress; isRendered: boolean }>(
  async (app, { catalogue, address, isRendered }) => {
    const url = '/docs'
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const { resources, operations } = await seenByCaller(catalogue, request, reply)
      const page = docsOverview(
        { resources: [...resources.values()], operations },
        { base: address.baseFor(request), isRendered }
      )
      return reply.headers(HTML_HEADERS).send(page)
    })
  },
  { name: 'docs-page', dependencies: ['problem-responses'], fastify: '5.x' }
)

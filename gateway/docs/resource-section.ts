import type { Action, Navigation, Property, Resource } from '../data-calls.js'
import { code, escapeHtml, link, table } from '../html-page.js'
import { boundsInWords } from '../openapi/bounds.js'
import { exampleCall } from './example-call.js'
import { routesOf } from './routes-of.js'

/** All there is to say of one resource. */
export function resourceSection(resource: Resource, base: string): string {
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

/** Where the owner filter takes its parameter from the query; nothing where it does not. */
function ownerNote({ ownerParameter, ownerFiltered, reads }: Resource): string {
  const operations = ownerFiltered.map((operation) => (operation === 'act' ? 'every action' : code(operation)))
  const own = reads.filter((read) => read.ownerFiltered).map(({ name }) => code(name))
  const filtered = [...operations, ...own]
  if (filtered.length === 0) return ''
  return `<p>${code(`?${ownerParameter}=…`)} names the owner whose rows are meant, the caller's own, on ${filtered.join(', ')}.</p>`
}

function fieldRow(property: Property): string[] {
  const { name, filterable, sortable, setOnCreate, requiredOnCreate, setOnUpdate } = property
  const uses = [
    ...(filterable ? ['filter'] : []),
    ...(sortable ? ['sort'] : []),
    ...(setOnCreate ? [requiredOnCreate ? 'create (required)' : 'create'] : []),
    ...(setOnUpdate ? ['update'] : [])
  ]
  return [code(name), escapeHtml(typeText(property)), uses.length === 0 ? 'answers' : uses.join(', ')]
}

/** `int from 1 to 1000`, `decimal(10,2) at least 0`, `string of 1 to 200`, `or null` where that may be. */
function typeText(property: Property): string {
  const { type, nullable, precision, scale } = property
  const size = type === 'decimal' ? `(${precision},${scale})` : lengthText(property)
  const bounds = boundsInWords(property)
  return `${type}${size}${bounds === '' ? '' : ` ${bounds}`}${nullable ? ' or null' : ''}`
}

function lengthText({ minLength, maxLength }: Property): string {
  if (maxLength === 0) return ''
  return minLength === 0 ? ` up to ${maxLength}` : ` of ${minLength} to ${maxLength}`
}

function navigationRow({ name, kind, resource, properties }: Navigation): string[] {
  return kind === 'NAVIGATION_KIND_CHILDREN'
    ? [code(name), properties.map((child) => code(child.name)).join(', '), code('includeChildren=true')]
    : [code(name), `one of ${link(`#${resource}`, escapeHtml(resource))}`, code('includeFKs=true')]
}

function actionRow({ name, description, input, childPrecondition }: Action): string[] {
  const members = [
    ...input.map((member) => `${code(member.name)} ${escapeHtml(typeText(member))}`),
    ...(childPrecondition === '' ? [] : [`${code(childPrecondition)} of the child`])
  ]
  return [code(name), escapeHtml(description), members.length === 0 ? 'none' : members.join('<br>')]
}

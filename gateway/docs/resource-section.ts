import type { Action, Navigation, Property, Resource } from '../data-calls.js'
import { code, escapeHtml, link, table } from '../html-page.js'
import { exampleCall } from './example-call.js'
import { routesOf } from './routes-of.js'

/** All there is to say of one resource. */
export function resourceSection(resource: Resource, base: string): string {
  const { name, description, publicReads, properties, navigations, actions } = resource
  const list = resource.operations.includes('list') ? link(`${base}/${name}`, escapeHtml(name)) : escapeHtml(name)
  return `<section id="${escapeHtml(name)}">
<h2>${list}</h2>
<p>${escapeHtml(description)} Reads ${publicReads ? 'are public' : 'need a token'}.</p>
<pre><code>${escapeHtml(exampleCall(resource, base))}</code></pre>
<h3>Routes</h3>
${table([
  ['Route', 'What it does'],
  ...routesOf(resource).map(({ method, path, summary }) => {
    const isLink = method === 'GET' && !path.includes('{')
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

/** `decimal(10,2)`, `string up to 200`, `or null` where that may be. */
function typeText({ type, nullable, maxLength, precision, scale }: Property): string {
  const size = type === 'decimal' ? `(${precision},${scale})` : maxLength > 0 ? ` up to ${maxLength}` : ''
  return `${type}${size}${nullable ? ' or null' : ''}`
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

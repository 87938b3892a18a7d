import { inspect } from 'node:util'
import type { Resource } from '../data/data-client.js'
import { ownerParameterOf } from '../entity-routes/paths.js'
import { code, escapeHtml, link } from '../http/html-page.js'
import { exampleIn, exampleMembers, newRowExample } from '../openapi/examples.js'
import { settableProperties } from '../openapi/schemas.js'
import type { DocsSite } from './docs-page.js'

/** One call in three ways. */
interface Example {
  readonly title: string
  readonly curl: string
  readonly fetch: string
  readonly typed: string
}

/** Calls of the resource that can be copied: a read, a create and a change, as far as there are such. */
export function examplesSection(resource: Resource, { base, hasTryOut }: DocsSite): string {
  const examples = [readExample(resource, base), createExample(resource, base), changeExample(resource, base)]
  const sections = examples.flatMap((one) => (one === undefined ? [] : [exampleSection(one)]))
  if (sections.length === 0) return ''
  return `<h2>Examples</h2>
<p>${code('TOKEN')} is an environment variable with your own access token. ${hasTryOut ? copied(base) : TAKEN} It expires after some minutes. The typed client is
${code('@uniform-rest/client')}; ${code('uniform-rest client-types')} writes the file with its types.</p>
${sections.join('\n')}`
}

const copied = (base: string): string =>
  `${link(`${base}/docs/try`, 'Sign in')} and copy it there, or take it from the answer of ${code('POST /auth/login')}.`

const TAKEN = `Take it from the answer of ${code('POST /auth/login')}.`

function exampleSection({ title, curl, fetch, typed }: Example): string {
  const block = (caption: string, text: string): string =>
    `<figure><figcaption>${caption}</figcaption><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>`
  return `<h3>${title}</h3>
${block('curl', curl)}
<details><summary>fetch and the typed client</summary>
${block('fetch', fetch)}
${block('The typed client', typed)}
</details>`
}

const SHELL_TOKEN = ` -H "Authorization: Bearer $TOKEN"`
const FETCH_TOKEN = 'authorization: `Bearer ${process.env.TOKEN}`'
const FETCH_ANSWER = `if (!answer.ok) throw new Error((await answer.json()).detail)
console.log(await answer.json())`

/** A page with a filter, a sort order and a selection of fields, or the list of a resource without pages. */
function readExample(resource: Resource, base: string): Example | undefined {
  const { name, label, properties, operations, publicReads } = resource
  const isPaged = operations.includes('paged')
  if (!isPaged && !operations.includes('list')) return undefined
  const owner = ownerParameterOf(resource, isPaged ? 'paged' : 'list')
  const byLabel = properties.find((one) => one.name === label)
  const isFiltered = isPaged && byLabel?.operators.includes('contains') === true
  const isSorted = isPaged && byLabel?.sortable === true
  const fields = isPaged && resource.key.length > 0 ? [...new Set(['id', label])] : []
  const parameters = [
    ...(isFiltered ? [`filters[${label}].operator=contains`, `filters[${label}].value=a`] : []),
    ...(isSorted ? [`sortColumn=${label}`, 'sortDirection=desc'] : []),
    ...(owner === undefined ? [] : [`${owner}=1`]),
    ...(isPaged ? ['pageSize=5'] : []),
    ...(fields.length === 0 ? [] : [`fields=${fields.join(',')}`])
  ]
  const url = `${base}/${name}${isPaged ? '/paged' : ''}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`
  const query = {
    ...(isFiltered ? { where: { [label]: { contains: 'a' } } } : {}),
    ...(isSorted ? { sort: [`-${label}`] } : {}),
    ...(isPaged ? { pageSize: 5 } : {}),
    ...(fields.length === 0 ? {} : { fields }),
    ...(owner === undefined ? {} : { parameters: { [owner]: 1 } })
  }
  const text = Object.keys(query).length === 0 ? '' : literal(query)
  return {
    title: isPaged ? 'Read a page' : 'Read the list',
    curl: `curl -gi '${url}'${publicReads ? '' : SHELL_TOKEN}`,
    fetch: `const answer = await fetch(${literal(url)}${publicReads ? '' : `, { headers: { ${FETCH_TOKEN} } }`})
${FETCH_ANSWER}`,
    typed: `${clientLines(base, publicReads)}
console.log(await client.resource(${literal(name)}).${isPaged ? 'page' : 'list'}(${text}))`
  }
}

/** undefined where a value that the create needs has no example. */
function createExample(resource: Resource, base: string): Example | undefined {
  const { name, operations } = resource
  const body = operations.includes('create') ? newRowExample(resource) : undefined
  if (body === undefined) return undefined
  const url = `${base}/${name}`
  return {
    title: 'Create a row',
    curl: `curl -i '${url}'${SHELL_TOKEN} -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(date +%s)" -d ${quoted(JSON.stringify(body))}`,
    fetch: `const answer = await fetch(${literal(url)}, {
  method: 'POST',
  headers: {
    ${FETCH_TOKEN},
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID()
  },
  body: JSON.stringify(${literal(body)})
})
${FETCH_ANSWER}`,
    typed: `${clientLines(base, false)}
console.log(await client.resource(${literal(name)}).create(${literal(body)}))`
  }
}

/** A change of one property, with the version of the row that was read before. */
function changeExample(resource: Resource, base: string): Example | undefined {
  const { name, operations, properties } = resource
  // The example of a unique property may be the value of another row.
  const settable = settableProperties(resource, 'setOnUpdate')
  const first = settable.find(({ unique }) => !unique) ?? settable[0]
  const identity = properties.find((one) => one.name === 'id')
  const id = identity && exampleIn(identity)
  const body = first && exampleMembers([first])
  if (body === undefined || (typeof id !== 'number' && typeof id !== 'string')) return undefined
  if (!operations.includes('update') || !operations.includes('get')) return undefined
  const url = `${base}/${name}/${encodeURIComponent(id)}`
  return {
    title: 'Change a row',
    curl: `ETAG=$(curl -s -o /dev/null -w '%header{etag}' '${url}'${SHELL_TOKEN})
curl -i -X PATCH '${url}'${SHELL_TOKEN} -H "If-Match: $ETAG" \\
  -H 'Content-Type: application/merge-patch+json' -d ${quoted(JSON.stringify(body))}`,
    fetch: `const url = ${literal(url)}
const headers = { ${FETCH_TOKEN} }
const row = await fetch(url, { headers })
const answer = await fetch(url, {
  method: 'PATCH',
  headers: {
    ...headers,
    'content-type': 'application/merge-patch+json',
    'if-match': row.headers.get('etag')
  },
  body: JSON.stringify(${literal(body)})
})
${FETCH_ANSWER}`,
    typed: `${clientLines(base, false)}
const rows = client.resource(${literal(name)})
const row = await rows.get(${literal(id)})
console.log(await rows.patch(row, ${literal(body)}))`
  }
}

function clientLines(base: string, isPublic: boolean): string {
  const token = isPublic ? '' : ', token: () => process.env.TOKEN'
  // Put together, so that what reads the imports of this file takes them for none.
  return `import { createClient } from ${literal('@uniform-rest/client')}
import type { Application } from ${literal('./store.js')}

const client = createClient<Application>({ baseUrl: ${literal(base)}${token} })`
}

/** The value as JavaScript. */
function literal(value: unknown): string {
  return inspect(value, { depth: null, breakLength: 100, maxArrayLength: null, maxStringLength: null })
}

/** The text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

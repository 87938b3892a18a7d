import { MAX_GROUPS } from '../../shared/request-limits.js'
import type { Operation, Resource } from '../data/data-client.js'
import { code, escapeHtml, link, table } from '../http/html-page.js'
import { docsPage, type DocsSite, resourcePageUrl } from './docs-page.js'

/** What the pages say about where they are served. */
export interface DocsPlace extends DocsSite {
  /** Whether browsers get lists and rows from a renderer. */
  readonly isRendered: boolean
  /** Whether everybody sees every resource. */
  readonly isPublic: boolean
}

/** The page that leads to everything else. A link to `/docs#products` still finds the resource. */
export function docsOverview(
  { resources, operations }: { readonly resources: readonly Resource[]; readonly operations: readonly Operation[] },
  { base, hasTryOut, isRendered, isPublic }: DocsPlace
): string {
  return docsPage(
    'Resources',
    `<h1>Resources</h1>
<p>Every resource has the same routes, parameters and answers below ${code(base)}.
${hasTryOut ? `${link(`${base}/docs/try`, 'Try them out')} in the browser, with your own account. ` : ''}The whole contract, for programs, is in
${link(`${base}/openapi.json`, 'openapi.json')}. Every error has a code; ${link(`${base}/problems`, 'the problem pages')}
explain each.</p>
<p>A resource with public reads needs no token to be read. Everything else takes
${code('Authorization: Bearer <access token>')}. ${code('POST /auth/login')} opens a session and answers an access token, and
${code('POST /auth/session/token')} a fresh one. The operator of the service makes accounts with
${code('uniform-rest account add <email>')}, or, where sign-up is set up, people make their own with ${code('POST /auth/sign-up')}; ${code('POST /auth/password')} changes its password.</p>
${isRendered ? RENDERED : ''}
${isPublic ? '' : ofCaller({ base, hasTryOut })}
${table([
  ['Resource', 'What it holds', 'Reads'],
  ...resources.map(({ name, description, publicReads }) => [
    `<a id="${escapeHtml(name)}" href="${escapeHtml(resourcePageUrl(base, name))}">${escapeHtml(name)}</a>`,
    escapeHtml(description),
    publicReads ? 'public' : 'token'
  ])
])}
${operations.length === 0 ? '' : operationsSection(operations)}
${filters(resources)}
${PAGES_SECTION}`,
    { base, hasTryOut, resources }
  )
}

const RENDERED = `<p>Lists and rows, ${code('/<resource>')} and ${code('/<resource>/<id>')}, answer programs in JSON and browsers with a page
of the site, where it has one. Every other route of a resource answers both alike.</p>`

/** A browser that opens the page sends no token. */
function ofCaller({ base, hasTryOut }: DocsSite): string {
  const more = hasTryOut ? ` ${link(`${base}/docs/try`, 'Sign in')} to see what your account may.` : ''
  return `<p>This page shows what you may read or write. A browser sends no access token with it, and then it shows what everybody
may read or write.${more}</p>`
}

function operationsSection(operations: readonly Operation[]): string {
  const token = ({ access, permission }: Operation): string =>
    access === 'everyone' ? 'public' : permission === '' ? 'token' : `token with ${code(permission)}`
  return `<section id="operations">
<h2>Operations</h2>
<p>Calls of the application that belong to no resource. Writes take ${code('Idempotency-Key')} as creates do.</p>
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
must hold. ${code('anyOf[1].filters[<field>].operator=…&anyOf[1].filters[<field>].value=…')} is a condition of group 1, of up to
${String(MAX_GROUPS)}: of each group one at least must hold. Letter case, spaces, ${code('_')} and ${code('-')} in an operator make no difference: ${code('startsWith')} is
${code('starts with')}. ${code('in')} and ${code('between')} take items with commas between. The page of a resource has the
operators of each of its fields.</p>
${table([['Type', 'Operators', 'Short names'], ...operatorRows(resources)])}
</section>`
}

const PAGES_SECTION = `<section id="pages">
<h2>Pages and words</h2>
<p>${code('X-Next-Cursor')} and ${code('X-Previous-Cursor')} of a page lead on as ${code('after=…')} and ${code('before=…')}, with the
same sort order and filters. A page by its cursor takes the same time for any number of rows before it. If rows are created or
deleted meanwhile, every other row still appears exactly once. ${code('sortColumn')} takes up to four names with commas between.</p>
<p>${code('search=…')} on the list, the paged route and the export keeps rows that contain every word, in at least one of the
fields that the page of the resource says are searched: somewhere in its text, or as the beginning of a word where the page
says so.</p>
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

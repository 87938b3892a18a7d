import type { Resource } from '../data-calls.js'
import { code, escapeHtml, htmlPage, link, table } from '../html-page.js'
import { resourceSection } from './resource-section.js'

/** Where the page stands. */
export interface DocsPlace {
  /** Public base URL. */
  readonly base: string
  /** Whether browsers get lists and rows from a renderer. */
  readonly isRendered: boolean
}

/** The page of everything that is served, for people. */
export function docsOverview(resources: readonly Resource[], { base, isRendered }: DocsPlace): string {
  return htmlPage(
    'Resources',
    `<h1>Resources</h1>
<p>Every resource has the same routes, parameters and answers below ${code(base)}. The whole contract, for programs, is in
${link(`${base}/openapi.json`, 'openapi.json')}. Every refusal has a code; ${link(`${base}/problems`, 'the problem pages')}
say what each means.</p>
<p>A resource with public reads needs no token to be read. Everything else takes
${code('Authorization: Bearer <access token>')}.</p>
${isRendered ? RENDERED : ''}
${table([
  ['Resource', 'What it holds', 'Reads'],
  ...resources.map(({ name, description, publicReads }) => [
    link(`#${name}`, escapeHtml(name)),
    escapeHtml(description),
    publicReads ? 'public' : 'token'
  ])
])}
${filters(resources)}
${resources.map((resource) => resourceSection(resource, base)).join('\n')}`
  )
}

const RENDERED = `<p>Lists and rows, ${code('/<resource>')} and ${code('/<resource>/<id>')}, answer programs in JSON and browsers with a page
of the site, where it has one. Every other route of a resource answers both alike.</p>`

function filters(resources: readonly Resource[]): string {
  return `<section id="filters">
<h2>Filters</h2>
<p>${code('filters[<field>].operator=…&filters[<field>].value=…')} on the paged route and on the export. All conditions
must hold. Letter case, spaces, ${code('_')} and ${code('-')} in an operator make no difference: ${code('startsWith')} is
${code('starts with')}. ${code('in')} and ${code('between')} take items with commas between.</p>
${table([['Type', 'Operators', 'In short'], ...operatorRows(resources)])}
</section>`
}

/** Of each type every operator that some field of it has. */
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

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Operation, Resource } from '../data/data-client.js'
import { code, escapeHtml, HTML_HEADERS, link, PAGE_STYLE, pagePolicy } from '../http/html-page.js'
import { docsPage, type DocsFrame, resourcePageUrl } from './docs-page.js'

/** The script of the page, which stands in the page: nothing is loaded, and the search works without a network. */
export interface SearchScript {
  readonly text: string
  /** Those of a page of the documentation, which allow this script too, by its hash. */
  readonly headers: Readonly<Record<string, string>>
}

export async function readSearchScript(): Promise<SearchScript> {
  const file = await readFile(new URL('./browser/search.js', import.meta.url), 'utf8')
  const text = file.replace(/^\/\/# sourceMappingURL=.*$/m, '')
  const hash = createHash('sha256').update(text).digest('base64')
  return {
    text,
    headers: {
      ...HTML_HEADERS,
      'content-security-policy': pagePolicy(`script-src 'sha256-${hash}'`, `style-src ${PAGE_STYLE}`)
    }
  }
}

/** The index of everything that the caller sees. Without scripts it is a list that the browser's own search finds words in. */
export function searchPage(script: SearchScript, operations: readonly Operation[], frame: DocsFrame): string {
  const { base, resources } = frame
  const items = [
    ...resources.map((one) => entry(resourcePageUrl(base, one.name), one, wordsOf(one))),
    ...operations.map(({ method, path, description }) =>
      entry(`${base}/docs#operations`, { name: `${method} ${path}`, description }, [])
    )
  ]
  return docsPage(
    'Search',
    `<h1>Search</h1>
<div role="search" hidden>
<label for="words">Words of a resource, a field, a navigation, an action or an operation</label>
<input id="words" type="search" autocomplete="off" spellcheck="false">
</div>
<p id="count" role="status">${String(items.length)} entries</p>
<ul id="index">
${items.join('\n')}
</ul>
<script type="module">${script.text}</script>`,
    frame
  )
}

function entry(
  href: string,
  { name, description }: Pick<Resource, 'name' | 'description'>,
  words: readonly string[]
): string {
  const more = words.length === 0 ? '' : `\n<p class="quiet">${words.map(code).join(' ')}</p>`
  return `<li>${link(href, escapeHtml(name))}\n<p>${escapeHtml(description)}</p>${more}</li>`
}

function wordsOf({ properties, writeOnly, navigations, actions, reads }: Resource): string[] {
  return [...properties, ...writeOnly, ...navigations, ...actions, ...reads].map(({ name }) => name)
}

import type { Resource } from '../data/data-client.js'
import { escapeHtml, htmlPage, link } from '../http/html-page.js'

/** What all pages of a gateway say about where they are served. */
export interface DocsSite {
  /** The public base URL. */
  readonly base: string
  /** Whether `/docs/try` is served. */
  readonly hasTryOut: boolean
}

/** Where a page of the documentation is, and what it leads to. */
export interface DocsFrame extends DocsSite {
  /** Those that the caller sees. */
  readonly resources: readonly Resource[]
  /** The resource that the page is about. */
  readonly current?: string
}

/** Where the page of a resource is. The segment before its name keeps names such as `try` apart from other pages. */
export function resourcePageUrl(base: string, resource: string): string {
  return `${base}/docs/resources/${resource}`
}

/**
 * A page of the documentation, `body` in HTML. Its navigation stands after the content, so that a phone and a screen reader
 * come to the content first, whatever the number of resources.
 */
export function docsPage(title: string, body: string, { base, hasTryOut, resources, current }: DocsFrame): string {
  const item = ({ name }: Resource): string => {
    const here = name === current ? ' aria-current="page"' : ''
    return `<li><a href="${escapeHtml(resourcePageUrl(base, name))}"${here}>${escapeHtml(name)}</a></li>`
  }
  return htmlPage(title, body, {
    before: `<header>
<nav aria-label="Documentation">
${link(`${base}/docs`, 'Overview')}
<a href="#all">All resources</a>
${link(`${base}/docs/search`, 'Search')}
${hasTryOut ? `${link(`${base}/docs/try`, 'Try it out')}\n` : ''}${link(`${base}/problems`, 'Problems')}
</nav>
</header>`,
    after: `<nav id="all" aria-label="Resources">
<h2>Resources</h2>
<ul>
${resources.map(item).join('\n')}
</ul>
</nav>`
  })
}

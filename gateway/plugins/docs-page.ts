import fp from 'fastify-plugin'
import type { Catalogue } from '../catalogue.js'
import type { Resource } from '../data-calls.js'
import { escapeHtml, HTML_HEADERS, htmlPage } from '../html-page.js'
import type { PublicAddress } from '../public-address.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'

/** `GET /docs`: what is served here, for people. */
export const docsPage = fp<{ catalogue: Catalogue; address: PublicAddress }>(
  async (app, { catalogue, address }) => {
    const url = '/docs'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) =>
      reply.headers(HTML_HEADERS).send(overview([...catalogue.current.resources.values()], address.baseFor(request)))
    )
  },
  { name: 'docs-page', dependencies: ['problem-responses'], fastify: '5.x' }
)

function overview(resources: readonly Resource[], base: string): string {
  const rows = resources.map(
    ({ name, description, publicReads }) =>
      `<tr><td><code>/${escapeHtml(name)}</code></td><td>${escapeHtml(description)}</td>` +
      `<td>${publicReads ? 'public' : 'bearer token'}</td></tr>`
  )
  return htmlPage(
    'Resources',
    `<h1>Resources</h1>
<p>Each has the same routes below <code>${escapeHtml(base)}</code>. The whole contract is in
<a href="${escapeHtml(base)}/openapi.json">openapi.json</a>.</p>
<table>
<tr><th>Path</th><th>What it holds</th><th>Reads</th></tr>
${rows.join('\n')}
</table>`
  )
}

import fp from 'fastify-plugin'
import { DomainError, ERROR_CODES, type ErrorCode, errorKind, isErrorCode } from '../../shared/errors.js'
import { escapeHtml, HTML_HEADERS, htmlPage, link, prose, table } from '../http/html-page.js'
import type { KeptTexts } from '../http/kept-texts.js'
import type { PublicAddress } from '../http/public-address.js'
import { answerOtherMethods } from './methods.js'

/** `GET /problems/{code}`: the page that the `type` of a problem document leads to. `GET /problems` lists them. */
export const problemPages = fp<{ address: PublicAddress; hasDocs: boolean; texts: KeptTexts }>(
  async (app, { address, hasDocs, texts }) => {
    const docs = hasDocs ? 'docs' : 'openapi.json'
    answerOtherMethods(app, { url: '/problems', routed: ['GET', 'HEAD'] })
    app.get('/problems', async (request, reply) => {
      const base = address.baseFor(request)
      return reply.headers(HTML_HEADERS).send(texts.of(`problems ${base}`, () => index(base, docs)).body)
    })

    const url = '/problems/:code'
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get<{ Params: { code: string } }>(url, async (request, reply) => {
      const { code } = request.params
      if (!isErrorCode(code)) throw new DomainError('route.not-found', 'There is no problem of this name.')
      const base = address.baseFor(request)
      const { body } = texts.of(`problem ${code} ${base}`, () => explanationPage(code, base, docs))
      return reply.headers(HTML_HEADERS).send(body)
    })
  },
  { name: 'problem-pages', dependencies: ['problem-responses'], fastify: '5.x' }
)

function index(base: string, docs: string): string {
  return htmlPage(
    'Problems',
    `<h1>Problems</h1>
<p>Every error is a problem document (RFC 9457) with one of these codes. The resources and routes are in
${link(`${base}/${docs}`, 'the docs')}.</p>
${table([
  ['Code', 'Status', 'What happened'],
  ...ERROR_CODES.map((code) => {
    const { http, meaning } = errorKind(code)
    return [link(`${base}/problems/${code}`, escapeHtml(code)), String(http), prose(meaning)]
  })
])}`
  )
}

function explanationPage(code: ErrorCode, base: string, docs: string): string {
  const { http, title, meaning, remedy } = errorKind(code)
  return htmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p><code>${escapeHtml(code)}</code>, HTTP status ${http}</p>
<h2>What happened</h2>
<p>${prose(meaning)}</p>
<h2>What to do</h2>
<p>${prose(remedy)}</p>
<p>${link(`${base}/problems`, 'All problems')}, ${link(`${base}/${docs}`, 'resources and routes')}</p>`
  )
}

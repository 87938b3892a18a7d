import fp from 'fastify-plugin'
import { DomainError } from '../../shared/domain-error.js'
import { isErrorCode, type ErrorCode } from '../../shared/error-code.js'
import { escapeHtml, HTML_HEADERS, htmlPage, prose } from '../html-page.js'
import { PROBLEM_KINDS } from '../problem-details.js'
import { PROBLEM_EXPLANATIONS } from '../problem-explanations.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'

/** `GET /problems/{code}`: the page that the `type` of a problem document leads to. */
export const problemPages = fp(
  async (app) => {
    const url = '/problems/:code'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get<{ Params: { code: string } }>(url, async (request, reply) => {
      const { code } = request.params
      if (!isErrorCode(code)) throw new DomainError('route.not-found', 'There is no problem of this name.')
      return reply.headers(HTML_HEADERS).send(explanation(code))
    })
  },
  { name: 'problem-pages', dependencies: ['problem-responses'], fastify: '5.x' }
)

function explanation(code: ErrorCode): string {
  const { status, title } = PROBLEM_KINDS[code]
  const { meaning, remedy } = PROBLEM_EXPLANATIONS[code]
  return htmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p><code>${escapeHtml(code)}</code>, HTTP status ${status}</p>
<h2>What happened</h2>
<p>${prose(meaning)}</p>
<h2>What to do</h2>
<p>${prose(remedy)}</p>`
  )
}

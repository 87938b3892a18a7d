import { ConnectionCuts } from '../harness/connection-cuts.js'
import { DocumentCheck } from '../harness/document-check.js'
import { type Answer, call as send, type CallOptions } from '../stack/http-call.js'

export { type Answer, type CallOptions, filter } from '../stack/http-call.js'

/**
 * One HTTP exchange. In a run with cuts the connection behind the gateway may be cut while it is under way, and in a run
 * with the OpenAPI document it is held against that.
 */
export async function call(base: string, target: string, options: CallOptions = {}): Promise<Answer> {
  const cuts = ConnectionCuts.behind(base)
  const attempt = (): Promise<Answer> => send(base, target, options)
  const answer = await (cuts === undefined ? attempt() : cuts.send({ target, ...options }, attempt))
  await DocumentCheck.of(base)?.check(base, { target, ...options }, answer)
  return answer
}

/** The body as JSON. */
export function json(answer: Answer): unknown {
  return JSON.parse(answer.text)
}

/** The ids of an array body, in order. */
export function ids(answer: Answer): unknown[] {
  const body: unknown = JSON.parse(answer.text)
  if (!Array.isArray(body)) throw new Error(`no array: ${answer.status} ${answer.text.slice(0, 500)}`)
  return body.map((item: { readonly id?: unknown }) => item.id)
}

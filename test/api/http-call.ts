import { ConnectionCuts } from '../harness/connection-cuts.js'
import { type Answer, call as send, type CallOptions } from '../stack/http-call.js'

export { type Answer, type CallOptions, filter } from '../stack/http-call.js'

/** One HTTP exchange. In a run with cuts the connection behind the gateway may be cut while it is under way. */
export function call(base: string, target: string, options: CallOptions = {}): Promise<Answer> {
  const cuts = ConnectionCuts.behind(base)
  const attempt = (): Promise<Answer> => send(base, target, options)
  return cuts === undefined ? attempt() : cuts.send({ target, ...options }, attempt)
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

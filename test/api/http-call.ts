import type { Answer } from '../stack/http-call.js'

export { type Answer, call, type CallOptions, filter } from '../stack/http-call.js'

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

import type { Exchange } from '../../history.js'
import { pathOf } from '../chains.js'
import { type JsonObject, objectOf, objectsOf } from '../json.js'

/** Members that an action sets in the row, by its name and the resource; those of others are of children, or amounts. */
const SET_BY_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'bookmarks annotate': ['note'],
  'subscriptions change-plan': ['plan'],
  'orders ship': ['trackingCode'],
  'orders update-shipment': ['trackingCode']
}

/** The states that actions lead to, by domain.md. */
const LED_TO: Readonly<Record<string, string>> = { 'orders pay': 'paid', 'orders cancel': 'cancelled' }

/** What is wrong with a create's answer of 201; each completes `r-1 …`. */
export function* faultsOfCreate(exchange: Exchange): Generator<string> {
  const { request, answer } = exchange
  const sent: unknown = JSON.parse(request.body ?? 'null')
  const shown = objectsOf(exchange)
  if (Array.isArray(sent)) {
    if (shown.length !== sent.length) {
      yield `asked for ${sent.length} rows and is answered with ${shown.length}`
      return
    }
  } else {
    const { id, rowVersion } = objectOf(exchange)
    const { location = '', etag } = answer?.headers ?? {}
    if (!URL.canParse(location) || new URL(location).pathname !== `${request.target}/${String(id)}`)
      yield `has created a row with the id ${String(id)} and has the Location ${JSON.stringify(location)}`
    if (etag !== `W/"${String(rowVersion)}"`)
      yield `has created the version ${String(rowVersion)} and has the ETag ${String(etag)}`
  }
  for (const [n, members] of ([sent].flat() as readonly JsonObject[]).entries()) {
    const fault = differenceOf(members, shown[n])
    if (fault === undefined) continue
    yield fault
    return
  }
}

/** What is wrong with the answer of 200 to a PUT, a PATCH or an action; each completes `r-1 …`. */
export function* faultsOfUpdate(exchange: Exchange): Generator<string> {
  const { request } = exchange
  const [resource, rowId, action] = pathOf(exchange)
  if (request.method !== 'PUT' && request.method !== 'PATCH') return
  const shown = objectOf(exchange)
  if (String(shown['id']) !== rowId) yield `has written ${resource}/${rowId} and is shown ${String(shown['id'])}`
  const sent = JSON.parse(request.body ?? '{}') as JsonObject
  const members = action === undefined ? Object.keys(sent) : (SET_BY_ACTIONS[`${resource} ${action}`] ?? [])
  const state = LED_TO[`${resource} ${action}`]
  const set = Object.fromEntries(members.map((name) => [name, sent[name]]))
  const fault = differenceOf(state === undefined ? set : { ...set, status: state }, shown)
  if (fault !== undefined) yield fault
}

/** The first member that is not shown as it was sent. Children are shown where they are asked for. */
function differenceOf(sent: JsonObject, shown: JsonObject | undefined): string | undefined {
  for (const [name, value] of Object.entries(sent)) {
    if (value === undefined || (typeof value === 'object' && value !== null)) continue
    const [text, found] = [JSON.stringify(value), JSON.stringify(shown?.[name])]
    if (found !== text) return `has sent ${name} ${text} and is shown ${found}`
  }
  return undefined
}

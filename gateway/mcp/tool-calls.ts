import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { DispatchFunc, InjectOptions, Response } from 'light-my-request'
import { DomainError } from '../../shared/errors.js'
import { type Cancellation, raceAbort } from '../../shared/transport/cancellation.js'
import type { LiveCatalogue } from '../data/catalogue.js'
import type { Resource } from '../data/data-client.js'
import { customReadNamed, FIXED_SEGMENTS } from '../entity-routes/paths.js'
import type { ApiRequest, RowTool, ToolArguments } from './tools.js'

// A tool runs as the request of the API that it stands for, by the same routes: what they check and bound is checked and
// bound, and there is no second way to the rows.

/** What comes along with every request of a call. */
export interface CallerOfTools {
  readonly authorization: string
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly clientAddress: string
  /** Aborted when the agent goes away. */
  readonly signal: Cancellation
}

/** What a tool answers: JSON. */
export interface ToolAnswer {
  readonly text: string
  readonly isError: boolean
}

export interface ToolCallDeps {
  readonly app: Pick<FastifyInstance, 'routing'>
  /** Sends a request through the routes, without a connection. That of Fastify refuses while the gateway ends. */
  readonly inject: (dispatch: DispatchFunc, request: InjectOptions) => Promise<Response>
  readonly catalogue: LiveCatalogue
  /** The path that all routes are below; `''` for none. */
  readonly prefix: string
}

/** UTF-16 units of an answer: an agent cannot read more, and it is copied several times on its way. */
const MAX_ANSWER = 512 * 1024

/** What refuses a call before it is a request. */
export function refusalOf(
  sent: ToolArguments,
  { tool, catalogue }: { tool: RowTool; catalogue: LiveCatalogue }
): ToolAnswer | undefined {
  const resource = catalogue.find(sent.resource)
  if (resource === undefined || namesNoRow(sent, { resource, tool }))
    return toolError({ code: 'not-found', detail: NOT_THERE })
  if (sent.owner === undefined || resource.ownerParameter !== '') return undefined
  return toolError({ code: 'arguments.invalid', detail: 'The resource has no owner parameter.', errors: [NO_OWNER] })
}

/**
 * Calls a tool with arguments that were checked. Resolves with what went wrong, too. Rejects with `auth.invalid-token`, which is
 * about no tool, and when the agent has gone.
 */
export async function callTool(
  { app, inject, catalogue, prefix }: ToolCallDeps,
  { tool, sent }: { readonly tool: RowTool; readonly sent: ToolArguments },
  caller: CallerOfTools
): Promise<ToolAnswer> {
  const { resource, owner, ...rest } = sent
  const { method, path, query = [], headers = {}, body, dryRun = false } = tool.request(rest as never) // It checked them.
  const ofOwner = owner === undefined ? [] : [[catalogue.find(resource)?.ownerParameter ?? '', String(owner)] as const]
  let running: ServerResponse | undefined
  const dispatch: DispatchFunc = (request, response) => {
    running = response
    app.routing(request, response)
  }
  // Of a read that nobody waits for the statement ends. A write goes on: a retry with its key finds it done.
  const whenGone = {
    handleEvent: (): void => {
      running?.socket?.destroy()
      running?.destroy()
    }
  }
  if (!tool.writes) caller.signal.addEventListener('abort', whenGone)
  const answered = inject(dispatch, {
    method,
    url: `${prefix}/${resource}${path}${queryText([...query, ...ofOwner])}`,
    remoteAddress: caller.clientAddress,
    headers: {
      accept: 'application/json',
      authorization: caller.authorization,
      'x-request-id': caller.requestId,
      prefer: dryRun ? 'handling=strict, tx=rollback' : 'handling=strict',
      ...(caller.traceparent === undefined ? {} : { traceparent: caller.traceparent }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) })
  })
  const { statusCode: status, ...response } = await (
    tool.writes ? answered : raceAbort(answered, caller.signal)
  ).finally(() => caller.signal.removeEventListener('abort', whenGone))
  if (status === 401) throw new DomainError('auth.invalid-token', 'The access token is not valid, or not any more.')
  if (status >= 300) return problemAnswer(response)
  const { body: json, headers: told } = response
  const text = tool.answer({ text: json, headers: told })
  if (text.length <= MAX_ANSWER) return { text, isError: false }
  if (tool.writes) return { text: tool.answer({ text: json, headers: told, isOmitted: true }), isError: false }
  return toolError({ code: 'answer.too-large', detail: TOO_LARGE })
}

const NO_OWNER = { pointer: '/owner', detail: 'is for resources with an `ownerParameter`.' }
const NOT_THERE = 'There is no such row, or you may not see it.'
const TOO_LARGE =
  'The answer is longer than 524,288 characters. Ask for fewer rows with `limit`, or for less of each with `fields`.'

/** Whether the id is a path of something else than a row. */
function namesNoRow({ id }: ToolArguments, { resource, tool }: { resource: Resource; tool: RowTool }): boolean {
  if (id === undefined) return false
  const segment = String(id)
  if (tool.writes && segment === 'batch') return true
  return FIXED_SEGMENTS.includes(segment) || customReadNamed(resource, segment) !== undefined
}

function queryText(query: NonNullable<ApiRequest['query']>): string {
  if (query.length === 0) return ''
  return `?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`
}

/** A problem as the error of a tool. */
interface ToolProblem {
  readonly code: string
  readonly detail: string
  readonly errors?: unknown
}

export function toolError(problem: ToolProblem): ToolAnswer {
  const advice = ADVICE[problem.code]
  return { text: JSON.stringify({ ...problem, ...(advice === undefined ? {} : { advice }) }), isError: true }
}

/** What an agent does next, by the code of the problem. */
const ADVICE: Readonly<Record<string, string>> = {
  conflict:
    'Read the row with get_row, look at what is different now, and repeat the call with the new rowVersion only if the change is still right.',
  'state.invalid':
    'Read the row: its state does not allow this. describe_resources lists the states that an action needs.',
  'idempotency.key.reused': 'This idempotencyKey belongs to another call. Use a new one for a new intention.',
  'idempotency.in-flight': 'The first call with this idempotencyKey still runs. Wait, and send the same call again.',
  'upstream.unavailable': 'Wait a moment, and send the same call again, with the same idempotencyKey if it had one.',
  'upstream.timeout': 'Send the same call again, with the same idempotencyKey if it had one.',
  'quota-exceeded': 'Wait, and send the same call again.',
  'capability.denied': 'This account may not do that. Do not try again.',
  'filter.property.unknown': 'describe_resources lists the properties of a resource and the operators of each.',
  'filter.operator.unsupported': 'describe_resources lists the operators of each property.'
}

/** What people and programs of HTTP need of a problem document, and an agent does not. */
const OF_HTTP = ['type', 'title', 'status', 'instance']

function problemAnswer({ body, headers }: { readonly body: string; readonly headers: object }): ToolAnswer {
  const document = JSON.parse(body) as ToolProblem & Readonly<Record<string, unknown>> // Every error is a problem document.
  const retryAfter: unknown = Object.getOwnPropertyDescriptor(headers, 'retry-after')?.value
  const members = Object.entries(document).filter(([name]) => !OF_HTTP.includes(name))
  const further = retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }
  return toolError({ ...(Object.fromEntries(members) as unknown as ToolProblem), ...further })
}

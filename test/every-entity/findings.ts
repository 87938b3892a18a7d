import { status } from '@grpc/grpc-js'
import { AssertionError, expect } from 'chai'
import { describeCall, type Call, type Outcome, type Transport } from './transports.js'
import type { Caller } from './callers.js'
import { isWrite } from './rule.js'
import type { TestedApplication } from './tested-application.js'

/** What the rules of an application reject with. */
const OF_RULES: readonly string[] = ['body.invalid', 'state.invalid', 'conflict', 'not-found', 'ownership.denied']

/** Characters of a value, and of what was done, that a finding shows. */
const SHOWN = 200

/** Whatever a test finds amiss, all of it told at once: a test holds many calls. */
export class Findings {
  readonly #entity: string
  readonly #found: string[] = []
  /** What a project can do about calls that its own rules reject. */
  readonly #advice = new Set<string>()
  #checked = 0

  constructor(entity: string) {
    this.#entity = entity
  }

  get checked(): number {
    return this.#checked
  }

  /** Notes a difference between what was and what should have been. */
  same(what: string, actual: unknown, expected: unknown): boolean {
    this.#checked += 1
    const [was, should] = [JSON.stringify(actual), JSON.stringify(expected)]
    if (was === should) return true
    const place =
      (was ?? '').length > SHOWN || (should ?? '').length > SHOWN ? firstDifference(actual, expected) : undefined
    const { way, ...values } = place ?? { way: '', was: was ?? 'nothing', should: should ?? 'nothing' }
    this.#found.push(`${shortened(what)}${way}: ${values.was} instead of ${values.should}`)
    return false
  }

  /**
   * Notes that a call which had to succeed was rejected. Where that may be because the application has rules that a made
   * row or body does not satisfy, the message says what to state in `values`.
   */
  rejected(call: Call, { code, detail, violations = [] }: Outcome): void {
    const { resource, operation, name } = call
    if (!isWrite(operation) || !OF_RULES.includes(code)) return
    const place = operation === 'act' ? `actions: { '${name ?? ''}': { … } }` : `${operation}: { … }`
    const ofBody = operation === 'delete' ? '' : `{ '${resource}': { ${place} } } for its body, `
    const said = violations.length === 0 ? detail : violations.join('; ')
    this.#advice.add(
      `${operation === 'act' ? name : operation} of ${resource} was rejected: ${code} (${said}). If the rules of ` +
        `${resource} ask for more than a made row or body has, say it in \`values\` of describeEveryEntity: ${ofBody}` +
        `{ '${resource}': { rows: { … } } } for the row, { '${resource}': { references: { … } } } for what it refers to; ` +
        `or leave it out by \`except: { '${resource}': ['${name ?? operation}'] }\``
    )
  }

  /** Notes that no caller of the tests reaches a made row, so that nothing of the write can be tested. */
  unreached({ resource, operation, name }: Call): void {
    const write = name ?? operation
    this.#advice.add(
      `no caller of these tests may ${write} a made row of ${resource} and read it: say in \`claims\` of describeEveryEntity ` +
        `whose rows they are, in \`values\` what rows there are, or \`except: { '${resource}': ['${write}'] }\``
    )
  }

  /**
   * Fails the test with everything noted, and where nothing was looked at. All of it is in the message: mocha shows no
   * difference of values that are large.
   */
  finish(): void {
    const found = [...this.#advice, ...this.#found.slice(0, 12)]
    if (found.length > 0) {
      throw new AssertionError([`${this.#found.length} findings in ${this.#entity}`, ...found].join('\n- '))
    }
    expect(this.#checked, `checks of ${this.#entity}`).to.be.greaterThan(0)
  }
}

/** Where two values first differ, and what each of them has there. */
interface Difference {
  /** By which row, by its id, and which property. */
  readonly way: string
  readonly was: string
  readonly should: string
}

function firstDifference(actual: unknown, expected: unknown): Difference {
  const [was, should] = [members(actual), members(expected)]
  if (was === undefined || should === undefined) return differentTexts(actual, expected)
  const names = [...new Set([...Object.keys(should), ...Object.keys(was)])]
  const name = names.find((one) => JSON.stringify(was[one]) !== JSON.stringify(should[one]))
  // Only the order of the members is another one.
  if (name === undefined) return { way: '', was: Object.keys(was).join(), should: Object.keys(should).join() }
  const { way, ...values } = firstDifference(was[name], should[name])
  const id = Array.isArray(expected) ? (members(should[name]) ?? members(was[name]))?.['id'] : undefined
  const row = typeof id === 'string' || typeof id === 'number' ? ` (id ${id})` : ''
  return { way: `, ${name}${row}${way}`, ...values }
}

function members(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

/** Two texts from a little before the place where they differ. */
function differentTexts(actual: unknown, expected: unknown): Difference {
  const [was, should] = [JSON.stringify(actual) ?? 'nothing', JSON.stringify(expected) ?? 'nothing']
  let at = 0
  while (at < was.length && was[at] === should[at]) at += 1
  const from = at < SHOWN / 2 ? 0 : at - SHOWN / 4
  const way = from === 0 ? '' : `, from character ${from}`
  return { way, was: shortened(was.slice(from)), should: shortened(should.slice(from)) }
}

function shortened(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** A call that somebody makes. */
interface Made {
  readonly call: Call
  readonly caller: Caller
}

/** Sends a call by one transport and holds its code and status against what they should be. */
export async function answered(
  tested: TestedApplication,
  { call, caller, transport }: Made & { readonly transport: Transport },
  of: { readonly code: string; readonly findings: Findings }
): Promise<Outcome> {
  const outcome = await tested.send(transport, call, caller)
  const what = `${transport.name} ${describeCall(call)} by ${caller.name}`
  const expected = [of.code, statusOf(of.code, call, transport.name)]
  if (!of.findings.same(what, [outcome.code, outcome.status], expected)) {
    of.findings.same(`${what} said`, (outcome.code === 'ok' ? outcome.text : outcome.detail).slice(0, 200), of.code)
    if (of.code === 'ok') of.findings.rejected(call, outcome)
  }
  return outcome
}

/** Sends a call that changes nothing by the transports of its turn; a rejection has the same words on each. */
export async function answeredByAll(
  tested: TestedApplication,
  made: Made,
  of: { readonly code: string; readonly findings: Findings }
): Promise<readonly Outcome[]> {
  const outcomes = await Promise.all(tested.transports.map((transport) => answered(tested, { ...made, transport }, of)))
  const [first, second] = outcomes
  // A failure of the service's own has a body that is fixed.
  if (of.code !== 'ok' && of.code !== 'configuration' && first !== undefined && second !== undefined) {
    of.findings.same(`${describeCall(made.call)} by ${made.caller.name}, words`, second.detail, first.detail)
  }
  return outcomes
}

/** The documents that HTTP answered for unknown rows, without the path. The request id is the same in all of these tests. */
export function problemsOfUnknown(outcomes: readonly Outcome[]): string[] {
  const unknown = outcomes.filter((one) => one.code === 'not-found' && one.status === 404)
  return unknown.map(({ text }) => text.replace(/"instance":"[^"]*",?/, ''))
}

/** Contract section 7: what a code is over HTTP and over gRPC. */
const STATUSES: Readonly<Record<string, readonly [http: number, grpc: status]>> = {
  'auth.required': [401, status.UNAUTHENTICATED],
  'auth.invalid-token': [401, status.UNAUTHENTICATED],
  'capability.denied': [403, status.PERMISSION_DENIED],
  'ownership.denied': [403, status.PERMISSION_DENIED],
  'not-found': [404, status.NOT_FOUND],
  'precondition.required': [428, status.FAILED_PRECONDITION],
  'precondition.malformed': [400, status.INVALID_ARGUMENT],
  'body.invalid': [400, status.INVALID_ARGUMENT],
  'id.invalid': [400, status.INVALID_ARGUMENT],
  'fields.invalid': [400, status.INVALID_ARGUMENT],
  'filter.property.unknown': [400, status.INVALID_ARGUMENT],
  'filter.operator.unsupported': [400, status.INVALID_ARGUMENT],
  'filter.value.invalid': [400, status.INVALID_ARGUMENT],
  'sort.property.unknown': [400, status.INVALID_ARGUMENT],
  'state.invalid': [422, status.FAILED_PRECONDITION],
  // Every conflict of these tests is that of a guarded write.
  conflict: [412, status.FAILED_PRECONDITION],
  configuration: [500, status.INTERNAL]
}

const DONE: Readonly<Partial<Record<Call['operation'], number>>> = { create: 201, delete: 204 }

/** The status that an outcome of this code must have. */
function statusOf(code: string, { operation, form }: Call, transport: Transport['name']): number {
  if (code === 'ok' && form === 'import' && transport === 'HTTP') return 200
  if (code === 'ok') return transport === 'HTTP' ? (DONE[operation] ?? 200) : status.OK
  const known = STATUSES[code]
  if (known === undefined) throw new Error(`statuses.ts lacks ${code}`)
  return known[transport === 'HTTP' ? 0 : 1]
}

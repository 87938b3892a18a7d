import { expect } from 'chai'
import { describeCall, type Call, type Outcome, type Transport } from './call.js'
import type { Caller } from './caller.js'
import type { EveryStore } from './every-store.js'
import { statusOf } from './statuses.js'

/** Whatever a test finds amiss, all of it told at once: a test holds many calls. */
export class Findings {
  readonly #found: string[] = []
  #checked = 0

  get checked(): number {
    return this.#checked
  }

  /** Notes a difference between what was and what should have been. */
  same(what: string, actual: unknown, expected: unknown): boolean {
    this.#checked += 1
    const [was, should] = [JSON.stringify(actual), JSON.stringify(expected)]
    if (was === should) return true
    this.#found.push(`${what}: ${was ?? 'nothing'} instead of ${should ?? 'nothing'}`)
    return false
  }

  /** Fails the test with everything noted, and where nothing was looked at. */
  finish(): void {
    expect(this.#found.slice(0, 12), `${this.#found.length} findings`).to.deep.equal([])
    expect(this.#checked, 'checks').to.be.greaterThan(0)
  }
}

/** A call that somebody makes. */
interface Made {
  readonly call: Call
  readonly caller: Caller
}

/** Sends a call by one transport and holds its code and status against what they should be. */
export async function answered(
  store: EveryStore,
  { call, caller, transport }: Made & { readonly transport: Transport },
  of: { readonly code: string; readonly findings: Findings }
): Promise<Outcome> {
  const outcome = await store.send(transport, call, caller)
  const what = `${transport.name} ${describeCall(call)} by ${caller.name}`
  const expected = [of.code, statusOf(of.code, call, transport.name)]
  if (!of.findings.same(what, [outcome.code, outcome.status], expected)) {
    of.findings.same(`${what} said`, (outcome.code === 'ok' ? outcome.text : outcome.detail).slice(0, 200), of.code)
  }
  return outcome
}

/** Sends a call that changes nothing by every transport; a rejection has the same words on each. */
export async function answeredByAll(
  store: EveryStore,
  made: Made,
  of: { readonly code: string; readonly findings: Findings }
): Promise<readonly Outcome[]> {
  const outcomes = await Promise.all(store.transports.map((transport) => answered(store, { ...made, transport }, of)))
  const [http, grpc] = outcomes
  // A failure of the service's own has a body that is fixed.
  if (of.code !== 'ok' && of.code !== 'configuration' && http !== undefined && grpc !== undefined) {
    of.findings.same(`${describeCall(made.call)} by ${made.caller.name}, words`, grpc.detail, http.detail)
  }
  return outcomes
}

import type { Exchange } from '../history.js'
import type { Checker, Rows, Verdict, Violation } from './checker.js'

/** A create under one Idempotency-Key. */
interface Create {
  readonly name: string
  /** The first answer 201, and which request had it. */
  first?: { readonly id: string; readonly body: string; readonly location: string; readonly etag: string }
  readonly exchanges: string[]
}

/** Creates of speakers, each with a name that no other has. */
export class CreatedOnce implements Checker {
  readonly promise =
    'Every acknowledged create exists once, none exists twice for one key, and a replay answers what the first answer said.'
  readonly #creates = new Map<string, Create>()
  readonly #violations: Violation[] = []
  #acknowledged = 0
  #replays = 0

  see({ id, workload, request, answer }: Exchange): void {
    const key = request.headers['idempotency-key']
    if (workload !== 'creates' || key === undefined) return
    const create = this.#creates.get(key) ?? { name: nameOf(request.body), exchanges: [] }
    this.#creates.set(key, create)
    create.exchanges.push(id)
    if (answer?.status !== 201) return
    const seen = {
      id,
      body: answer.body,
      location: new URL(answer.headers['location'] ?? 'missing:').pathname,
      etag: answer.headers['etag'] ?? ''
    }
    const { first } = create
    if (first === undefined) {
      create.first = seen
      this.#acknowledged++
      return
    }
    this.#replays++
    if (seen.body !== first.body || seen.location !== first.location || seen.etag !== first.etag) {
      this.#violations.push({
        what: `The replay ${id} differs from the answer of ${first.id}.`,
        exchanges: [first.id, id]
      })
    }
  }

  async judge(rows: Rows): Promise<Verdict> {
    const stored = new Map<string, number>()
    for (const { name } of await rows("SELECT name FROM speakers WHERE name LIKE 'creates-%'")) {
      stored.set(String(name), (stored.get(String(name)) ?? 0) + 1)
    }
    for (const { name, first, exchanges } of this.#creates.values()) {
      const count = stored.get(name) ?? 0
      stored.delete(name)
      if (count > 1) this.#violations.push({ what: `${name} exists ${count} times.`, exchanges: exchanges.slice(0, 5) })
      if (count === 0 && first !== undefined) {
        this.#violations.push({ what: `${name} was acknowledged and does not exist.`, exchanges: [first.id] })
      }
    }
    for (const name of stored.keys()) this.#violations.push({ what: `Nobody asked for ${name}.`, exchanges: [] })
    return {
      tried: this.#acknowledged + this.#replays,
      of: 'acknowledged creates and replays',
      violations: this.#violations
    }
  }
}

function nameOf(body: string | undefined): string {
  const { name } = JSON.parse(body ?? '{}') as { readonly name?: unknown }
  return String(name)
}

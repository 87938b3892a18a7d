import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { messageOf } from '../shared/start-error.js'
import type { Entity } from '../data-service/entity/entity.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { namesOfOwn, type OwnTables } from '../data-service/sql/engines/own-tables.js'
import { isolatedBy, schemaReport } from './check/check-schema.js'
import { schemaOf } from './kinds/kinds.js'
import { readRecord } from './migrations/look-first.js'
import type { Migration, Step } from './migrations/migration.js'
import { type LiveFacts, readTableFacts, replaceFacts } from './table-facts.js'

/** SCHEMA_MISMATCH; undefined: `isolate` for tables of others, `stop` for those that migrations of the application make. */
export type SchemaMismatch = 'isolate' | 'stop' | undefined

/** Milliseconds from one look at the tables to the next. */
const LOOK_EVERY = 60_000

/** The names of the resources that are taken out of service where their tables do not fit. For the others a start ends. */
export async function isolatableResources(
  database: Database,
  application: { readonly entities: readonly Entity[]; readonly migrations: readonly Migration[] },
  { own, mismatch }: { readonly own: OwnTables; readonly mismatch: SchemaMismatch }
): Promise<ReadonlySet<string>> {
  const { entities, migrations } = application
  if (mismatch === 'stop' || entities.length === 0) return new Set()
  const names = (some: readonly Entity[]): Set<string> => new Set(some.map(({ name }) => name))
  if (mismatch === 'isolate') return names(entities)
  // A baseline that ran no statement describes tables that others made.
  const { takenOver } = migrations.length === 0 ? { takenOver: new Set<string>() } : await readRecord(database, own)
  const steps = migrations.filter(({ name }) => !takenOver.has(name)).flatMap((one) => one.steps)
  const made = new Set(steps.flatMap(madeTable))
  const sql = steps.flatMap((step) => (step.kind === 'sql' ? Object.values(step.statements).flat() : []))
  const ofEngine = namesOfOwn(own)
  const isMade = ({ table }: Entity): boolean =>
    ofEngine.has(table) || made.has(table) || sql.some((text) => text.includes(table))
  return names(entities.filter((one) => !isMade(one)))
}

function madeTable(step: Step): readonly string[] {
  return step.kind === 'createTable' ? [step.table] : step.kind === 'renameTable' ? [step.to] : []
}

/**
 * Which resources are out of service, since their tables do not fit, and why. It looks again every minute, and at once when a
 * call of a resource has failed for a reason that nobody foresaw, the first time in a minute.
 */
export class TableFit {
  readonly #isolated: Map<string, string>
  readonly #failed = new Set<string>()
  #watching: Watched | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false

  /** `isolated`: what a first look has found. */
  constructor(isolated: ReadonlyMap<string, string>) {
    this.#isolated = new Map(isolated)
  }

  /** The reasons by resource. They name tables and columns, which no caller may see. */
  get isolated(): ReadonlyMap<string, string> {
    return this.#isolated
  }

  /** Looks every minute until the process stops. Never rejects, and its timer keeps no process alive. */
  async watch(watched: Watched): Promise<void> {
    const { isolatable, stopping, every = LOOK_EVERY } = watched
    if (isolatable.size === 0) return
    this.#watching = watched
    for (;;) {
      await delay(every, undefined, { signal: stopping, ref: false }).catch(() => undefined)
      if (stopping.aborted) break
      this.#failed.clear()
      await this.#look(watched)
    }
    await this.#looking
  }

  /** A call of the resource ended in an unforeseen error. */
  failed(resource: string): void {
    const watched = this.#watching
    if (watched === undefined || watched.stopping.aborted || this.#failed.has(resource)) return
    this.#failed.add(resource)
    void this.#look(watched)
  }

  /** One look at a time. What changed during one is seen by the next. */
  #look(watched: Watched): Promise<void> {
    this.#lookAgain = true
    this.#looking ??= this.#lookWhileAsked(watched).finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookWhileAsked(watched: Watched): Promise<void> {
    while (this.#lookAgain && !watched.stopping.aborted) {
      this.#lookAgain = false
      try {
        await this.#lookOnce(watched)
      } catch (error) {
        if (!watched.stopping.aborted)
          watched.log.warn({ reason: messageOf(error) }, 'tables not looked at; the next round tries again')
      }
    }
  }

  async #lookOnce({ database, entities, isolatable, facts, onFacts, log }: Watched): Promise<void> {
    const { live, mistakes } = await schemaReport(database, 'primary', entities)
    const found = isolatedBy(mistakes, { entities, isolatable })
    const back = [...this.#isolated.keys()].filter((resource) => !found.has(resource))
    if (back.length > 0) {
      const fitting = entities.filter(({ name }) => !found.has(name))
      replaceFacts(facts, await readTableFacts(schemaOf(database), live, fitting))
      onFacts()
    }
    for (const resource of back) {
      this.#isolated.delete(resource)
      log.info({ resource }, 'the tables of a resource fit again: it is served')
    }
    for (const [resource, reason] of found) {
      if (this.#isolated.get(resource) !== reason) logIsolated(log, resource, reason)
      this.#isolated.set(resource, reason)
    }
  }
}

interface Watched {
  readonly database: Database
  readonly entities: readonly Entity[]
  readonly isolatable: ReadonlySet<string>
  /** Kept up to date: what statements depend on of the tables of resources that come back. */
  readonly facts: LiveFacts
  /** Called when they have changed. Statements that were made of them are then wrong. */
  readonly onFacts: () => void
  readonly log: Logger
  readonly stopping: AbortSignal
  /** Milliseconds from one look to the next. Default: a minute. */
  readonly every: number | undefined
}

export function logIsolated(log: Logger | undefined, resource: string, reason: string): void {
  log?.error({ resource, reason }, 'the tables of a resource do not fit: its requests are answered 503 until they do')
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { messageOf } from '../shared/start-error.js'
import type { Entity } from '../data-service/entity/entity.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { namesOfOwn, type OwnTables } from '../data-service/sql/engines/own-tables.js'
import type { SchemaMismatch, TableFit, WatchingFit } from '../data-service/schema-at-start.js'
import { isolatedBy, schemaReport } from './check/check-schema.js'
import { schemaOf } from './kinds/kinds.js'
import { readRecord } from './migrations/look-first.js'
import type { Migration, Step } from './migrations/migration.js'
import { type LiveFacts, readTableFacts, replaceFacts } from './table-facts.js'

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

/** The fit of the tables of a live database. */
export class LiveFit implements TableFit {
  readonly #isolated: Map<string, string>
  readonly #looked: Looked
  readonly #failed = new Set<string>()
  #watching: WatchingFit | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false

  /** `isolated`: what a first look has found. */
  constructor(isolated: ReadonlyMap<string, string>, looked: Looked) {
    this.#isolated = new Map(isolated)
    this.#looked = looked
  }

  get isolated(): ReadonlyMap<string, string> {
    return this.#isolated
  }

  async watch(watching: WatchingFit): Promise<void> {
    const { stopping, every = LOOK_EVERY } = watching
    if (this.#looked.isolatable.size === 0) return
    this.#watching = watching
    for (;;) {
      await delay(every, undefined, { signal: stopping, ref: false }).catch(() => undefined)
      if (stopping.aborted) break
      this.#failed.clear()
      await this.#look(watching)
    }
    await this.#looking
  }

  failed(resource: string): void {
    const watching = this.#watching
    if (watching === undefined || watching.stopping.aborted || this.#failed.has(resource)) return
    this.#failed.add(resource)
    void this.#look(watching)
  }

  /** One look at a time. What changed during one is seen by the next. */
  #look(watching: WatchingFit): Promise<void> {
    this.#lookAgain = true
    this.#looking ??= this.#lookWhileAsked(watching).finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookWhileAsked(watching: WatchingFit): Promise<void> {
    while (this.#lookAgain && !watching.stopping.aborted) {
      this.#lookAgain = false
      try {
        await this.#lookOnce(watching.onFacts)
      } catch (error) {
        if (!watching.stopping.aborted)
          this.#looked.log.warn({ reason: messageOf(error) }, 'tables not looked at; the next round tries again')
      }
    }
  }

  async #lookOnce(onFacts: () => void): Promise<void> {
    const { database, entities, isolatable, facts, log } = this.#looked
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

/** What is looked at. */
interface Looked {
  readonly database: Database
  readonly entities: readonly Entity[]
  /** The resources that are taken out of service where their tables do not fit. */
  readonly isolatable: ReadonlySet<string>
  /** Kept up to date: what statements depend on of the tables of resources that come back. */
  readonly facts: LiveFacts
  readonly log: Logger
}

export function logIsolated(log: Logger | undefined, resource: string, reason: string): void {
  log?.error({ resource, reason }, 'the tables of a resource do not fit: its requests are answered 503 until they do')
}

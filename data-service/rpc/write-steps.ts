import type { NewRoot } from '../entity/action.js'
import type { Entity } from '../entity/entity.js'
import type { Operand } from '../entity/value.js'
import { assignments } from '../plan/assignments.js'
import type { Resource } from '../plan/catalogue.js'
import { planInsert, planWritten } from '../plan/plan-write.js'
import type { Writer } from '../plan/write-access.js'
import type { UnitOfWork } from '../plan/write-store.js'
import { recordEncoder } from './encode-record.js'
import type { WriteAnswer } from './kept-answer.js'
import { lookUpAllIn, lookUpByIn, lookUpIn, lookUpWholeIn } from './look-up.js'
import { newCode } from './new-code.js'
import type { Writing } from './writing.js'

/** Room that the column has. */
const LONGEST_SUBJECT = 512

/** The steps that writes share, within one transaction. `now` is one moment for all of them. */
export class WriteSteps {
  readonly unit: UnitOfWork
  /** `2026-01-31T08:00:00.000Z`. */
  readonly now: string
  readonly #writing: Writing
  readonly #writer: Writer
  readonly #requestId: string

  constructor(unit: UnitOfWork, writing: Writing, by: { readonly writer: Writer; readonly requestId: string }) {
    this.unit = unit
    this.now = new Date(writing.now()).toISOString()
    this.#writing = writing
    this.#writer = by.writer
    this.#requestId = by.requestId
  }

  /** What entity files get to work with besides rows. */
  get tools(): {
    readonly lookUp: ReturnType<typeof lookUpIn>
    readonly lookUpBy: ReturnType<typeof lookUpByIn>
    readonly lookUpWhole: ReturnType<typeof lookUpWholeIn>
    readonly lookUpAll: ReturnType<typeof lookUpAllIn>
    readonly now: string
    readonly newCode: () => string
  } {
    const { planning, randomBytes } = this.#writing
    return {
      lookUp: lookUpIn(this.unit, planning.catalogue),
      lookUpBy: lookUpByIn(this.unit, planning.catalogue),
      lookUpWhole: lookUpWholeIn(this.unit, planning.catalogue),
      lookUpAll: lookUpAllIn(this.unit, planning.catalogue),
      now: this.now,
      newCode: () => newCode(randomBytes)
    }
  }

  async audit(entity: Entity, id: Operand, action: string): Promise<void> {
    const { issuer, subject } = this.#writer.caller
    await this.unit.audit({
      at: this.now,
      subject: Array.from(`${issuer} ${subject}`).slice(0, LONGEST_SUBJECT).join(''),
      resource: entity.name,
      rowId: String(id),
      action,
      requestId: this.#requestId
    })
  }

  async insert(entity: Entity, row: Parameters<typeof planInsert>[1]): Promise<Operand> {
    const id = await this.unit.insert(planInsert(entity, row, this.#writing))
    await this.audit(entity, id, 'create')
    return id
  }

  /** Roots that come to be with another's write; each has an audit entry of its own. */
  async insertNamed(roots: readonly NewRoot[]): Promise<void> {
    for (const { resource, values, children: named = {} } of roots) {
      const { entity } = this.#writing.planning.catalogue.resource(resource)
      const children = entity.children.flatMap((one) => {
        const rows = named[one.name]
        return rows === undefined ? [] : [{ children: one, rows: rows.map((row) => assignments(row, one.columns)) }]
      })
      await this.insert(entity, { values: assignments(values, entity.columns), children })
    }
  }

  /** The row as it is now, as reading it answers. */
  async answer(resource: Resource, id: Operand, ignored: readonly string[]): Promise<WriteAnswer> {
    const plan = planWritten(resource, id)
    const row = await this.unit.get(plan)
    if (row === undefined) throw new TypeError('a row that was just written is gone')
    const { json, rowVersion } = recordEncoder(plan)(row)
    if (!Buffer.isBuffer(json) || !Buffer.isBuffer(rowVersion)) throw new TypeError('a row has no version')
    return { json, rowVersion, id: String(id), ignored, location: '' }
  }
}

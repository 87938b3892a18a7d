import {
  type AbortListener,
  type Cancellation,
  CancellationSource,
  shareKeyOf
} from '../../../shared/transport/cancellation.js'
import { currentCalls, forCalls } from '../../observe/call-scope.js'
import { DomainError } from '../../../shared/errors.js'
import type { Column } from '../../entity/entity.js'
import { areSameOthers, type GetPlan, type Projection, rowsOfOthers } from '../../plan/model/plans.js'
import type { LoadedRow } from '../../plan/model/stores.js'
import { idText } from '../../entity/key.js'
import {
  areEqualScopes,
  comparisonsOf,
  operandsInText,
  scopeConditions,
  scopeKey,
  shapeOf
} from './statements/conditions.js'
import type { Settle } from './shared-reads.js'
import { AnswerTooLarge } from '../engines/answer-bytes.js'
import type { SqlDialect } from '../engines/statement.js'

/** Plans that differ in their keys, and in the values of their rows' scopes. Those of the same row have equal scopes. */
export type SamePlans = readonly [GetPlan, ...GetPlan[]]

/** Reads the rows of the plans, in their order; undefined for each that is not there or not in the scope of its plan. */
type ReadRows = (plans: SamePlans, signal: Cancellation) => Promise<readonly (LoadedRow | undefined)[]>

/**
 * Rows that one statement reads. It is a power of two, since lists of keys are filled up to one, and each length is a text
 * that every connection prepares.
 */
const MAX_ROWS = 128

/** Operands of the scopes of a statement, each with its key. More would make a text too long to stay prepared. */
const MAX_OPERANDS = 256

/**
 * Statements of one kind under way. What comes meanwhile waits and becomes one statement: under load that takes less time
 * in all than many statements at once, of which each costs two system calls.
 */
const MAX_RUNNING_READS = 2

/**
 * Reads by id, those of a tick in one statement where they want the same of rows of an entity. Each row is read in the scope
 * of its own caller: the statement has the scope beside the key. A read never joins a statement that has been sent, so no
 * answer is older than its request.
 */
export class GatheredReads {
  readonly #read: ReadRows
  readonly #dialect: SqlDialect
  readonly #isFull: (cancellation: Cancellation) => boolean
  readonly #groups = new Map<Projection, Group[]>()
  #isScheduled = false

  /** `isFull`: as Reader says. */
  constructor(read: ReadRows, dialect: SqlDialect, isFull: (cancellation: Cancellation) => boolean = () => false) {
    this.#read = read
    this.#dialect = dialect
    this.#isFull = isFull
  }

  /** Rejects with the reason as soon as the call is aborted. The statement is stopped when nobody waits for any of its rows. */
  get(plan: GetPlan, cancellation: Cancellation): Promise<LoadedRow | undefined> {
    if (cancellation.aborted) return Promise.reject(cancellation.reason)
    return new Promise((resolve, reject) => {
      const member = new WaitingRead(plan, cancellation, { resolve, reject })
      cancellation.addEventListener('abort', member)
      if (!plan.entity.key.every(hasOneText)) {
        void this.#run([member])
        return
      }
      this.#add(member, { aside: undefined })
      this.#schedule()
    })
  }

  #add(member: WaitingRead, where: Pick<Group, 'aside'>): void {
    const group = this.#groupOf(member.plan, where)
    group.waiting.push(member)
    member.leave = () => {
      group.waiting = group.waiting.filter((one) => one !== member)
    }
  }

  #groupOf(plan: GetPlan, { aside }: Pick<Group, 'aside'>): Group {
    const scopes = this.#scopesOf(plan)
    const groups = this.#groups.get(plan.projection) ?? []
    const known = groups.find((group) => group.aside === aside && group.scopes === scopes && wantSame(group.plan, plan))
    if (known !== undefined) return known
    const group: Group = { plan, scopes, aside, maxRows: maxRowsOf(plan), waiting: [], running: 0 }
    this.#groups.set(plan.projection, [...groups, group])
    return group
  }

  /**
   * What of the scopes has to be the same in one statement: the shape of that of the rows, whose values are those of each
   * caller, and everything of those of the navigations, which are loaded for all rows at once.
   */
  #scopesOf(plan: GetPlan): string {
    const others = rowsOfOthers(plan)
    const own = shapeOf(scopeConditions(plan.scope))
    if (others.length === 0) return own
    const texts = others.map((one) => (one.scope === null ? 'none' : scopeKey(one.scope, this.#dialect)))
    return JSON.stringify([own, ...texts])
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const groups of this.#groups.values()) for (const group of groups) this.#flush(group)
    })
  }

  #flush(group: Group): void {
    if (group.aside === undefined) this.#setAside(group)
    while (group.waiting.length > 0 && group.running < MAX_RUNNING_READS) {
      const members = this.#takeNext(group)
      group.running += 1
      void this.#run(members).finally(() => {
        group.running -= 1
        this.#schedule()
      })
    }
    if (group.waiting.length === 0 && group.running === 0) this.#forget(group)
  }

  /** Reads of a caller who would wait for reads of its own: those of others would wait with them, or behind them. */
  #setAside(group: Group): void {
    const full = group.waiting.filter(({ cancellation }) => this.#isFull(cancellation))
    if (full.length === 0) return
    group.waiting = group.waiting.filter((member) => !full.includes(member))
    const callers = new Set(full.map(({ cancellation }) => shareKeyOf(cancellation)))
    for (const member of full) this.#add(member, { aside: shareKeyOf(member.cancellation) })
    for (const aside of callers) this.#flush(this.#groupOf(group.plan, { aside }))
  }

  /**
   * Takes out the members of the next statement, the oldest first. A row that two callers want in different scopes is read
   * for the second one by a later statement, because a found row does not tell in whose scope it is.
   */
  #takeNext(group: Group): WaitingRead[] {
    const { waiting, maxRows, plan } = group
    if (plan.scope.kind === 'all-rows') return waiting.splice(0, maxRows)
    const members: WaitingRead[] = []
    const others: WaitingRead[] = []
    const wanted = new Map<string, GetPlan>()
    for (const member of waiting) {
      const id = idText(member.plan.key)
      const other = wanted.get(id)
      const isInAnotherScope = other !== undefined && !areEqualScopes(other.scope, member.plan.scope, this.#dialect)
      if (isInAnotherScope || members.length === maxRows) {
        others.push(member)
        continue
      }
      wanted.set(id, member.plan)
      members.push(member)
    }
    group.waiting = others
    return members
  }

  #forget(group: Group): void {
    const { projection } = group.plan
    const others = (this.#groups.get(projection) ?? []).filter((one) => one !== group)
    if (others.length === 0) this.#groups.delete(projection)
    else this.#groups.set(projection, others)
  }

  /** Never rejects. */
  async #run(members: readonly WaitingRead[]): Promise<void> {
    const [first, ...others] = members
    if (first === undefined) return
    const abandoned = new CancellationSource(...members.map(({ cancellation }) => cancellation))
    let left = members.length
    for (const member of members) {
      member.leave = (reason) => {
        left -= 1
        if (left === 0) abandoned.abort(reason)
      }
    }
    try {
      const read = () => this.#read([first.plan, ...others.map(({ plan }) => plan)], abandoned)
      const rows = await forCalls(
        members.flatMap(({ calls }) => calls),
        read
      )
      members.forEach((member, at) => member.resolve(rows[at]))
    } catch (error) {
      // A row that cannot be read, or one with many rows, is no reason for the others to fail.
      const isOfSome = !(error instanceof DomainError) || error.code === 'include.too-many'
      if (others.length === 0 || !isOfSome || abandoned.aborted) for (const member of members) member.reject(error)
      else if (error instanceof AnswerTooLarge) this.#readInTurn(members)
      else await Promise.all(members.map((member) => this.#runAlone(member)))
    }
  }

  /** Reads again the rows that were too large together: for each caller one after another. No other caller waits for them. */
  #readInTurn(members: readonly WaitingRead[]): void {
    const callers = new Map<string, Promise<void>>()
    for (const member of members) {
      const key = shareKeyOf(member.cancellation)
      const before = callers.get(key) ?? Promise.resolve()
      callers.set(
        key,
        before.then(() => this.#runAlone(member))
      )
    }
  }

  /** Nothing is read for one who has gone. */
  async #runAlone(member: WaitingRead): Promise<void> {
    if (!member.isSettled) await this.#run([member])
  }
}

/** Reads that may become one statement, and how many statements of them are under way. */
interface Group {
  /** That of any of them. */
  readonly plan: GetPlan
  readonly scopes: string
  /** The share key of the one caller that it is of, who might wait for reads of its own. */
  readonly aside: string | undefined
  /** Rows of a statement. */
  readonly maxRows: number
  /**
   * The oldest first. Not a Set: one whose entries come and go moves what they hold into the old generation, as a Map does
   * (CallTable in shared/transport/call-stream.ts).
   */
  waiting: WaitingRead[]
  running: number
}

/** A power of two, as MAX_ROWS is. */
function maxRowsOf({ scope, entity }: GetPlan): number {
  if (scope.kind === 'all-rows') return MAX_ROWS
  const ofRow = comparisonsOf(scope.conditions).reduce(
    (sum, one) => sum + Math.max(1, operandsInText(one)),
    entity.key.length
  )
  return Math.min(MAX_ROWS, 2 ** Math.max(0, Math.floor(Math.log2(MAX_OPERANDS / ofRow))))
}

type Compare = (one: GetPlan, other: GetPlan) => boolean

/**
 * How the members of two plans are compared whose keys and scopes may differ. It does not compile without one for each member, so that
 * reads which want different things never become one.
 */
const SAME: { readonly [Member in Exclude<keyof GetPlan, symbol | 'key'>]: Compare } = {
  operation: () => true,
  // By GatheredReads.#scopesOf, those of navigations too.
  scope: () => true,
  entity: (one, other) => one.entity === other.entity,
  projection: (one, other) => one.projection === other.projection,
  references: ({ references }, other) =>
    areSameOthers(rowsOfOthers({ references }), rowsOfOthers({ references: other.references })),
  manyToMany: ({ manyToMany }, other) =>
    areSameOthers(rowsOfOthers({ manyToMany }), rowsOfOthers({ manyToMany: other.manyToMany })),
  children: ({ children }, other) =>
    children.length === other.children.length &&
    children.every((one, at) => one.children === other.children[at]?.children) &&
    areSameOthers(rowsOfOthers({ children }), rowsOfOthers({ children: other.children })),
  // An error of one may be that of the other.
  askedBy: (one, other) =>
    one.askedBy?.references === other.askedBy?.references && one.askedBy?.collections === other.askedBy?.collections
}

const COMPARES: readonly Compare[] = Object.values(SAME)

/** Whether two plans differ at most in their keys and scopes. */
function wantSame(one: GetPlan, other: GetPlan): boolean {
  return one === other || COMPARES.every((isSame) => isSame(one, other))
}

/** Types of which a value has one text, in requests as in the database, by which the rows of a statement are told apart. */
function hasOneText({ field: { type } }: Column): boolean {
  return type === 'int' || type === 'long' || type === 'guid' || type === 'base64url'
}

/** A read that waits for its row. It listens to the end of its call itself. */
class WaitingRead implements AbortListener {
  readonly plan: GetPlan
  /** Those that wait for the row. */
  readonly calls = currentCalls()
  isSettled = false
  /** Called when nobody waits for the row any more. */
  leave: (reason: unknown) => void = () => undefined
  readonly cancellation: Cancellation
  readonly #settle: Settle<LoadedRow | undefined>

  constructor(plan: GetPlan, cancellation: Cancellation, settle: Settle<LoadedRow | undefined>) {
    this.plan = plan
    this.cancellation = cancellation
    this.#settle = settle
  }

  resolve(row: LoadedRow | undefined): void {
    if (this.#end()) this.#settle.resolve(row)
  }

  reject(reason: unknown): void {
    if (this.#end()) this.#settle.reject(reason)
  }

  handleEvent(): void {
    const reason: unknown = this.cancellation.reason
    if (!this.#end()) return
    this.leave(reason)
    this.#settle.reject(reason)
  }

  #end(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    this.cancellation.removeEventListener('abort', this)
    return true
  }
}

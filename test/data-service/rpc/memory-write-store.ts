import type { NamedValues } from '../../../data-service/entity/action.js'
import type { Children, Entity } from '../../../data-service/entity/entity.js'
import { firstRowVersion, type Operand, type RowVersion, type Value } from '../../../data-service/entity/field.js'
import type {
  Assignments,
  Condition,
  DeletePlan,
  ExpectedVersions,
  RowScope
} from '../../../data-service/plan/plans.js'
import { selectedName } from '../../../data-service/plan/projection.js'
import type {
  AuditEntry,
  StoredResponse,
  LockedRow,
  UnitOfWork,
  WriteStore
} from '../../../data-service/plan/stores.js'

interface MemoryRow {
  values: Map<string, Value>
  version: RowVersion
  children: Map<string, MemoryRow[]>
}

interface State {
  roots: Map<string, MemoryRow[]>
  keys: Map<string, StoredResponse>
  audits: AuditEntry[]
}

/** Rows in memory with one transaction at a time, undone when its work throws. Ids count up from 1 in each table. */
export class MemoryWriteStore implements WriteStore {
  state: State = { roots: new Map(), keys: new Map(), audits: [] }
  /** What was asked for, in order: `lock things`, `update things`. */
  log: string[] = []
  /** Throw in here to fail a step. */
  before: (step: string) => void = () => undefined
  /** How often the work is thrown away and run again. */
  repeats = 0
  #lastId = 0
  #queue: Promise<unknown> = Promise.resolve()

  transaction<Result>(_signal: AbortSignal, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
    const run = async (): Promise<Result> => {
      for (let left = this.repeats; ; left--) {
        const saved = copyOf(this.state)
        try {
          const result = await work(this.#unit())
          this.#step('commit')
          if (left <= 0) return result
        } catch (error) {
          this.state = saved
          throw error
        }
        this.state = saved
      }
    }
    const next = this.#queue.then(run, run)
    this.#queue = next.catch(() => undefined)
    return next
  }

  purgeKeys(): Promise<number> {
    return Promise.resolve(0)
  }

  /** Puts a row there, bypassing everything. */
  add(resource: string, values: NamedValues, children: Readonly<Record<string, readonly NamedValues[]>> = {}): Buffer {
    const row = newRow(Object.entries(values))
    for (const [name, rows] of Object.entries(children)) {
      row.children.set(
        name,
        rows.map((one) => newRow(Object.entries(one)))
      )
    }
    this.#table(resource).push(row)
    return row.version
  }

  row(resource: string, id: Operand): NamedValues | undefined {
    const row = this.#find(resource, id)
    return row && Object.fromEntries(row.values)
  }

  children(resource: string, id: Operand, name: string): NamedValues[] {
    return (this.#find(resource, id)?.children.get(name) ?? []).map(({ values }) => Object.fromEntries(values))
  }

  childVersion(resource: string, id: Operand, name: string): Buffer | undefined {
    return this.#find(resource, id)?.children.get(name)?.[0]?.version
  }

  #unit(): UnitOfWork {
    const step = (text: string): void => this.#step(text)
    return {
      claimKey: async ({ keyHash }) => {
        step('claim')
        return this.state.keys.get(keyHash.toString('hex'))
      },
      storeResponse: async ({ keyHash, fingerprint }, answer) => {
        step('keep')
        this.state.keys.set(keyHash.toString('hex'), { fingerprint, answer })
      },
      lock: async ({ entity, id, scope, children }) => {
        step(`lock ${entity.name}`)
        const row = this.#find(entity.name, id)
        if (row === undefined || !inScope(row, scope)) return undefined
        return withChildren(row, children)
      },
      insert: async ({ entity, values, version, children }) => {
        step(`insert ${entity.name}`)
        const row = this.#rowOf(values, version)
        for (const one of children) {
          row.children.set(
            one.children.name,
            one.rows.map((child) => this.#rowOf(child.values, child.version))
          )
        }
        this.#table(entity.name).push(row)
        return idOf(row)
      },
      update: async ({ entity, id, scope, expected, required, values, version }) => {
        step(`update ${entity.name}`)
        const row = this.#matched(entity, { id, scope, expected })
        if (row === undefined || !meets(row, required)) return false
        for (const [{ name }, value] of values) row.values.set(name, value)
        row.version = version
        return true
      },
      delete: async ({ entity, ...match }) => {
        step(`delete ${entity.name}`)
        const row = this.#matched(entity, match)
        const table = this.#table(entity.name)
        if (row !== undefined) table.splice(table.indexOf(row), 1)
        return row !== undefined
      },
      writeChild: async (plan) => {
        step(`${plan.kind} ${plan.children.name}`)
        const [root] = [...this.state.roots.values()].flat().filter((one) => idOf(one) === plan.rootId)
        const rows = root?.children.get(plan.children.name) ?? []
        if (plan.kind === 'insert') {
          root?.children.set(plan.children.name, [...rows, this.#rowOf(plan.row.values, plan.row.version)])
          return true
        }
        const row = rows.find((one) => idOf(one) === plan.id && isExpected(one, plan.expected))
        if (row === undefined) return false
        if (plan.kind === 'delete') rows.splice(rows.indexOf(row), 1)
        else {
          for (const [{ name }, value] of plan.values) row.values.set(name, value)
          row.version = plan.version
        }
        return true
      },
      find: async ({ entity, children, ids }) => {
        step(`find ${entity.name}${children === null ? '' : `.${children.name}`}`)
        const roots = this.#table(entity.name)
        const rows = children === null ? roots : roots.flatMap((one) => one.children.get(children.name) ?? [])
        return new Map(rows.filter((one) => ids.includes(idOf(one))).map((one) => [String(idOf(one)), one]))
      },
      findByUnique: async ({ entity, column, value }) => {
        step(`find ${entity.name} by ${column.name}`)
        return this.#table(entity.name).find(({ values }) => values.get(column.name) === value)
      },
      findReferencing: async ({ entity, children, column, id, maxRows }) => {
        step(`find ${entity.name} of ${column.name}`)
        const rows = this.#table(entity.name).filter(({ values }) => values.get(column.name) === id)
        return rows.length > maxRows ? undefined : rows.map((row) => withChildren(row, children))
      },
      get: async ({ entity, id, projection }) => {
        step(`get ${entity.name}`)
        const row = this.#find(entity.name, id)
        if (row === undefined) return undefined
        const values = projection.selected.map((one) =>
          one.kind === 'rowVersion' ? row.version : (row.values.get(selectedName(one)) ?? null)
        )
        return { values, references: new Map(), children: new Map() }
      },
      audit: async (entry) => {
        step('audit')
        this.state.audits.push(entry)
      }
    }
  }

  #step(text: string): void {
    this.log.push(text)
    this.before(text)
  }

  #table(name: string): MemoryRow[] {
    const table = this.state.roots.get(name) ?? []
    this.state.roots.set(name, table)
    return table
  }

  #find(resource: string, id: Operand): MemoryRow | undefined {
    return this.#table(resource).find((row) => idOf(row) === id)
  }

  #matched(entity: Entity, match: Pick<DeletePlan, 'id' | 'scope' | 'expected'>): MemoryRow | undefined {
    const row = this.#find(entity.name, match.id)
    if (row === undefined || !inScope(row, match.scope)) return undefined
    return match.expected === 'unconditional' || isExpected(row, match.expected) ? row : undefined
  }

  #rowOf(values: Assignments, version: RowVersion): MemoryRow {
    const named = Array.from(values, ([{ name }, value]): [string, Value] => [name, value])
    return { ...newRow([['id', ++this.#lastId + 100], ...named]), version }
  }
}

function newRow(values: Iterable<readonly [string, Value]>): MemoryRow {
  return { values: new Map(values), version: firstRowVersion((size) => Buffer.alloc(size, 7)), children: new Map() }
}

function idOf({ values }: MemoryRow): Operand {
  const id = values.get('id')
  if (id === undefined || id === null || Buffer.isBuffer(id)) throw new TypeError('no id')
  return id
}

function withChildren(row: MemoryRow, children: readonly Children[]): LockedRow {
  return { ...row, children: new Map(children.map(({ name }) => [name, row.children.get(name) ?? []])) }
}

function isExpected({ version }: MemoryRow, expected: ExpectedVersions): boolean {
  return expected.some((one) => one.equals(version))
}

function inScope(row: MemoryRow, scope: RowScope): boolean {
  return scope.kind === 'all-rows' || meets(row, scope.conditions)
}

function meets({ values }: MemoryRow, conditions: readonly Condition[]): boolean {
  return conditions.every((condition) => {
    if (!('path' in condition)) throw new Error('This store knows no combined conditions')
    const { path, comparison, operands } = condition
    const among = comparison === 'in' ? operands : operands.slice(0, 1)
    return among.some((one: Operand) => one === values.get(path.column.name))
  })
}

function copyOf({ roots, keys, audits }: State): State {
  const copyRow = ({ values, version, children }: MemoryRow): MemoryRow => ({
    values: new Map(values),
    version,
    children: new Map(Array.from(children, ([name, rows]) => [name, rows.map(copyRow)]))
  })
  return {
    roots: new Map(Array.from(roots, ([name, rows]) => [name, rows.map(copyRow)])),
    keys: new Map(keys),
    audits: [...audits]
  }
}

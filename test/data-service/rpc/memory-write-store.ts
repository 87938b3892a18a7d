import type { NamedValues } from '../../../data-service/entity/action.js'
import type { Children, Entity } from '../../../data-service/entity/entity.js'
import { firstRowVersion, nextRowVersion, type RowVersion } from '../../../data-service/entity/fields/row-version.js'
import type { Operand, Value } from '../../../data-service/entity/fields/field.js'
import type {
  Assignments,
  Condition,
  DeletePlan,
  ExpectedVersions,
  RowScope
} from '../../../data-service/plan/model/plans.js'
import { selectedName } from '../../../data-service/plan/model/projection.js'
import type { StoredResponse, LockedRow, UnitOfWork, WriteStore } from '../../../data-service/plan/model/stores.js'

interface MemoryRow {
  values: Map<string, Value>
  version: RowVersion
  children: Map<string, MemoryRow[]>
}

interface State {
  roots: Map<string, MemoryRow[]>
  keys: Map<string, StoredResponse>
}

/** Rows in memory with one transaction at a time, undone when its work throws. Ids count up from 1 in each table. */
export class MemoryWriteStore implements WriteStore {
  #state: State = { roots: new Map(), keys: new Map() }
  #lastId = 0
  #queue: Promise<unknown> = Promise.resolve()

  transaction<Result>(_signal: AbortSignal, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
    const run = async (): Promise<Result> => {
      const saved = copyOf(this.#state)
      try {
        return await work(this.#unit())
      } catch (error) {
        this.#state = saved
        throw error
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
  add(resource: string, values: NamedValues): Buffer {
    const row = newRow(Object.entries(values))
    this.#table(resource).push(row)
    return row.version
  }

  get keys(): number {
    return this.#state.keys.size
  }

  row(resource: string, id: Operand): NamedValues | undefined {
    const row = this.#find(resource, id)
    return row && Object.fromEntries(row.values)
  }

  #unit(): UnitOfWork {
    return {
      get accounts(): never {
        throw new TypeError('There are no accounts here')
      },
      rollBackAtEnd: () => undefined,
      findResponse: async ({ keyHash }) => this.#state.keys.get(keyHash.toString('hex')),
      forgetResponses: async (claims) => {
        for (const { keyHash } of claims) this.#state.keys.delete(keyHash.toString('hex'))
      },
      claimKey: async ({ keyHash }) => this.#state.keys.get(keyHash.toString('hex')),
      createAtOnce: () => Promise.resolve(undefined),
      storeResponse: ({ keyHash, fingerprint }, answer) => {
        this.#state.keys.set(keyHash.toString('hex'), { fingerprint, answer })
      },
      lock: async ({ entity, key: [id], scope, children }) => {
        const row = this.#find(entity.name, id)
        if (row === undefined || !inScope(row, scope)) return undefined
        return withChildren(row, children)
      },
      lockAll: unused,
      insertAll: unused,
      look: async ({ entity, scope, ...named }) => {
        const row =
          'key' in named
            ? this.#find(entity.name, named.key[0])
            : this.#table(entity.name).find((one) => meets(one, [named.where]))
        return row !== undefined && inScope(row, scope) ? row : undefined
      },
      insert: async ({ entity, values, version, children }) => {
        if (version === null) throw new Error('Every row of this store has a version')
        const row = this.#rowOf(values, version)
        for (const one of children) {
          row.children.set(
            one.children.name,
            one.rows.map((child) => this.#rowOf(child.values, child.version))
          )
        }
        this.#table(entity.name).push(row)
        return [idOf(row)]
      },
      update: async ({ entity, key, scope, expected, required, values }) => {
        const row = this.#matched(entity, { key, scope, expected })
        if (row === undefined || !meets(row, required)) return false
        for (const [{ name }, value] of values) row.values.set(name, value)
        row.version = nextRowVersion(row.version)
        return true
      },
      delete: unused,
      writeChild: unused,
      find: unused,
      findByUnique: unused,
      findReferencing: unused,
      countReferencing: unused,
      countOutside: unused,
      page: unused,
      select: unused,
      call: unused,
      run: unused,
      get: async ({ entity, key: [id], projection }) => {
        const row = this.#find(entity.name, id)
        if (row === undefined) return undefined
        const values = projection.selected.map((one) =>
          one.kind === 'rowVersion' ? row.version : (row.values.get(selectedName(one)) ?? null)
        )
        return { values, references: new Map(), manyToMany: new Map(), children: new Map(), truncated: [] }
      },
      audit: () => Promise.resolve(),
      auditAll: unused,
      auditAfterChange: () => Promise.resolve(true),
      together: (issue) => issue(),
      emit: unused,
      deliverEvent: unused
    }
  }

  #table(name: string): MemoryRow[] {
    const table = this.#state.roots.get(name) ?? []
    this.#state.roots.set(name, table)
    return table
  }

  #find(resource: string, id: Operand): MemoryRow | undefined {
    return this.#table(resource).find((row) => idOf(row) === id)
  }

  #matched(entity: Entity, match: Pick<DeletePlan, 'key' | 'scope' | 'expected'>): MemoryRow | undefined {
    const row = this.#find(entity.name, match.key[0])
    if (row === undefined || !inScope(row, match.scope.before)) return undefined
    return match.expected === 'unconditional' || isExpected(row, match.expected) ? row : undefined
  }

  #rowOf(values: Assignments, version: RowVersion): MemoryRow {
    const named = Array.from(values, ([{ name }, value]): [string, Value] => [name, value])
    return { ...newRow([['id', ++this.#lastId + 100], ...named]), version }
  }
}

function unused(): Promise<never> {
  return Promise.reject(new Error('No test of this store needs it'))
}

function newRow(values: Iterable<readonly [string, Value]>): MemoryRow {
  return { values: new Map(values), version: firstRowVersion((size) => Buffer.alloc(size, 7)), children: new Map() }
}

function idOf({ values }: MemoryRow): Operand {
  const id = values.get('id')
  if (id === undefined || typeof id === 'object') throw new TypeError('no id')
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

function copyOf({ roots, keys }: State): State {
  const copyRow = ({ values, version, children }: MemoryRow): MemoryRow => ({
    values: new Map(values),
    version,
    children: new Map(Array.from(children, ([name, rows]) => [name, rows.map(copyRow)]))
  })
  return {
    roots: new Map(Array.from(roots, ([name, rows]) => [name, rows.map(copyRow)])),
    keys: new Map(keys)
  }
}

import type { Exchange } from '../../history.js'
import { auditOf, outcomeOf } from './audit.js'
import { csvOf, pathOf } from '../chains.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { objectOf } from '../json.js'

const RESOURCE = 'suppliers'
/** The workload whose rows these are. */
const WORKLOAD = 'imports'

/** What was asked for once, however often it was sent: under one key, or by one request without a key. */
interface Unit {
  /** The first request. */
  readonly id: string
  /** The request whose answer said that it was done. */
  done?: string
  /** Whether all of its requests were rejected. */
  isRejected: boolean
}

interface Import extends Unit {
  readonly skips: boolean
  /** Names of the rows that can be created, and of those that cannot. */
  readonly names: ReadonlySet<string>
  readonly wrong: ReadonlySet<string>
  /** Audit entries of creates by its requests. */
  created: number
}

interface Batch extends Unit {
  readonly isDelete: boolean
  /** By the id of a row: the version on which the write rests. */
  readonly versions: ReadonlyMap<string, string>
  /** What a change sets. */
  readonly country: string
  readonly written: Set<string>
}

/** A row as the audit trail has it. */
interface Trailed {
  country: string
  isDeleted: boolean
}

/** Imports that are broken off and sent again, and batches of changes and deletes of their rows. */
export class ImportedOnce implements Checker {
  readonly title = 'Imported once'
  readonly contract = '5. Writes'
  readonly how =
    '`imports` sends files of rows under a key, breaks some off at random moments and sends them again, some once more after their answer. It changes and deletes the rows in batches, each row by its version, some with one version that the row never had. In the end the names in the table, the audit trail and the counts of the answers are compared with the files, row by row.'
  readonly isOfWrites = true
  readonly promise =
    'An import that breaks off and is sent again leaves each row of its file there once, and none of those that fail; a batch of changes or deletes is done once and as a whole, or not at all, on the versions that it names.'
  readonly #imports = new Map<string, Import>()
  readonly #batches = new Map<string, Batch>()
  /** By request. */
  readonly #units = new Map<string, Import | Batch>()
  readonly #violations: Violation[] = []
  #answers = 0

  see(exchange: Exchange): void {
    const { id, workload, request, answer } = exchange
    const [resource, second, third] = pathOf(exchange)
    if (workload !== WORKLOAD || resource !== RESOURCE || request.method === 'GET') return
    const name = request.headers['idempotency-key'] ?? id
    const outcome = outcomeOf(answer)
    const unit =
      second === 'import'
        ? known(this.#imports, name, () => importOf(exchange))
        : known(this.#batches, name, () => batchOf(exchange, third === 'delete'))
    this.#units.set(id, unit)
    unit.isRejected &&= outcome === 'rejected'
    if (outcome !== 'done') return
    unit.done ??= id
    this.#answers++
    if ('names' in unit) this.#count(exchange, unit)
  }

  async judge(rows: Rows): Promise<Verdict> {
    const trail = await this.#readTrail(rows)
    for (const { id, done, isRejected, names, created } of this.#imports.values()) {
      const what = `The import of ${id} has ${names.size} rows that can be created, and the audit trail has ${created} of it`
      if (isRejected && created > 0) this.#violate(`${id} was rejected, and has created ${created} rows.`, id)
      else if (created > names.size) this.#violate(`${what}.`, id)
      else if (done !== undefined && created < names.size) this.#violate(`${what}; ${done} was acknowledged.`, id, done)
    }
    this.#judgeBatches()
    await this.#judgeTable(rows, trail)
    return { tried: this.#answers, of: 'acknowledged imports and batches', violations: this.#violations }
  }

  /** What an answer counts is what is in the file. */
  #count(exchange: Exchange, { names, wrong }: Import): void {
    const { id } = exchange
    const { rows, created, replayed, failed } = objectOf(exchange)
    const [all, made] = [names.size + wrong.size, Number(created) + Number(replayed)]
    if (rows !== all || made !== names.size || failed !== wrong.size) {
      const counted = `${String(rows)} rows, ${made} created and ${String(failed)} failed`
      this.#violate(`${id} sent ${all} rows, of which ${wrong.size} fail, and is told of ${counted}.`, id)
    }
  }

  /** The rows by their ids, as the audit trail has made and left them. */
  async #readTrail(rows: Rows): Promise<ReadonlyMap<string, Trailed>> {
    const trail = new Map<string, Trailed>()
    for await (const { requestId, row, action } of auditOf(rows, RESOURCE)) {
      if (requestId === '') continue
      const unit = this.#units.get(requestId)
      const id = row.slice(RESOURCE.length + 1)
      if (unit === undefined) {
        this.#violate(`${row} was written by ${requestId}, which has not asked for it.`)
      } else if ('names' in unit) {
        if (action === 'create') unit.created++
        if (action !== 'create' || trail.has(id))
          this.#violate(`${requestId} has made an entry of ${action} of ${row}.`, requestId)
        trail.set(id, { country: 'SE', isDeleted: false })
      } else this.#follow(unit, { id, requestId, action, row: trail.get(id) })
    }
    return trail
  }

  /** An entry of a batch. */
  #follow(
    unit: Batch,
    {
      id,
      requestId,
      action,
      row
    }: Readonly<Record<'id' | 'requestId' | 'action', string>> & { readonly row: Trailed | undefined }
  ): void {
    const isAsked = unit.versions.has(id) && action === (unit.isDelete ? 'delete' : 'update')
    if (!isAsked || row === undefined || row.isDeleted || unit.written.has(id)) {
      this.#violate(
        `${requestId} has an entry of ${action} of ${RESOURCE}/${id} which it cannot have, or has twice.`,
        requestId
      )
      return
    }
    unit.written.add(id)
    row.isDeleted = unit.isDelete
    if (!unit.isDelete) row.country = unit.country
  }

  #judgeBatches(): void {
    const left = new Map<string, Batch>()
    for (const batch of this.#batches.values()) {
      const { id, done, isRejected, versions, written } = batch
      if (isRejected && written.size > 0) this.#violate(`${id} was rejected, and has written ${written.size} rows.`, id)
      else if (written.size > 0 && written.size < versions.size)
        this.#violate(`${id} is a batch of ${versions.size} rows, of which ${written.size} were written.`, id)
      else if (done !== undefined && written.size === 0)
        this.#violate(`${done} was acknowledged, and has written nothing.`, done)
      for (const row of written) {
        const version = `${row} ${versions.get(row)}`
        const other = left.get(version)
        if (other === undefined) left.set(version, batch)
        else this.#violate(`${other.id} and ${id} have both written ${RESOURCE}/${row} on one version.`, other.id, id)
      }
    }
  }

  /** The rows that are there in the end. */
  async #judgeTable(rows: Rows, trail: ReadonlyMap<string, Trailed>): Promise<void> {
    const owners = new Map<string, Import>()
    for (const one of this.#imports.values()) for (const name of [...one.names, ...one.wrong]) owners.set(name, one)
    const found = await rows(`SELECT id, name, country FROM ${RESOURCE} WHERE name LIKE '${WORKLOAD}-%' ORDER BY id`)
    const seen = new Set<string>()
    const there = new Set<string>()
    const left = new Map<Import, number>()
    for (const row of found) {
      const [id, name] = [String(row['id']), String(row['name'])]
      there.add(id)
      const owner = owners.get(name)
      if (owner === undefined) this.#violate(`Nobody asked for ${name}.`)
      else if (owner.wrong.has(name)) this.#violate(`${name} must have failed, and is there.`, owner.id)
      else left.set(owner, (left.get(owner) ?? 0) + 1)
      if (seen.has(name)) this.#violate(`${name} exists more than once.`, ...(owner === undefined ? [] : [owner.id]))
      seen.add(name)
      const trailed = trail.get(id)
      if (trailed === undefined) this.#violate(`${name} is there, and has no audit entry of a create.`)
      else if (trailed.isDeleted) this.#violate(`${name} was deleted, and is there.`)
      else if (trailed.country !== row['country']) {
        this.#violate(
          `${name} ends with ${String(row['country'])}; the last change that was done says ${trailed.country}.`
        )
      }
    }
    for (const [id, { isDeleted }] of trail) {
      if (!isDeleted && !there.has(id))
        this.#violate(`${RESOURCE}/${id} was imported and is gone, and nobody has deleted it.`)
    }
    for (const [one, count] of left) {
      const isPart = one.done === undefined && !one.skips && count < one.names.size
      if (isPart)
        this.#violate(`${count} of ${one.names.size} rows of ${one.id} are there, which takes all or none.`, one.id)
    }
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

function known<U>(units: Map<string, U>, name: string, make: () => U): U {
  const unit = units.get(name) ?? make()
  units.set(name, unit)
  return unit
}

function importOf({ id, request }: Exchange): Import {
  const { body = '', target } = request
  const rows = request.headers['content-type'] === 'text/csv' ? rowsOfCsv(body) : rowsOfLines(body)
  const namesOf = (isWrong: boolean): ReadonlySet<string> =>
    new Set(rows.filter(({ country }) => (country === '') === isWrong).map(({ name }) => name))
  const skips = target.includes('onError=skip')
  return { id, isRejected: true, skips, names: namesOf(false), wrong: namesOf(true), created: 0 }
}

interface Supplier {
  readonly name: string
  readonly country: string
}

function rowsOfCsv(text: string): readonly Supplier[] {
  return csvOf(text)
    .slice(1)
    .map(([name = '', country = '']) => ({ name, country }))
}

function rowsOfLines(text: string): readonly Supplier[] {
  return text.split('\n').map((line) => JSON.parse(line) as Supplier)
}

function batchOf({ id, request }: Exchange, isDelete: boolean): Batch {
  const items = JSON.parse(request.body ?? '[]') as readonly {
    readonly id: number
    readonly rowVersion: string
    readonly country?: string
  }[]
  const versions = new Map(items.map((item) => [String(item.id), item.rowVersion]))
  return { id, isRejected: true, isDelete, versions, country: items[0]?.country ?? '', written: new Set() }
}

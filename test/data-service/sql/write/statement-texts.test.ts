import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { type LoggedStatement, StatementLog, statements } from '../../../api/statement-log.js'
import { condition, everything, getPlan, path } from '../plan-by-hand.js'
import { entity, freshWriteStore, type FreshWriteStore, never } from './fresh-write-store.js'
import {
  assign,
  childPlan,
  children,
  deletePlan,
  findPlan,
  findReferencingPlan,
  findByUniquePlan,
  insertPlan,
  lockPlan,
  lookPlan,
  newChild,
  updatePlan,
  version,
  writeScope
} from './write-plan-by-hand.js'

const products = entity('products')
const variants = children(products, 'variants')

/** Everything a unit of work can do, with values that depend on the number alone. */
async function everyStatement({ store }: FreshWriteStore, number: number): Promise<void> {
  const hash = (what: string): Buffer => createHash('sha256').update(`${what}${number}`).digest()
  const claim = { keyHash: hash('key'), fingerprint: hash('body'), now: number, expiresAt: number + 5 }
  const text = `value${number}`
  const row = (index: number) => ({ name: text, sku: `${text}-${index}`, price: `${number}.50`, stock: number })
  const scope = { kind: 'rows-where', conditions: [condition(path(products, 'sku'), 'equals', text)] } as const
  await store.transaction(never, async (unit) => {
    await unit.claimKey(claim)
    const values = { name: text, sku: text, categoryId: 1, price: `${number}.05`, isActive: number % 2 === 0 }
    const rows = [0, 1, 2].map((index) => newChild(variants, row(index), number))
    const id = await unit.insert(insertPlan(products, values, { children: [{ children: variants, rows }] }))
    const locked = await unit.lock(lockPlan(products, id, { scope, children: [variants] }))
    expect((await unit.look(lookPlan(products, id, { scope })))?.version).to.deep.equal(locked?.version)
    const child = Number(locked?.children.get('variants')?.[0]?.values.get('id'))
    const of = { children: variants, rootKey: id, key: [child], expected: [version(number)] } as const
    const changed = assign(variants, { stock: number + 1 })
    expect(await unit.writeChild(childPlan({ ...of, kind: 'update', values: changed }))).to.equal(true)
    await unit.writeChild(childPlan({ kind: 'insert', ...of, row: newChild(variants, row(3)) }))
    await unit.writeChild(childPlan({ ...of, kind: 'delete', expected: [version(number + 1)] }))
    await unit.find(findPlan(products, number % 2 === 0 ? [id, 1, 2] : [id, 5, 6, 7]))
    await unit.find(findPlan(products, [child], variants))
    await unit.findByUnique(findByUniquePlan(products, 'sku', text))
    await unit.findReferencing(
      findReferencingPlan(products, 'categoryId', { id: 1, children: [variants], maxRows: number - 7000 })
    )
    const required = [condition(path(products, 'isActive'), 'equals', number % 2 === 0)]
    const expected = number % 2 === 0 ? ([version(1), version(9), version(8)] as const) : undefined
    const four = expected ?? ([version(4), version(3), version(2), version(1)] as const)
    expect(
      await unit.update(
        updatePlan(products, id, { name: `${text}!` }, { scope: writeScope(scope), required, expected: four })
      )
    ).to.equal(true)
    await unit.get(getPlan(products, id, { projection: everything(products), scope }))
    await unit.audit({
      at: '2026-01-31T08:00:00.000Z',
      subject: text,
      resource: text,
      rowId: text,
      action: text,
      requestId: text
    })
    unit.storeResponse(claim, Buffer.from(text))
    expect(await unit.delete(deletePlan(products, id, { scope: writeScope(scope), expected: [version(2)] }))).to.equal(
      true
    )
  })
  await store.transaction(never, (unit) => unit.claimKey(claim))
  expect(await store.purgeKeys(number + 5, number)).to.equal(1)
}

const texts = (lines: readonly LoggedStatement[], command: string): string[] =>
  [...new Set(lines.filter((line) => line.command === command).map(({ text }) => text))].toSorted()

describe("texts of writes, by the server's own log", function () {
  // Tests of other processes may hold the log before this one.
  let fresh: FreshWriteStore
  let log: StatementLog

  before(async () => {
    fresh = await freshWriteStore('mysql')
    const root = insertPlan(entity('categories'), { name: 'Root', slug: 'root' })
    await fresh.store.transaction(never, (unit) => unit.insert(root))
    log = await StatementLog.open(fresh.url)
  })
  after(async () => {
    await log?.close()
    await fresh?.dispose()
  })

  it('are the same for all values, none of which is in any of them', async () => {
    const first = await log.during(() => everyStatement(fresh, 7001))
    const second = await log.during(() => everyStatement(fresh, 7204))
    for (const [at, lines] of [first, second].entries()) {
      const texted = texts(statements(lines), 'Query').map((text) => text.replace(/(BEGIN NOT ATOMIC) .*/, '$1'))
      expect(texted, `lines ${at}`).to.deep.equal(['BEGIN NOT ATOMIC', 'COMMIT', 'START TRANSACTION'])
    }
    const prepared = texts(first, 'Prepare')
    // Of a cluster alone (docs/decisions/016).
    expect(prepared.filter((text) => text.includes('ur_look_up_guards'))).to.deep.equal([])
    expect(await fresh.byHand.run('SELECT slot FROM ur_look_up_guards')).to.deep.equal([])
    expect(prepared).to.have.length(24)
    // The second time all of them are known to the connection, or are prepared on another with the same text.
    for (const text of texts(second, 'Prepare')) expect(prepared, text).to.include(text)
    for (const text of prepared) expect(text).to.not.match(/value\d|700|'/)
  })
})

import { expect } from 'chai'
import { type Answer, filter, ids, json } from '../api/http-call.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'

/** Names of tables and columns that mean something else without quotes (the entity files are in ledgers.ts). */
describeLibrary('tables and columns of any name', (store) => {
  const send = store.write.bind(store)
  const etagOf = ({ headers }: Answer): string => String(headers['etag'])
  /** The rows of the ledgers, in SQL by hand. */
  const stored = async (): Promise<unknown[]> => {
    const rows = await store.sql.run(
      'SELECT `Ledger.No` AS id, `order` AS number, `owner\'s "name"` AS owner, `$centre` AS centre, HEX(`VERSION`) AS v ' +
        'FROM `it\'s a "ledger"` ORDER BY `Ledger.No`'
    )
    return rows.map(({ id, number, owner, centre }) => [
      Number(id),
      number,
      owner,
      centre === null ? null : Number(centre)
    ])
  }
  const versionOf = async (id: number): Promise<string> => {
    const [row] = await store.sql.run('SELECT HEX(`VERSION`) AS v FROM `it\'s a "ledger"` WHERE `Ledger.No` = ?', [id])
    return `W/"${Buffer.from(String(row?.['v']), 'hex').toString('base64')}"`
  }
  const postings = (id: number): Promise<readonly Record<string, unknown>[]> =>
    store.sql.run('SELECT `$s0` AS what, HEX(`row version`) AS v FROM `group` WHERE `ledger?` = ? ORDER BY `key`', [id])

  before(async () => {
    for (const name of ['East', 'West']) expect((await send('POST', '/cost-centres', { name })).status).to.equal(201)
    const made = [
      { number: 'L-1', owner: "Jo's", credit: '10.00', centreId: 2, postings: [{ text: 'rent', amount: '1.50' }] },
      { number: 'L-2', owner: null, credit: '7.25', centreId: 1 },
      { number: 'L-3', owner: 'Kim', credit: '99.00', centreId: null, postings: [{ text: 'a', amount: '2.00' }] }
    ]
    for (const body of made) expect((await send('POST', '/ledgers', body)).status).to.equal(201)
  })

  it('are written by creates, with children, and shown with their navigations', async () => {
    expect(await stored()).to.deep.equal([
      [1, 'L-1', "Jo's", 2],
      [2, 'L-2', null, 1],
      [3, 'L-3', 'Kim', null]
    ])
    const [first] = json(
      await store.as(undefined, '/ledgers/paged?includeFKs=true&includeChildren=true&pageSize=1')
    ) as [Record<string, unknown>]
    const { paidBy, postings: rows, rowVersion, ...own } = first
    expect(own).to.deep.equal({ id: 1, number: 'L-1', owner: "Jo's", credit: '10.00', centreId: 2, centre: 'West' })
    expect(`W/"${String(rowVersion)}"`).to.equal(await versionOf(1))
    expect(paidBy).to.include({ id: 2, name: 'West' })
    expect(rows).to.have.length(1)
    expect((rows as object[])[0]).to.include({ id: 1, text: 'rent', amount: '1.50' })
    expect(etagOf(await store.as(undefined, '/ledgers/1'))).to.equal(await versionOf(1))
  })

  const FILTERS: readonly (readonly [property: string, operator: string, value: string, found: readonly number[]])[] = [
    ['id', 'gt', '1', [2, 3]],
    ['number', 'in', 'L-1,L-3', [1, 3]],
    ['owner', 'contains', "o'", [1]],
    ['owner', 'is empty', '', [2]],
    ['credit', 'between', '7.25,10', [1, 2]],
    ['centreId', 'is not empty', '', [1, 2]],
    ['centre', 'equals', 'EAST', [2]]
  ]
  for (const [property, operator, value, found] of FILTERS) {
    it(`are filtered by ${property} ${operator} ${value}`, async () => {
      expect(ids(await store.as(undefined, `/ledgers/paged?${filter(property, operator, value)}`))).to.deep.equal(found)
    })
  }

  it('may be those of the members that every object has', async () => {
    for (const body of [
      { name: 'A', constructor: 'Ann', toString: 5 },
      { name: 'B', constructor: 'Bo' }
    ]) {
      const made = await send('POST', '/contests', body)
      expect(made.status, made.text).to.equal(201)
      expect(json(made)).to.include({ toString: null, ...body })
    }
    const names = async (query: string): Promise<unknown[]> => {
      const answer = await store.as(undefined, `/contests/paged?${query}`)
      expect(answer.status, answer.text).to.equal(200)
      return (json(answer) as { name: string }[]).map(({ name }) => name)
    }
    expect(await names(filter('constructor', 'equals', 'Ann'))).to.deep.equal(['A'])
    expect(await names(filter('toString', 'greater than', '4'))).to.deep.equal(['A'])
    expect(await names('sortColumn=constructor&sortDirection=desc')).to.deep.equal(['B', 'A'])
    expect(await names('sortColumn=toString&sortDirection=desc&fields=name,toString')).to.deep.equal(['A', 'B'])
    expect(json(await store.as(undefined, '/contests/paged?fields=constructor&pageSize=1'))).to.deep.equal([
      { constructor: 'Ann' }
    ])
  })

  it('are sorted by, searched and exported', async () => {
    const orders = { number: [1, 2, 3], owner: [2, 1, 3], credit: [2, 1, 3], centre: [3, 2, 1] }
    for (const [column, expected] of Object.entries(orders)) {
      expect(ids(await store.as(undefined, `/ledgers/paged?sortColumn=${column}`)), column).to.deep.equal(expected)
      const first = await store.as(undefined, `/ledgers/paged?sortColumn=${column}&pageSize=1`)
      const next = await store.as(
        undefined,
        `/ledgers/paged?sortColumn=${column}&pageSize=2&after=${String(first.headers['x-next-cursor'])}`
      )
      expect(ids(next), `${column} after a cursor`).to.deep.equal(expected.slice(1))
    }
    const several = await store.as(undefined, '/ledgers/paged?sortColumn=owner,credit,number&sortDirection=desc')
    expect(ids(several)).to.deep.equal([3, 1, 2])
    expect(ids(await store.as(undefined, '/ledgers?search=kim'))).to.deep.equal([3])
    const { text } = await store.as(undefined, '/ledgers/export?bom=false&fields=id,owner,centreId&sortColumn=credit')
    expect(text).to.equal("id,owner,centreId\r\n2,,1\r\n1,Jo's,2\r\n3,Kim,\r\n")
  })

  it('are written by PUT, PATCH and actions under their version, and each advances it', async () => {
    const first = await versionOf(1)
    const put = await send('PUT', '/ledgers/1', { number: 'L-9', owner: 'New', credit: '1.00', centreId: 1 }, first)
    expect([put.status, etagOf(put)]).to.deep.equal([200, await versionOf(1)])
    expect((await send('PATCH', '/ledgers/1', { owner: 'Later' }, first)).status).to.equal(412)
    const patched = await send('PATCH', '/ledgers/1', { owner: null }, etagOf(put))
    expect([patched.status, (await stored())[0]]).to.deep.equal([200, [1, 'L-9', null, 1]])
    const posted = await send('PUT', '/ledgers/1/post', { text: 'more', amount: '3.00', postingId: 1 }, etagOf(patched))
    expect([posted.status, (await postings(1)).map(({ what }) => what)]).to.deep.equal([200, ['more']])
    const cleared = await send('PUT', '/ledgers/1/clear', {}, etagOf(posted))
    expect([cleared.status, await postings(1)]).to.deep.equal([200, []])
    const tags = [first, ...[put, patched, posted, cleared].map(etagOf)]
    expect(new Set(tags).size, 'every write has a version of its own').to.equal(5)
  })

  it('are deleted under their version, with their children; what is referred to stays', async () => {
    const stale = await versionOf(3)
    await store.sql.run('UPDATE `it\'s a "ledger"` SET `VERSION` = ? WHERE `Ledger.No` = 3', [Buffer.alloc(8, 7)])
    const remove = (target: string, tag: string): Promise<Answer> =>
      store.as(LIBRARIAN, target, { method: 'DELETE', headers: { 'if-match': tag } })
    expect((await remove('/ledgers/3', stale)).status).to.equal(412)
    expect((await remove('/ledgers/3', await versionOf(3))).status).to.equal(204)
    expect(await postings(3)).to.deep.equal([])
    const referred = await store.as(LIBRARIAN, '/cost-centres/1', { method: 'DELETE' })
    expect(referred.status).to.equal(409)
  })
})

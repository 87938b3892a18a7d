import { expect } from 'chai'
import { connect } from '../../data-service/sql/connect.js'
import { schemaReport } from '../../schema/check/check-schema.js'
import { type Answer, json } from '../api/http-call.js'
import { describeLibrary } from './describe-library.js'
import { gauges } from './gauges.js'

/** docs/other-writers.md: what the service and a program that knows no versions write into one table. */
describeLibrary('rows that other programs write too', (store, kind) => {
  const send = store.write.bind(store)
  const tagOf = ({ headers }: Answer): string => String(headers['etag'])
  const numberOf = (tag: string): bigint => Buffer.from(tag.slice(3, -1), 'base64').readBigUInt64BE()
  const create = async (serial: string): Promise<Answer> => {
    const created = await send('POST', '/gauges', { serial, place: 'Hall' })
    expect(created.status).to.equal(201)
    return created
  }
  const idOf = (answer: Answer): number => Number((json(answer) as { id: number }).id)
  const legacyUpdate = (id: number): Promise<unknown> =>
    store.sql.run('UPDATE gauges SET note = ? WHERE id = ?', ['by another program', id])

  it('without the trigger a stale tag passes after the other program has written', async () => {
    const created = await create('A-1')
    await legacyUpdate(idOf(created))
    const patched = await send('PATCH', `/gauges/${idOf(created)}`, { place: 'Attic' }, tagOf(created))
    expect(patched.status, 'this is what docs/other-writers.md warns of').to.equal(200)
  })

  describe('with the printed triggers', () => {
    before(async () => {
      // A trigger that updates the row itself is one more writer, whose UPDATE has a version of its own.
      if (kind === 'sqlite') await store.sql.run('DROP TRIGGER gauges_changed')
      const database = connect(store.databaseUrl)
      const { triggers } = await schemaReport(database, 'primary', [gauges])
      const found = triggers.find(({ text }) => text.startsWith('gauges:'))
      expect(found?.statements).to.have.length(2)
      for (const statement of found?.statements ?? []) await store.sql.run(statement)
      await database.sequelize.close()
    })

    it('an UPDATE of the other program makes the old tag stale', async () => {
      const created = await create('B-1')
      const target = `/gauges/${idOf(created)}`
      await legacyUpdate(idOf(created))
      const stale = await send('PATCH', target, { place: 'Attic' }, tagOf(created))
      expect([stale.status, stale.text.includes('"conflict"')]).to.deep.equal([412, true])
      const fresh = await store.as(undefined, target)
      expect(numberOf(tagOf(fresh)) - numberOf(tagOf(created))).to.equal(1n)
      expect((await send('PATCH', target, { place: 'Attic' }, tagOf(fresh))).status).to.equal(200)
    })

    it('each write of the service advances the version exactly once, and a create keeps its own', async () => {
      const created = await create('C-1')
      const target = `/gauges/${idOf(created)}`
      const [row] = await store.sql.run('SELECT HEX(row_version) AS v FROM gauges WHERE id = ?', [idOf(created)])
      expect(tagOf(created)).to.equal(`W/"${Buffer.from(String(row?.['v']), 'hex').toString('base64')}"`)
      expect(numberOf(tagOf(created)) & 0xffff_ffffn, 'the lower half of a first version').to.equal(0n)
      const patched = await send('PATCH', target, { place: 'Attic' }, tagOf(created))
      const put = await send('PUT', target, { serial: 'C-1', place: 'Cellar', reading: 3 }, tagOf(patched))
      const acted = await send('PUT', `${target}/read`, { reading: 4 }, tagOf(put))
      const tags = [created, patched, put, acted].map((answer) => numberOf(tagOf(answer)))
      expect(tags.slice(1).map((tag, index) => tag - (tags[index] ?? 0n))).to.deep.equal([1n, 1n, 1n])
      expect((await send('PATCH', target, { place: 'x' }, tagOf(put))).status).to.equal(412)
    })

    it('a row of the other program has a version at once, and none that it had before when it is inserted again', async () => {
      const insert = async (): Promise<Answer> => {
        await store.sql.run("INSERT INTO gauges (id, serial, place) VALUES (9000, 'legacy', 'Yard')")
        return store.as(undefined, '/gauges/9000')
      }
      const first = await insert()
      expect(numberOf(tagOf(first))).to.not.equal(0n)
      await store.sql.run('DELETE FROM gauges WHERE id = 9000')
      const second = await insert()
      expect(tagOf(second)).to.not.equal(tagOf(first))
      expect((await send('PATCH', '/gauges/9000', { place: 'x' }, tagOf(first))).status).to.equal(412)
      expect((await send('PATCH', '/gauges/9000', { place: 'x' }, tagOf(second))).status).to.equal(200)
    })
  })
})

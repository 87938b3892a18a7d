import { expect } from 'chai'
import { schemaOf } from '../../../schema/kinds/kinds.js'
import { connect } from '../../../data-service/sql/connect.js'
import type { Introspected } from '../../../schema/introspect/record.js'
import { databaseKinds } from '../../stack/databases.js'
import { loadRegionalBuses } from '../../harness/regional-buses.js'
import { IntrospectedApp } from './introspected-app.js'

/** Thirty tables that were not made for the service, with rows that are as awkward as their columns. */
for (const kind of databaseKinds().filter((one) => one === 'mysql')) {
  describe('the introspected database of a bus company', () => {
    let app: IntrospectedApp
    before(async () => {
      app = await IntrospectedApp.make(kind, [])
      await loadRegionalBuses(app.database.url)
    })
    after(() => app.dispose())

    /** All that its catalogue says of tables but those of the engine. */
    const foreignTables = async (): Promise<string> => {
      const database = connect(app.database.url)
      const { tables } = await schemaOf(database).describe()
      await database.sequelize.close()
      return JSON.stringify([...tables.values()].filter(({ name }) => !name.startsWith('ur_')))
    }

    it('is written without a mistake, and every resource of it answers, while no table changes', async () => {
      const before = await foreignTables()
      const ran = await app.run('introspect', '--key', 'vwOpenOrders=WorkOrderID')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      await app.writeConfig()
      expect(await app.compile()).to.equal('')
      const migrated = await app.run('migrate', '--among-tables-of', app.name)
      expect([migrated.code, migrated.stderr]).to.deep.equal([0, ''])
      const checked = await app.run('check')
      expect([checked.code, checked.stderr], checked.stdout).to.deep.equal([0, ''])
      expect(await foreignTables()).to.equal(before)

      const { tables } = JSON.parse(await app.read('entities/introspected.json')) as Introspected
      // The tables of others that are named like some of the engine's own are tables like others.
      expect(Object.keys(tables)).to.include.members([
        'accounts',
        'outbox',
        'tblVehicle',
        'meter_reading',
        'Lost Property',
        'vwOpenOrders'
      ])
      const stack = await app.start()
      try {
        const token = stack.token({ sub: 'a', role: 'Admin' })
        for (const [table, { resource }] of Object.entries(tables)) {
          const listed = await stack.call(`/${resource}?includeFKs=true`, { token })
          expect(listed.status, `${table}: ${listed.text}`).to.equal(200)
          expect((listed.body as unknown[]).length, table).to.be.greaterThan(0)
          if (table === 'accounts') expect(listed.text, 'a secret by its name').to.not.include('secret')
        }
        const [mechanic] = (await stack.call('/mechanics', { token })).body as Record<string, unknown>[]
        expect(mechanic?.['hourlyRate'], 'without the zeros of ZEROFILL').to.equal('52.50')
        const workOrders = await app.read('entities/work-orders.ts')
        expect(workOrders).to.include('defaultTo(unsigned(int()), 0)')
        const [stop] = (await stack.call('/stops?includeFKs=true', { token })).body as Record<string, unknown>[]
        expect(stop, 'a reference to itself by two columns').to.have.property('parent')
      } finally {
        await stack.stop()
      }
      expect(await foreignTables()).to.equal(before)
    })

    it('is left out where it cannot be served, with the reason', async () => {
      const report = await app.read('entities/introspected.md')
      for (const words of [
        'no request names one: it has no primary key and no unique key that is never null',
        'The column `total` (decimal(65,30)) is left out: its rows hold numbers of 65 digits',
        'The column `position` (point) is left out: a place or shape has no JSON form here',
        '`encryptedPassword` is hidden, since its name says that it is a secret'
      ]) {
        expect(report).to.include(words)
      }
    })
  })
}

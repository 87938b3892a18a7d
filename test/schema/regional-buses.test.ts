import { expect } from 'chai'
import { connect } from '../../data-service/sql/connect.js'
import type { LiveTable } from '../../schema/model/live-schema.js'
import { freshDatabase } from '../harness/database.js'
import { loadRegionalBuses } from '../harness/regional-buses.js'
import { schemaOf } from '../../schema/kinds/kinds.js'

describe('the live schema of thirty foreign tables', () => {
  let tables: ReadonlyMap<string, LiveTable> = new Map()
  before(async () => {
    const fresh = await freshDatabase('mysql')
    try {
      await loadRegionalBuses(fresh.url)
      const database = connect(fresh.url)
      try {
        tables = (await schemaOf(database).describe()).tables
      } finally {
        await database.sequelize.close()
      }
    } finally {
      await fresh.dispose()
    }
  })

  const named = (name: string): LiveTable => {
    const found = tables.get(name)
    if (found === undefined) throw new Error(`no table ${name}`)
    return found
  }

  it('has every table and every view, which can all be read', () => {
    const all = [...tables.values()]
    expect(all.filter(({ kind }) => kind === 'table')).to.have.length(30)
    expect(all.filter(({ kind }) => kind === 'view').map(({ name }) => name)).to.have.members([
      'night_departures',
      'stops by zone',
      'vwOpenOrders'
    ])
    expect(all.filter(({ broken }) => broken !== undefined)).to.deep.equal([])
    for (const { name, columns } of all) expect(columns, name).to.not.be.empty
  })

  it('knows the tables without a key, and keys of several columns in their order', () => {
    const keyless = [...tables.values()].filter(({ kind, primaryKey }) => kind === 'table' && primaryKey.length === 0)
    expect(keyless.map(({ name }) => name)).to.have.members([
      'concessions_fare_cards',
      'gps_position',
      'subsidy',
      'tblFuelLog'
    ])
    expect(named('trip_stop').primaryKey).to.deep.equal(['line_code', 'valid_from', 'trip_no', 'seq'])
    expect(named('price-list-2019').primaryKey).to.deep.equal(['zones', 'ticket'])
    expect(named('Lost Property').primaryKey).to.deep.equal(['Item No'])
  })

  it('knows references by several columns, to the table itself, and several to one table', () => {
    const references = (name: string): string[] =>
      named(name).foreignKeys.map(({ columns, table, referencedColumns }) =>
        [columns.join('+'), table, referencedColumns.join('+')].join(' ')
      )
    expect(references('driver')).to.have.members([
      'mentor_id driver driver_id',
      'stand_in_id driver driver_id',
      'home_operator+home_stop_no stop operator+stop_no'
    ])
    expect(references('stop')).to.deep.equal(['parent_operator+parent_stop_no stop operator+stop_no'])
    expect(references('fine')).to.deep.equal(['personnel_no driver personnel_no'])
    expect(references('Lost Property')).to.deep.equal(['Líne line line_code'])
  })

  it('has types, words, defaults and what the database computes', () => {
    const column = (table: string, name: string) => named(table).columns.find((one) => one.name === name)
    expect(column('tblWorkOrder', 'Status')?.type.words).to.deep.equal([
      '',
      'open',
      'waiting',
      'done',
      "it's complicated"
    ])
    expect(column('tblMechanic', 'Skills')?.type.words).to.include('body & paint')
    expect(column('tblWorkOrder', 'Changed')?.default).to.deep.equal({ kind: 'literal', value: '0000-00-00 00:00:00' })
    expect(column('tblWorkOrder', 'Changed')?.onUpdate?.toLowerCase()).to.include('current_timestamp')
    expect(column('driver', 'full_name')?.generated?.kind).to.equal('virtual')
    expect(column('driver', 'initials')?.generated?.kind).to.equal('stored')
    expect(column('fare_cards', 'id')?.type).to.include({ base: 'bigint', unsigned: true })
    expect(column('accounts', 'settings')?.type.base).to.equal('json')
    expect(column('tblVehicle', 'Options')?.type).to.include({ base: 'bit', length: 8 })
    expect(column('tblPart', 'Title')?.collation).to.equal('latin1_german2_ci')
    expect(named('tblPart').triggers.map(({ name }) => name)).to.deep.equal(['part_not_below_zero'])
  })
})

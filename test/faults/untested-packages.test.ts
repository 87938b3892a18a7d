import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { warnOfUntested } from '../../data-service/untested-packages.js'
import { installedVersion } from '../../shared/inner-members.js'
import { describeApi } from '../api/api-store.js'
import { rowIn, send } from '../api/writes/send.js'
import { isSoak } from '../harness/in-soak.js'
import { memoryLog } from '../harness/memory-log.js'
import { STORE } from '../harness/stack.js'
import { startProcess } from '../stack/service-process.js'

const hiding = (name: string): Readonly<Record<string, string>> => ({
  HIDDEN_MEMBER: name,
  NODE_OPTIONS: `--import=${new URL('hide-member.js', import.meta.url).href}`
})

describeApi(
  'a driver that lacks an inner member',
  (store) => {
    const warnings = () => store.stack.dataService.logs().filter((line) => line['package'] !== undefined)

    it('makes one warning in the log, which says that the driver is used by its public functions', () => {
      const installed = installedVersion({ name: 'mysql2', tested: '' })
      const [warning, ...others] = warnings()
      expect(others).to.deep.equal([])
      expect(warning).to.include({
        level: 'warn',
        package: 'mysql2',
        installed,
        tested: installed,
        msg:
          `mysql2 ${installed} is installed, which lacks Connection.unprepare; ${installed} is the version that was tested. ` +
          'Statements go by its public functions, which is slower. ' +
          `Install mysql2 ${installed}: \`npm ls mysql2\` shows what asks for another version.`
      })
      expect(warning?.['missing']).to.deep.equal(['Connection.unprepare'])
    })

    it('keeps no read and no write from being served', async () => {
      const body = { lines: [{ productId: 1, quantity: 1 }] }
      const created = await send(store, 'ada POST /orders', { body, key: 'once' })
      expect(created.status, created.text).to.equal(201)
      const again = await send(store, 'ada POST /orders', { body, key: 'once' })
      expect(again.headers['idempotent-replayed']).to.equal('true')
      expect(rowIn(again)).to.deep.equal(rowIn(created))
      for (const target of ['/products/1', '/products/paged', '/products/export']) {
        const read = await store.as('ada', target)
        expect(read.status, read.text).to.equal(200)
      }
    })
  },
  { on: 'mysql', processes: true, env: () => hiding('mysql2') }
)

describe('a package that lacks an inner member which nothing public replaces', () => {
  // One start in `npm test`: which members are looked for stands beside where they are used.
  const all = [
    ['sequelize', 'selectQuery'],
    ['@grpc/grpc-js', 'http2Servers']
  ] as const
  for (const [name, member] of isSoak ? all : all.slice(0, 1)) {
    it(`keeps the data service from starting, with a sentence that names it: ${name}`, async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
      try {
        const url = (file: string): string => `sqlite:${join(dataDir, file)}`
        const service = startProcess(STORE, {
          ...hiding(name),
          DATA_DIR: dataDir,
          DATABASE_URL: url('store.sqlite'),
          REVIEWS_DATABASE_URL: url('reviews.sqlite'),
          MIGRATE_AT_START: 'true',
          DATA_SERVICE_ADDRESS: '127.0.0.1:0'
        })
        expect(await service.ended).to.equal(1)
        const installed = installedVersion({ name, tested: '' })
        const texts = service.logs().flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        expect(texts.join('\n')).to.match(/^Cannot start: /)
        expect(texts.join('\n')).to.include(
          `${name} ${installed} is installed, which lacks ${member}; ${installed} is the version that was tested. ` +
            `Install ${name} ${installed}: \`npm ls ${name}\` shows what asks for another version.`
        )
      } finally {
        await rm(dataDir, { recursive: true, force: true })
      }
    })
  }
})

describe('a package in another version than the tested one', () => {
  it('makes one warning in the log if it has the members that are used', () => {
    const { log, lines } = memoryLog()
    const database = (url: string) => ({ setting: '', url })
    const databases = { primary: database('sqlite:one'), second: database('mysql://127.0.0.1/two') }
    warnOfUntested(databases, log, [{ name: 'sequelize', tested: '6.0.0' }])
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include({ level: 'warn', package: 'sequelize', tested: '6.0.0' })
    expect(lines[0]?.['msg']).to.include('Its inner members are used.')
  })
})

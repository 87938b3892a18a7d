import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { createConnection } from 'mysql2/promise'
import { etagOf, rowIn, sendTo } from '../api/writes/send.js'
import { freshDatabase, type FreshDatabase } from '../harness/database.js'
import { accepts } from '../harness/local-server.js'
import { adminOf, scrape } from '../harness/metrics.js'
import { Deployment, SERVICES } from './deployment.js'
import { previousBuild, THIS_BUILD } from './previous-build.js'
import { Traffic } from './traffic.js'

const say = (what: string): void => {
  process.stdout.write(`  ${what}\n`)
}

// In each run of the tests: test/faults/replicas.test.ts restarts data services under load, ending-servers.test.ts and
// draining-gateway.test.ts end gateways, and test/schema/ holds which migrations allow a rolling upgrade.
describe('two data services and two gateways behind a load balancer', () => {
  let database: FreshDatabase
  let previous: Awaited<ReturnType<typeof previousBuild>>
  let deployment: Deployment

  before(async () => {
    const began = performance.now()
    previous = await previousBuild()
    say(`Upgraded from ${previous.description} (${seconds(began)} s to have it).`)
    database = await freshDatabase('mysql')
    deployment = await Deployment.start(database, previous)
  })
  after(async () => {
    await deployment?.stop()
    await database?.dispose()
    await previous?.[Symbol.asyncDispose]()
  })

  /** Does something with each process in turn under load. No request fails. */
  async function inTurn(name: string, work: (traffic: Traffic) => Promise<void>): Promise<void> {
    const began = performance.now()
    const traffic = await Traffic.start(deployment, name)
    try {
      await traffic.more()
      await work(traffic)
      await traffic.more()
    } finally {
      await traffic.end()
    }
    const { reads, creates, updates } = traffic.answered
    const { length } = traffic.failures
    say(`${name}: ${reads} reads, ${creates} creates, ${updates} updates; ${length} failed; ${seconds(began)} s.`)
    await traffic.expectAll()
  }

  it('are upgraded one after the other, and no request fails', async () => {
    await inTurn('upgrade', async (traffic) => {
      traffic.phase = 'migrations'
      await deployment.migrate(THIS_BUILD)
      for (const name of SERVICES) {
        traffic.phase = `upgrade of ${name}`
        await deployment.replace(name, THIS_BUILD)
        await traffic.more()
      }
    })
  })

  it('are told to end in turn and started again, and no request fails', async () => {
    await inTurn('restart', async (traffic) => {
      for (const name of SERVICES) {
        traffic.phase = `restart of ${name}`
        await deployment.replace(name, THIS_BUILD)
        await traffic.more()
      }
    })
  })

  it('finish the writes that are under way when a gateway and a data service are told to end', async () => {
    const token = await deployment.token('clerk@example.com')
    const [gateway, dataService] = ['gateway-1', 'data-service-1'] as const
    const send = (method: string, target: string, write: object) =>
      sendTo(`http://${deployment.address(gateway)}`, { method, target, token }, write)
    const category = await send('POST', '/categories', { body: { name: 'Ending', slug: 'ending' } })
    const product = (sku: string) => ({ name: sku, sku, price: '1.00', categoryId: rowIn(category)['id'] })
    const made = await send('POST', '/products', { body: product('ENDING-1') })
    expect(made.status, made.text).to.equal(201)

    // Reads go on while a table is locked for reading, and writes wait.
    const locking = await createConnection({ uri: database.url })
    try {
      await locking.query('LOCK TABLES products READ')
      // Each goes to the data service that has fewer calls: one of them to either.
      const writes = [
        send('POST', '/products', { body: product('ENDING-2'), key: 'ending' }),
        send('PUT', `/products/${String(rowIn(made)['id'])}`, {
          body: { ...product('ENDING-1'), price: '2.00', isActive: true },
          ifMatch: etagOf(made)
        })
      ]
      await until(async () => {
        const [waiting] = await locking.query(
          "SELECT id FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND STATE LIKE 'Waiting for table%'"
        )
        return (waiting as readonly unknown[]).length === 2
      })
      const scraped = await scrape(await adminOf(deployment.process(dataService)))
      const underWay = ['Create', 'Update'].map((rpc) =>
        scraped.get(`uniform_rest_calls_in_flight{grpc_method="${rpc}"}`)
      )
      expect(underWay, `writes under way at ${dataService}`).to.have.members([0, 1])
      const ended = [deployment.process(dataService).stop(), deployment.process(gateway).stop()]
      await until(async () => !(await accepts(deployment.address(dataService))))
      await until(async () => !(await accepts(deployment.address(gateway))))
      await locking.query('UNLOCK TABLES')
      const answers = await Promise.all(writes)
      expect(answers.map(({ status }) => status)).to.deep.equal([201, 200])
      expect(rowIn(answers[1] ?? made)).to.include({ sku: 'ENDING-1', price: '2.00' })
      expect(await Promise.all(ended)).to.deep.equal([0, 0])
    } finally {
      await locking.end()
    }
  })
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(20)
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1)
}

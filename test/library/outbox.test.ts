import { expect } from 'chai'
import { eachDatabase } from '../harness/database.js'
import { expectOrderPerRow, OutboxService } from './outbox-service.js'

/** Handlers that run at the same time in one data service. */
const CONCURRENCY = 8

// When a delivery is tried again, and what becomes of a lease, is seen in test/data-service/outbox/, whose clock stands.
eachDatabase((kind) => {
  describe(`events after the commit on ${kind}`, () => {
    const service = new OutboxService()
    // An event whose only attempt has failed is set aside at once.
    before(() => service.start(kind, { OUTBOX_MAX_ATTEMPTS: '1', OUTBOX_HANDLER_TIMEOUT: '2s' }))
    after(() => service.stop())

    it('are delivered once the write is committed, with what the hook chose', async () => {
      const { id } = await service.create('plain', { 'x-request-id': 'who-asked' })
      await service.settled()
      const [row, ...others] = await service.rows(`row_id = '${id}'`)
      expect(others).to.deep.equal([])
      expect(row).to.include({ type: 'parcel-written', resource: 'parcels', request_id: 'who-asked', lease: null })
      expect(JSON.parse(String(row?.['payload']))).to.deep.equal({ operation: 'create', note: 'plain' })
      expect(Number(row?.['delivered_at'])).to.be.at.least(Number(row?.['occurred_at']))
      expect(service.handled(id).map(({ phase, attempt }) => [phase, attempt])).to.deep.equal([
        ['begin', 1],
        ['end', 1]
      ])
      const line = await service.dataService.logged(
        (one) => one['msg'] === 'parcel seen' && one['requestId'] === 'who-asked'
      )
      expect(line['eventId']).to.equal(row?.['event_id'])
    })

    it('are not there where the write is not: rejected, stale, colliding, or without a payload', async () => {
      const before = (await service.rows()).length
      const { id, etag } = await service.create('silent')
      const writes = [
        await service.send('POST', '/parcels', { code: 'rejected', depotId: 1, note: 'reject state' }),
        await service.send('POST', '/parcels', { code: 'broken', depotId: 1, note: 'throw' }),
        await service.send('POST', '/parcels', { code: 'nowhere', depotId: 999, note: 'x' }),
        await service.send('PUT', `/parcels/${id}/call-back`, { note: 'x' }, { 'if-match': 'W/"AAAAAAAAAAA="' }),
        await service.send('PUT', `/parcels/${id}/call-back`, { note: 'silent' }, { 'if-match': etag })
      ]
      expect(writes.map(({ status }) => status)).to.deep.equal([422, 500, 409, 412, 200])
      expect((await service.rows()).length).to.equal(before)
    })

    it('are emitted once by a write that is replayed, and once for each row of a batch', async () => {
      const body = { code: 'replay', depotId: 1, note: 'plain' }
      const answers = []
      for (let n = 0; n < 3; n++)
        answers.push(await service.send('POST', '/parcels', body, { 'idempotency-key': 'emit-once' }))
      expect(answers.map(({ headers }) => headers['idempotent-replayed'])).to.deep.equal([undefined, 'true', 'true'])
      const { id } = JSON.parse(answers[0]?.text ?? '') as { id: number }
      expect(await service.rows(`row_id = '${id}'`)).to.have.length(1)
      const batch = [1, 2, 3].map((n) => ({ code: `batch-${n}`, depotId: 1, note: 'plain' }))
      const made = await service.send('POST', '/parcels/batch', batch)
      const ids = (JSON.parse(made.text) as { id: number }[]).map((one) => String(one.id))
      const rows = await service.rows(`row_id IN (${ids.map((one) => `'${one}'`).join()})`)
      expect(rows.map((row) => row['row_id'])).to.deep.equal(ids)
      await service.settled()
    })

    it('create the rows that the handler answers once, with the mark of the delivery', async () => {
      const { id } = await service.create('receipt')
      await service.settled()
      const [row] = await service.rows(`row_id = '${id}'`)
      const code = String(row?.['event_id'])
      expect(await service.select(`SELECT id FROM receipts WHERE code = '${code}'`)).to.have.length(1)
      const entries = await service.select("SELECT subject, action FROM ur_audit_entries WHERE resource = 'receipts'")
      expect(entries).to.deep.equal([{ subject: 'outbox parcel-written', action: 'create' }])
    })

    it('are set aside after OUTBOX_MAX_ATTEMPTS, and are listed and retried by `uniform-rest outbox`', async () => {
      const { id } = await service.create('fail')
      await service.settled()
      const [row] = await service.rows(`row_id = '${id}'`)
      expect(row).to.include({ last_error: 'not today: fail', due_at: null, delivered_at: null })
      const eventId = String(row?.['event_id'])
      const listed = (await service.command('outbox', 'list')).split('\n').find((line) => line.startsWith(eventId))
      expect(listed).to.match(
        new RegExp(`^${eventId}  parcel-written  parcels/${id}  \\S+Z  1 attempts  "not today: fail"$`)
      )
      expect(await service.command('outbox', 'retry', eventId)).to.equal('Waiting again: 1.\n')
      await service.until('a further delivery', () => service.handled(id).length === 4)
      expect(service.handled(id).map(({ attempt }) => attempt)).to.deep.equal([1, 1, 1, 1])
      await service.settled()
      // The command does the same on every database then.
      if (kind !== 'sqlite') return
      expect(await service.command('outbox', 'retry', 'nothing').catch(String)).to.include('has the id nothing')
      expect(await service.command('outbox', 'retry', '--all', '--type', 'other')).to.equal('Waiting again: 0.\n')
      expect(await service.command('outbox', 'retry', '--all')).to.match(/^Waiting again: [1-9]\d*\.\n$/)
      await service.settled()
      const setAside = await service.rows('dead_at IS NOT NULL')
      expect(await service.command('outbox', 'drop', eventId)).to.equal('Deleted: 1.\n')
      expect(await service.rows('dead_at IS NOT NULL')).to.have.length(setAside.length - 1)
      const others = setAside.length - 1
      const ofType = ['--all', '--type', 'parcel-written']
      expect(await service.command('outbox', 'drop', ...ofType)).to.equal(`Deleted: ${others}.\n`)
      expect(await service.command('outbox', 'list')).to.equal('No event was set aside.\n')
    })

    it('count a handler that takes longer than OUTBOX_HANDLER_TIMEOUT as failed, and abort its signal', async () => {
      const { id } = await service.create('block for-ever')
      await service.until('an aborted handler', () => service.handled(id).some(({ phase }) => phase === 'aborted'))
      await service.settled()
      const [row] = await service.rows(`row_id = '${id}'`)
      expect(row).to.include({ last_error: 'The handler took longer than OUTBOX_HANDLER_TIMEOUT', delivered_at: null })
    })

    it('are purged OUTBOX_RETENTION after their delivery, and those that were set aside are kept', async () => {
      const dead = await service.rows('dead_at IS NOT NULL')
      expect(await service.rows('delivered_at IS NOT NULL')).not.to.be.empty
      await service.startBeside({ OUTBOX_RETENTION: '1ms' }, { purgeEvery: 20 })
      await service.until('no delivered event', async () => (await service.rows('dead_at IS NULL')).length === 0)
      expect(await service.rows()).to.deep.equal(dead)
    })
  })

  describe(`events with two data services on ${kind}`, () => {
    const service = new OutboxService()
    // They race for every event, also for those that the other one has emitted.
    before(async () => {
      await service.start(kind, { OUTBOX_POLL_INTERVAL: '20ms' })
      await service.startBeside()
    })
    after(() => service.stop())

    it('are handled by both of them', async () => {
      const ids: number[] = []
      for (let n = 0; n <= CONCURRENCY; n++) ids.push((await service.create('block both')).id)
      const begun = (): number => service.handled().filter(({ phase }) => phase === 'begin').length
      await service.until('more handlers than one has', () => begun() === ids.length)
      service.unblock('both')
      await service.settled()
      expect(service.handled().filter(({ phase }) => phase === 'end')).to.have.length(ids.length)
    })

    it('are handled by one of them at a time, in the order of each row, and none is lost', async () => {
      const before = service.handled().length
      const rows = await Promise.all(Array.from({ length: 4 }, () => service.create('slow')))
      // Each client writes its row again and again; all of them at once.
      await Promise.all(
        rows.map(async ({ id, etag }) => {
          let tag = etag
          for (let n = 0; n < 10; n++) tag = await service.callBack(id, n % 5 === 0 ? 'slow' : 'plain', tag)
        })
      )
      await service.settled()
      const handled = service.handled().slice(before)
      expectOrderPerRow(handled, await service.rows())
      expect(handled.filter(({ phase }) => phase === 'end')).to.have.length(4 * 11)
    })
  })

  // A process that ends does so on every database; test/soak/outbox.test.ts kills services on both.
  if (kind !== 'sqlite') return
  describe(`events of a data service that ends on ${kind}`, () => {
    const service = new OutboxService()
    // What a process emits it delivers without a look into the outbox.
    before(() => service.startProcesses(kind, { OUTBOX_POLL_INTERVAL: '1h', OUTBOX_HANDLER_TIMEOUT: '60s' }))
    after(() => service.stop())

    it('are delivered by the next one where it was killed between the commit and the delivery', async () => {
      const { id } = await service.create('block killed')
      await service.until('a running handler', () => service.handled(id).length === 1)
      const [claimed] = await service.rows(`row_id = '${id}'`)
      expect(claimed?.['lease']).not.to.equal(null)
      await service.process.kill()
      service.unblock('killed')
      await service.endLeases()
      await service.startAgain()
      await service.settled()
      expect(service.handled(id).map(({ phase, attempt }) => [phase, attempt])).to.deep.equal([
        ['begin', 1],
        ['begin', 2],
        ['end', 2]
      ])
    })

    it('are delivered before it ends where their handlers run when it is told to', async () => {
      const { id } = await service.create('block soon')
      await service.until('a running handler', () => service.handled(id).length === 1)
      const stopped = service.process.stop()
      await service.process.logged(({ msg }) => msg === 'stopping')
      service.unblock('soon')
      expect(await stopped).to.equal(0)
      const [done] = await service.rows(`row_id = '${id}'`)
      expect(done?.['delivered_at']).not.to.equal(null)
    })
  })
})

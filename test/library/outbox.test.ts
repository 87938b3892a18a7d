import { expect } from 'chai'
import { type DatabaseKind, eachDatabase } from '../harness/database.js'
import { expectOrderPerRow, OutboxService } from './outbox-service.js'

function describeOutbox(
  title: string,
  body: (service: OutboxService, kind: DatabaseKind) => void,
  env: Readonly<Record<string, string>> = {}
): void {
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, function () {
      this.timeout(90_000)
      const service = new OutboxService()
      before(() => service.start(kind, env))
      after(() => service.stop())
      body(service, kind)
    })
  })
}

describeOutbox('events after the commit', (service) => {
  it('are delivered once the write is committed, with what the hook chose', async () => {
    const { id } = await service.create('plain', { 'x-request-id': 'who-asked' })
    await service.until('a delivery', () => service.handled(id).some(({ phase }) => phase === 'end'), 5000)
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

  it('are tried again after a failure, and later ones of the same row wait while others go on', async () => {
    const { id, etag } = await service.create('fail twice')
    await service.callBack(id, 'plain', etag)
    const other = await service.create('plain')
    await service.until('another row', () => service.handled(other.id).some(({ phase }) => phase === 'end'), 5000)
    expect(service.handled(id).some(({ operation }) => operation === 'action')).to.equal(false)
    await service.settled()
    expect(service.handled(id).map(({ phase, attempt, operation }) => [phase, attempt, operation])).to.deep.equal([
      ['begin', 1, 'create'],
      ['failed', 1, 'create'],
      ['begin', 2, 'create'],
      ['failed', 2, 'create'],
      ['begin', 3, 'create'],
      ['end', 3, 'create'],
      ['begin', 1, 'action'],
      ['end', 1, 'action']
    ])
    const [first, second, third] = service.handled(id).filter(({ phase }) => phase === 'begin')
    // One second and two seconds, each with a quarter more or less.
    expect(Number(second?.at) - Number(first?.at)).to.be.within(700, 3000)
    expect(Number(third?.at) - Number(second?.at)).to.be.within(1450, 5000)
  })

  it('are set aside after the last attempt, which the log tells, and the row goes on', async () => {
    const { id, etag } = await service.create('fail')
    await service.callBack(id, 'plain', etag)
    await service.settled()
    const [dead, next] = await service.rows(`row_id = '${id}'`)
    expect(dead).to.include({ last_error: 'not today: fail', due_at: null, delivered_at: null })
    expect(Number(dead?.['attempts'])).to.equal(3)
    expect(Number(dead?.['dead_at'])).to.be.greaterThan(0)
    expect(next?.['delivered_at']).not.to.equal(null)
    expect(service.handled(id).filter(({ phase }) => phase === 'failed')).to.have.length(3)
    const line = await service.dataService.logged((one) => String(one['msg']).startsWith('event set aside'))
    expect(line).to.include({ level: 'error', eventId: dead?.['event_id'], resource: 'parcels', attempt: 3 })
  })

  it('that were set aside are listed and retried by `uniform-rest outbox`', async () => {
    const { id } = await service.create('fail')
    await service.settled()
    const [row] = await service.rows(`row_id = '${id}'`)
    const eventId = String(row?.['event_id'])
    const listed = (await service.command('outbox', 'list')).split('\n').find((line) => line.startsWith(eventId))
    expect(listed).to.match(
      new RegExp(`^${eventId}  parcel-written  parcels/${id}  \\S+Z  3 attempts  "not today: fail"$`)
    )
    expect(await service.command('outbox', 'retry', eventId)).to.equal('Waiting again: 1.\n')
    await service.until('a further delivery', () => service.handled(id).length === 8)
    expect(service.handled(id).map(({ attempt }) => attempt)).to.deep.equal([1, 1, 2, 2, 3, 3, 1, 1])
    await service.settled()
    expect(await service.command('outbox', 'retry', 'nothing').catch(String)).to.include('has the id nothing')
    expect(await service.command('outbox', 'retry', '--all')).to.match(/^Waiting again: [1-9]\d*\.\n$/)
    await service.settled()
  })

  it('count a handler that takes too long as failed, and abort its signal', async () => {
    const { id } = await service.create('block for-ever')
    await service.until(
      'an aborted handler',
      () => service.handled(id).some(({ phase }) => phase === 'aborted'),
      10_000
    )
    service.unblock('for-ever')
    await service.settled()
    const [row] = await service.rows(`row_id = '${id}'`)
    expect(row).to.include({ last_error: 'The handler took longer than OUTBOX_HANDLER_TIMEOUT' })
    expect(Number(row?.['attempts'])).to.equal(2)
    expect(row?.['delivered_at']).not.to.equal(null)
  })

  it('keep the order of one row under concurrent writes, and lose none', async () => {
    const rows = await Promise.all(Array.from({ length: 8 }, () => service.create('slow')))
    const before = (await service.rows()).length
    // Each client writes its row again and again; all of them at once.
    const done = await Promise.all(
      rows.map(async ({ id, etag }) => {
        let tag = etag
        for (let n = 0; n < 25; n++) tag = await service.callBack(id, n % 5 === 0 ? 'slow' : 'plain', tag)
        return 25
      })
    )
    expect((await service.rows()).length - before).to.equal(done.reduce((sum, one) => sum + one, 0))
    await service.settled()
    expectOrderPerRow(
      service.handled().filter(({ rowId }) => rows.some(({ id }) => String(id) === rowId)),
      await service.rows()
    )
    expect(await service.rows("delivered_at IS NULL AND last_error <> 'not today: fail'")).to.deep.equal([])
  })
})

describeOutbox(
  'events of a data service that stops',
  (service) => {
    it('wait while the process stops: a handler may end, and one that does not gives its event back', async () => {
      const ending = await service.create('block soon')
      const { id } = await service.create('block never')
      const begun = (): boolean =>
        [id, ending.id].every((one) => service.handled(one).some(({ phase }) => phase === 'begin'))
      await service.until('two running handlers', begun, 5000)
      const stopped = service.dataService.stop()
      service.unblock('soon')
      expect(await stopped).to.equal(0)
      const [done] = await service.rows(`row_id = '${ending.id}'`)
      expect(done?.['delivered_at']).not.to.equal(null)
      const [waiting] = await service.rows(`row_id = '${id}'`)
      expect(waiting).to.include({ delivered_at: null, dead_at: null })
      expect(waiting?.['due_at']).not.to.equal(null)
      service.unblock('never')
      await service.startReplica('address of the stack')
      await service.settled()
      const [late] = await service.rows(`row_id = '${id}'`)
      expect(late?.['delivered_at']).not.to.equal(null)
    })
  },
  { OUTBOX_HANDLER_TIMEOUT: '60s' }
)

describeOutbox('events of a data service that is killed', (service) => {
  it('between the commit and the delivery are delivered by the next one', async () => {
    const { id } = await service.create('block killed')
    await service.until('a running handler', () => service.handled(id).length === 1, 5000)
    const [claimed] = await service.rows(`row_id = '${id}'`)
    expect(claimed?.['lease']).not.to.equal(null)
    await service.dataService.kill()
    service.unblock('killed')
    await service.startReplica('address of the stack')
    await service.settled()
    expect(service.handled(id).map(({ phase, attempt }) => [phase, attempt])).to.deep.equal([
      ['begin', 1],
      ['begin', 2],
      ['end', 2]
    ])
  })
})

describeOutbox(
  'events with several data services',
  (service) => {
    it('are handled by one of them at a time, in the order of each row, and none is lost', async () => {
      const replicas = [await service.startReplica(), await service.startReplica()]
      const rows = await Promise.all(Array.from({ length: 10 }, () => service.create('slow')))
      await Promise.all(
        rows.map(async ({ id, etag }) => {
          let tag = etag
          for (let n = 0; n < 15; n++) tag = await service.callBack(id, 'slow', tag)
        })
      )
      await service.settled()
      const handled = service.handled()
      expectOrderPerRow(handled, await service.rows())
      expect(handled.filter(({ phase }) => phase === 'end')).to.have.length(10 * 16)
      expect(new Set(handled.map(({ pid }) => pid)).size, 'processes that took part').to.be.at.least(2)
      for (const one of replicas) await one.stop()
    })
  },
  // They race for every event, also for those that another one has emitted.
  { OUTBOX_POLL_INTERVAL: '20ms' }
)

describeOutbox(
  'delivered events',
  (service) => {
    it('are purged after their retention, and those that were set aside are kept', async () => {
      await service.create('plain')
      const { id } = await service.create('fail')
      await service.until('only one row', async () => (await service.rows()).length === 1)
      await service.settled()
      expect((await service.rows()).map((row) => row['row_id'])).to.deep.equal([String(id)])
    })
  },
  {
    OUTBOX_RETENTION: '1s',
    NODE_OPTIONS: `--import=${new URL('../faults/writes/impatient-purge.js', import.meta.url).href}`
  }
)

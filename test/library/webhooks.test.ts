import { expect } from 'chai'
import { eachDatabase } from '../harness/database.js'
import { isSoak } from '../harness/in-soak.js'
import { adminOf, scrape } from '../harness/metrics.js'
import { dataOf, isSigned, NEXT_SECRET, SECRET, WebhookReceiver } from '../harness/webhook-receiver.js'
import { OutboxService } from './outbox-service.js'

/** The settings of the webhooks of the library. */
const settingsOf = (accounting: WebhookReceiver, archive: WebhookReceiver) => ({
  ACCOUNTING_WEBHOOK_URL: accounting.url(),
  ACCOUNTING_WEBHOOK_SECRET: SECRET,
  ARCHIVE_WEBHOOK_URL: archive.url(),
  ARCHIVE_WEBHOOK_SECRET: NEXT_SECRET,
  WEBHOOK_PRIVATE_NETWORKS: 'true'
})

// When a delivery is tried again, and how addresses are refused, is seen in test/data-service/outbox/, whose clock stands.
eachDatabase((kind) => {
  describe(`webhooks of an application on ${kind}`, () => {
    const service = new OutboxService()
    let accounting: WebhookReceiver
    let archive: WebhookReceiver
    before(async () => {
      ;[accounting, archive] = [await WebhookReceiver.start(), await WebhookReceiver.start()]
      const more = { OUTBOX_MAX_ATTEMPTS: '1', DATA_SERVICE_ADMIN_PORT: '0' }
      await service.start(kind, { ...settingsOf(accounting, archive), ...more })
    })
    after(async () => {
      await service.stop()
      await Promise.all([accounting.stop(), archive.stop()])
    })

    it('each get what a committed write has emitted once, beside the handler, with an id and a secret of their own', async () => {
      const { id } = await service.create('plain', { 'x-request-id': 'who-asked' })
      await service.settled()
      const rows = await service.rows(`row_id = '${id}'`)
      expect(rows.map(({ type }) => type)).to.deep.equal([
        'parcel-written',
        'parcel-written@accounting',
        'parcel-written@archive'
      ])
      expect(service.handled(id).map(({ phase }) => phase)).to.deep.equal(['begin', 'end'])
      for (const [at, receiver, secret] of [
        [1, accounting, SECRET],
        [2, archive, NEXT_SECRET]
      ] as const) {
        const [request, ...others] = receiver.received
        if (request === undefined) throw new Error('nothing was sent')
        expect(others).to.deep.equal([])
        expect(request.id).to.equal(rows[at]?.['event_id'])
        expect(isSigned(request, secret)).to.equal(true)
        const { timestamp, ...rest } = JSON.parse(request.body) as { readonly timestamp: string }
        expect(Date.parse(timestamp)).to.equal(Number(rows[at]?.['occurred_at']))
        expect(rest).to.deep.equal({
          type: 'parcel-written',
          data: { resource: 'parcels', rowId: String(id), payload: { operation: 'create', note: 'plain' } }
        })
      }
    })

    it('get nothing of a write that is rejected, stale, without a payload or a dry run', async () => {
      const before = (await service.rows()).length
      const { id, etag } = await service.create('silent')
      const target = `/parcels/${id}/call-back`
      const writes = [
        await service.send('POST', '/parcels', { code: 'rejected', depotId: 1, note: 'reject state' }),
        await service.send('PUT', target, { note: 'x' }, { 'if-match': 'W/"AAAAAAAAAAA="' }),
        await service.send('PUT', target, { note: 'x' }, { 'if-match': etag, prefer: 'tx=rollback' })
      ]
      expect(writes.map(({ status }) => status)).to.deep.equal([422, 412, 200])
      expect((await service.rows()).length).to.equal(before)
    })

    it('get the events of each row in the order of its writes', async () => {
      const rows = await Promise.all(Array.from({ length: 3 }, () => service.create('plain')))
      await Promise.all(
        rows.map(async ({ id, etag }) => {
          let tag = etag
          for (let n = 0; n < 4; n++) tag = await service.callBack(id, `note ${n}`, tag)
        })
      )
      await service.settled()
      for (const { id } of rows) {
        for (const receiver of [accounting, archive]) {
          const payloads = receiver.received.map(({ body }) => dataOf(body)).filter(({ rowId }) => rowId === String(id))
          expect(payloads.map(({ payload }) => 'note' in payload && payload.note)).to.deep.equal([
            'plain',
            ...[0, 1, 2, 3].map((n) => `note ${n}`)
          ])
        }
      }
    })

    it('that fail to the last attempt are set aside, counted, listed and sent again with the same id', async () => {
      archive.answer = () => 500
      const { id } = await service.create('plain')
      await service.settled()
      const dead = await service.rows('dead_at IS NOT NULL')
      expect(dead.map(({ type, row_id: row }) => [type, row])).to.deep.equal([['parcel-written@archive', String(id)]])
      const eventId = String(dead[0]?.['event_id'])
      const told = await service.dataService.logged((line) => line['eventId'] === eventId && line['level'] === 'error')
      expect(told['msg']).to.equal('event set aside after its last failed delivery')
      const counts = await scrape(await adminOf(service.dataService))
      const name = 'uniform_rest_outbox_deliveries_total'
      expect(counts.get(`${name}{outcome="set_aside",type="parcel-written@archive"}`)).to.equal(1)
      expect(counts.get(`${name}{outcome="set_aside",type="parcel-written@accounting"}`)).to.equal(0)
      expect(counts.get(`${name}{outcome="delivered",type="parcel-written@accounting"}`)).to.be.at.least(1)
      expect(await service.command('outbox', 'list')).to.match(
        new RegExp(
          `^${eventId}  parcel-written@archive  parcels/${id}  \\S+Z  1 attempts  "The webhook archive answered 500"\n$`
        )
      )
      archive.answer = () => 204
      expect(await service.command('outbox', 'retry', eventId)).to.equal('Waiting again: 1.\n')
      await service.until('the delivery', () => archive.idsOf(String(id)).length === 2)
      expect(archive.idsOf(String(id))).to.deep.equal([eventId, eventId])
      await service.settled()
    })
  })

  // outbox.test.ts ends a service with events in any case, and webhooks are events with one more mark.
  if (!isSoak || kind !== 'sqlite') return
  describe(`webhooks of a data service that is killed on ${kind}`, () => {
    const service = new OutboxService()
    let accounting: WebhookReceiver
    let archive: WebhookReceiver
    before(async () => {
      ;[accounting, archive] = [await WebhookReceiver.start(), await WebhookReceiver.start()]
      await service.startProcesses(kind, { ...settingsOf(accounting, archive), OUTBOX_POLL_INTERVAL: '1h' })
    })
    after(async () => {
      await service.stop()
      await Promise.all([accounting.stop(), archive.stop()])
    })

    it('get an event again with its id where the process ended after the delivery and before its mark', async () => {
      archive.answer = () => undefined
      const { id } = await service.create('plain')
      await service.until('a delivery', () => archive.received.length === 1 && accounting.received.length === 1)
      await service.until('the mark of the other', async () => {
        return (await service.rows("type = 'parcel-written@accounting' AND delivered_at IS NOT NULL")).length === 1
      })
      await service.process.kill()
      archive.answer = () => 204
      await service.endLeases()
      await service.startAgain()
      await service.settled()
      expect(new Set(archive.idsOf(String(id))).size).to.equal(1)
      expect(archive.received.length).to.be.at.least(2)
      expect(new Set(archive.received.map(({ body }) => body)).size).to.equal(1)
      expect(accounting.received).to.have.length(1)
    })
  })
})

import { expect } from 'chai'
import type { OutboxEvent } from '../../../data-service/entity/event.js'
import { addressLookup } from '../../../data-service/outbox/webhook-delivery.js'
import { readWebhooks, type WebhookTarget } from '../../../data-service/outbox/webhook-settings.js'
import { SettingsReader } from '../../../shared/settings.js'
import { eachDatabase } from '../../harness/database.js'
import { isSigned, NEXT_SECRET, SECRET, WebhookReceiver } from '../../harness/webhook-receiver.js'
import { FreshOutbox } from './fresh-outbox.js'

/** A webhook of the events that the handlers of these tests get too. */
function targetOf(name: string, url: string, secret = SECRET): WebhookTarget {
  const outbox = [{ name, events: [{ name: 'tried' }], url, secret }]
  const [target] = readWebhooks(new SettingsReader<string>({}), { outbox, privateNetworks: true })
  if (target === undefined) throw new Error(`${url} is none`)
  return target
}

describe('a signature of Standard Webhooks', () => {
  it('is checked by these tests as the example of Standard Webhooks has it', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    }
    expect(isSigned({ headers, body: '{"test": 2432232314}' }, SECRET)).to.equal(true)
    expect(isSigned({ headers, body: '{"test": 2432232315}' }, SECRET)).to.equal(false)
    expect(isSigned({ headers, body: '{"test": 2432232314}' }, NEXT_SECRET)).to.equal(false)
  })
})

eachDatabase((kind) => {
  describe(`webhooks over the outbox on ${kind}`, () => {
    let outbox: FreshOutbox
    let receiver: WebhookReceiver
    before(async () => {
      outbox = await FreshOutbox.start(kind)
    })
    beforeEach(async () => {
      receiver = await WebhookReceiver.start()
    })
    afterEach(async () => {
      await outbox.clear()
      outbox.ended.length = 0
      await receiver.stop()
    })
    after(() => outbox?.stop())

    const settled = (id: string): Promise<void> => outbox.until(async () => (await outbox.row(id))['due_at'] === null)
    const tried = (id: string, attempts: number): Promise<void> =>
      outbox.until(async () => {
        const row = await outbox.row(id)
        return Number(row['attempts']) === attempts && row['lease'] === null
      })

    it('get the event as JSON, named and signed as Standard Webhooks say, by both secrets while there are two', async () => {
      const id = await outbox.emit('7', 'tried@shop')
      const target = targetOf('shop', receiver.url(), `${NEXT_SECRET} ${SECRET}`)
      outbox.dispatch(() => undefined, { webhooks: [target] })
      await settled(id)
      const [request, ...others] = receiver.received
      if (request === undefined) throw new Error('nothing was sent')
      expect(others).to.deep.equal([])
      const timestamp = new Date(outbox.now).toISOString()
      expect(request.body).to.equal(
        `{"type":"tried","timestamp":"${timestamp}","data":{"resource":"things","rowId":"7","payload":{}}}`
      )
      expect(request.path).to.equal('/hook?key=hidden')
      expect(request.headers).to.include({
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(outbox.now / 1000)
      })
      expect(String(request.headers['webhook-signature']).split(' ')).to.have.length(2)
      for (const secret of [SECRET, NEXT_SECRET]) expect(isSigned(request, secret)).to.equal(true)
      expect(isSigned({ ...request, body: `${request.body} ` }, SECRET)).to.equal(false)
      await outbox.stopDispatchers()
      expect(outbox.ended).to.deep.equal(['tried@shop delivered'])
    })

    it('get the same id and body at each attempt, signed for its time, until the event is set aside', async () => {
      receiver.answer = () => 503
      const first = outbox.now
      const id = await outbox.emit('again', 'tried@shop')
      const { log } = outbox.dispatch(() => undefined, { webhooks: [targetOf('shop', receiver.url())], maxAttempts: 3 })
      for (const n of [1, 2]) {
        await tried(id, n)
        expect(await outbox.dueIn(id)).to.equal(1000 * 2 ** (n - 1))
        outbox.now += (await outbox.dueIn(id)) ?? 0
      }
      await settled(id)
      expect((await outbox.row(id))['dead_at']).not.to.equal(null)
      expect((await outbox.row(id))['last_error']).to.equal('The webhook shop answered 503')
      expect(new Set(receiver.received.map((one) => `${one.id} ${one.body}`)).size).to.equal(1)
      expect(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).to.deep.equal(
        [0, 1, 3].map((seconds) => String(first / 1000 + seconds))
      )
      for (const one of receiver.received) expect(isSigned(one, SECRET)).to.equal(true)
      await outbox.stopDispatchers()
      expect(outbox.ended).to.deep.equal(['failed', 'failed', 'set_aside'].map((outcome) => `tried@shop ${outcome}`))
      expect(JSON.stringify(log.lines)).not.to.match(/hidden|whsec|nobody’s business/)
    })

    it('get the events of a row in order, while another webhook and the handler do not wait for one that fails', async () => {
      const live = await WebhookReceiver.start()
      receiver.answer = () => 500
      const handled: OutboxEvent[] = []
      const ids: Record<string, string[]> = {}
      for (const type of ['tried@dead', 'tried@live', 'tried']) {
        ids[type] = [await outbox.emit('row', type), await outbox.emit('row', type)]
      }
      const webhooks = [targetOf('dead', receiver.url()), targetOf('live', live.url())]
      outbox.dispatch((event) => void handled.push(event), { webhooks })
      for (const id of [...(ids['tried'] ?? []), ...(ids['tried@live'] ?? [])]) await settled(id)
      const [failing = '', waiting = ''] = ids['tried@dead'] ?? []
      await tried(failing, 1)
      expect(handled.map(({ id }) => id)).to.deep.equal(ids['tried'])
      expect(live.received.map(({ id }) => id)).to.deep.equal(ids['tried@live'])
      expect(receiver.received.map(({ id }) => id)).to.deep.equal([failing])
      receiver.answer = () => 200
      outbox.now += 2000
      await settled(waiting)
      expect(receiver.received.map(({ id }) => id)).to.deep.equal([failing, failing, waiting])
      await live.stop()
    })

    it('that hang take no place of others', async () => {
      const live = await WebhookReceiver.start()
      receiver.answer = () => undefined
      for (let n = 0; n < 12; n++) await outbox.emit(`hanging-${n}`, 'tried@dead')
      const webhooks = [targetOf('dead', receiver.url()), targetOf('live', live.url())]
      outbox.dispatch(() => undefined, { webhooks })
      await outbox.until(() => receiver.received.length >= 4)
      for (const type of ['tried', 'tried@live']) await settled(await outbox.emit('other', type))
      expect(receiver.received).to.have.length(4)
      await outbox.stopDispatchers()
      await live.stop()
    })

    it('that hang are given up after the time of a delivery', async () => {
      receiver.answer = () => undefined
      const id = await outbox.emit('hanging', 'tried@dead')
      outbox.dispatch(() => undefined, { webhooks: [targetOf('dead', receiver.url())], webhookTimeout: 100 })
      await tried(id, 1)
      expect((await outbox.row(id))['last_error']).to.equal('The webhook dead did not answer within 0.1 seconds')
    })

    it('look a name up once at a time, and take it only where all of its addresses are public', async () => {
      let looks = 0
      const found = [
        { address: '8.8.8.8', family: 4 },
        { address: '10.0.0.1', family: 4 }
      ]
      const lookAt = (privateNetworks: boolean) =>
        addressLookup(privateNetworks, async () => {
          looks += 1
          await new Promise(setImmediate)
          return found
        })
      const looked = (look: ReturnType<typeof addressLookup>): Promise<unknown> =>
        new Promise((resolve) => look('shop.example.com', {}, (error, address) => resolve(error?.message ?? address)))
      const mixed = lookAt(false)
      const answers = await Promise.all([looked(mixed), looked(mixed), looked(mixed)])
      expect([looks, ...answers.map((one) => /not public/.test(String(one)))]).to.deep.equal([1, true, true, true])
      expect(await looked(lookAt(true))).to.equal('8.8.8.8')
      found.pop()
      expect(await looked(mixed)).to.equal('8.8.8.8')
    })

    it('are given back without an attempt where the process stops while they hang', async () => {
      receiver.answer = () => undefined
      const id = await outbox.emit('stopped', 'tried@shop')
      outbox.dispatch(() => undefined, { webhooks: [targetOf('shop', receiver.url())] })
      await outbox.until(() => receiver.received.length === 1)
      await outbox.stopDispatchers()
      expect(await outbox.row(id)).to.include({ lease: null, delivered_at: null, last_error: null })
      expect(Number((await outbox.row(id))['attempts'])).to.equal(0)
    })

    it('are tried again where they answer anything but 2xx: a redirect is not followed, Retry-After is heeded up to 10 minutes', async () => {
      const elsewhere = await WebhookReceiver.start()
      receiver.answer = ({ body }) => {
        if (body.includes('moved')) return [307, { location: elsewhere.url() }]
        if (body.includes('soon')) return [429, { 'retry-after': '1' }]
        return [503, { 'retry-after': body.includes('never') ? '999999' : '90' }]
      }
      outbox.dispatch(() => undefined, { webhooks: [targetOf('shop', receiver.url())] })
      for (const [row, seconds, error] of [
        ['moved', 1, 'The webhook shop answered 307'],
        ['soon', 1, 'The webhook shop answered 429'],
        ['later', 90, 'The webhook shop answered 503'],
        // No receiver puts an event off for longer than the longest pause.
        ['never', 600, 'The webhook shop answered 503']
      ] as const) {
        const id = await outbox.emit(row, 'tried@shop')
        await tried(id, 1)
        expect(await outbox.dueIn(id), row).to.equal(seconds * 1000)
        expect((await outbox.row(id))['last_error']).to.equal(error)
      }
      expect(elsewhere.connections).to.equal(0)
      await elsewhere.stop()
    })

    it('that cannot be reached are named with the code of the failure, and with no URL', async () => {
      const gone = await WebhookReceiver.start()
      const url = gone.url('localhost')
      await gone.stop()
      const id = await outbox.emit('gone', 'tried@shop')
      outbox.dispatch(() => undefined, { webhooks: [targetOf('shop', url)] })
      await tried(id, 1)
      expect((await outbox.row(id))['last_error']).to.equal('The webhook shop could not be reached: ECONNREFUSED')
    })

    it('are not sent to this machine by name or address, unless private networks are allowed', async () => {
      const refused =
        'The webhook shop could not be reached: its name leads to an address that is not public, and ' +
        'WEBHOOK_PRIVATE_NETWORKS is not true'
      for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]']) {
        const id = await outbox.emit(host, 'tried@shop')
        outbox.dispatch(() => undefined, { webhooks: [targetOf('shop', receiver.url(host))], privateNetworks: false })
        await tried(id, 1)
        expect((await outbox.row(id))['last_error'], host).to.equal(refused)
        await outbox.stopDispatchers()
        // The look-up of a name comes before the connection; an address is refused when the service starts.
        if (host === 'localhost') expect(receiver.connections).to.equal(0)
      }
      expect(receiver.received).to.deep.equal([])
    })
  })
})

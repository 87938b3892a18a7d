import { expect } from 'chai'
import type { OutboxEvent } from '../../../data-service/entity/event.js'
import { eachDatabase } from '../../harness/database.js'
import { FreshOutbox, SETTINGS, TYPE } from './fresh-outbox.js'

/** Handlers that run at the same time in one process. */
const CONCURRENCY = 8
/** Milliseconds that a lease lasts longer than its handler may. */
const LEASE_MARGIN = 5000

/** A handler that begins, and does not end before the test says so. */
class HeldHandler {
  readonly begun: OutboxEvent[] = []
  /** Events whose handler heard that it has to end. */
  readonly aborted: string[] = []
  release: () => void = () => undefined
  readonly #released = new Promise<void>((resolve) => (this.release = resolve))

  readonly handle = async (event: OutboxEvent, signal: AbortSignal): Promise<void> => {
    this.begun.push(event)
    signal.addEventListener('abort', () => this.aborted.push(event.id))
    await this.#released
  }
}

eachDatabase((kind) => {
  describe(`a dispatcher of the outbox on ${kind}`, () => {
    let outbox: FreshOutbox
    before(async () => {
      outbox = await FreshOutbox.start(kind)
    })
    afterEach(async () => {
      await outbox.clear()
      outbox.random = 0.5
      outbox.look = () => undefined
    })
    after(() => outbox?.stop())

    /** Fails for the row and notes its attempts, and delivers everything else. */
    const failing = (rowId: string, attempts: number[]) => (event: OutboxEvent) => {
      if (event.rowId !== rowId) return
      attempts.push(event.attempt)
      throw new Error(`no delivery of ${rowId}`)
    }
    /** Waits until an event was tried so often, and the outcome is stored. */
    const tried = (id: string, attempts: number): Promise<void> =>
      outbox.until(async () => {
        const row = await outbox.row(id)
        return Number(row['attempts']) === attempts && row['lease'] === null
      })
    const delivered = (id: string): Promise<void> =>
      outbox.until(async () => (await outbox.row(id))['delivered_at'] !== null)

    it('tries again after a second, then after twice as long each time, and never after more than ten minutes', async () => {
      const attempts: number[] = []
      const id = await outbox.emit('doubled')
      outbox.dispatch(failing('doubled', attempts))
      const waits: number[] = []
      for (let n = 1; n <= 12; n++) {
        await tried(id, n)
        waits.push((await outbox.dueIn(id)) ?? 0)
        outbox.now += waits.at(-1) ?? 0
      }
      expect(waits).to.deep.equal([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map((seconds) => seconds * 1000))
    })

    it('has places of their own for one-time links, of which any number hang, and purges them after their time', async () => {
      const held = new HeldHandler()
      const link = 'one-time-link'
      const links: string[] = []
      for (let n = 0; n < CONCURRENCY; n++) links.push(await outbox.emit(`link-${n}`, link))
      const handle = (event: OutboxEvent, signal: AbortSignal) =>
        event.type === link ? held.handle(event, signal) : undefined
      outbox.dispatch(handle, { types: [TYPE, link] })
      await outbox.until(() => held.begun.length === CONCURRENCY / 2)
      const other = await outbox.emit('other')
      await delivered(other)
      expect(held.begun).to.have.length(CONCURRENCY / 2)
      held.release()
      await Promise.all(links.map(delivered))
      await outbox.stopDispatchers()
      const askedBefore = outbox.now
      outbox.now += 1
      const late = await outbox.emit('late', link)
      // One waits, and is of no more use than those that were delivered.
      await outbox.emit('late', link)
      expect(await outbox.purgeLinks(askedBefore)).to.equal(CONCURRENCY)
      await Promise.all([other, late].map((id) => outbox.row(id)))
      expect(await outbox.purgeLinks(outbox.now)).to.equal(2)
    })

    it('varies the wait by a quarter, and does not try again before it is over', async () => {
      for (const [random, wait] of [
        [0, 750],
        [0.999_999, 1250]
      ] as const) {
        outbox.random = random
        const attempts: number[] = []
        const id = await outbox.emit(`early-${random}`)
        outbox.dispatch(failing(`early-${random}`, attempts))
        await tried(id, 1)
        expect(await outbox.dueIn(id)).to.equal(wait)
        outbox.now += wait - 1
        await outbox.looked()
        expect(attempts).to.deep.equal([1])
        outbox.now += 1
        await tried(id, 2)
        await outbox.stopDispatchers()
      }
    })

    it('sets an event aside after its last attempt, and goes on with the next one of its row', async () => {
      const seen: string[] = []
      const [first, second] = [await outbox.emit('dead'), await outbox.emit('dead')]
      const { log } = outbox.dispatch(
        ({ id, attempt, rowId }) => {
          if (rowId !== 'dead') return
          seen.push(`${id} ${attempt}`)
          if (id === first) throw new Error('never')
        },
        { maxAttempts: 2 }
      )
      await tried(first, 1)
      await outbox.looked()
      expect(seen, 'the second one waits for the first').to.deep.equal([`${first} 1`])
      outbox.now += (await outbox.dueIn(first)) ?? 0
      await delivered(second)
      expect(seen).to.deep.equal([`${first} 1`, `${first} 2`, `${second} 1`])
      const dead = await outbox.row(first)
      expect(dead).to.include({ due_at: null, delivered_at: null, lease: null, last_error: 'never' })
      expect(Number(dead['dead_at'])).to.equal(outbox.now)
      const told = log.lines.filter(({ level }) => level === 'error')
      expect(told.map(({ msg, eventId, attempt }) => [msg, eventId, attempt])).to.deep.equal([
        ['event set aside after its last failed delivery', first, 2]
      ])
    })

    for (const [what, effects] of [
      ['nothing', undefined],
      ['rows to create', { create: [] }]
    ] as const)
      it(`leaves an event to the process that has claimed it until the lease ends, and then delivers it: the late handler answers ${what}`, async () => {
        const hung = new HeldHandler()
        const id = await outbox.emit('leased')
        const { dispatcher, log } = outbox.dispatch((event, signal) => hung.handle(event, signal).then(() => effects))
        await outbox.until(() => hung.begun.length === 1)
        expect(await outbox.dueIn(id)).to.equal(SETTINGS.handlerTimeout + LEASE_MARGIN)
        // It claims nothing more, as a process that hangs does.
        const stopping = dispatcher.stop(60_000)
        const seen: OutboxEvent[] = []
        outbox.dispatch((event) => void seen.push(event))
        outbox.now += SETTINGS.handlerTimeout + LEASE_MARGIN - 1
        await outbox.looked()
        expect(seen.filter((event) => event.id === id)).to.deep.equal([])
        outbox.now += 1
        await delivered(id)
        expect(seen.filter((event) => event.id === id).map(({ attempt }) => attempt)).to.deep.equal([2])
        const row = await outbox.row(id)
        hung.release()
        await stopping
        expect(await outbox.row(id), 'what the late one did').to.deep.equal(row)
        expect(log.lines.map(({ msg, err }) => [msg, (err as Error | undefined)?.message])).to.deep.include([
          'delivery of an event failed',
          'The lease of the event has ended'
        ])
      })

    it('sets an event aside whose process ended during each of its deliveries, and runs no handler for it', async () => {
      const id = await outbox.emit('deadly')
      for (const attempts of [1, 2]) {
        const hung = new HeldHandler()
        const { dispatcher } = outbox.dispatch(hung.handle, { maxAttempts: 2 })
        await outbox.until(() => hung.begun.length === 1)
        expect(hung.begun[0]?.attempt).to.equal(attempts)
        // Nothing of a killed process goes on: here its lease ends before its handler does.
        void dispatcher.stop(60_000)
        outbox.now += SETTINGS.handlerTimeout + LEASE_MARGIN
      }
      const seen: string[] = []
      outbox.dispatch((event) => void seen.push(event.id), { maxAttempts: 2 })
      await outbox.until(async () => (await outbox.row(id))['dead_at'] !== null)
      expect(await outbox.row(id)).to.include({ last_error: 'The process ended during the delivery', due_at: null })
      expect(seen).to.deep.equal([])
    })

    it('aborts a handler whose time is over, and counts it as failed', async () => {
      const slow = new HeldHandler()
      const id = await outbox.emit('slow')
      outbox.dispatch(slow.handle, { handlerTimeout: 20 })
      await tried(id, 1)
      expect(slow.aborted).to.deep.equal([id])
      expect(await outbox.row(id)).to.include({ last_error: 'The handler took longer than OUTBOX_HANDLER_TIMEOUT' })
      slow.release()
    })

    it('runs eight handlers at a time, and another process takes what is left', async () => {
      const [one, other] = [new HeldHandler(), new HeldHandler()]
      const ids = await Promise.all(Array.from({ length: CONCURRENCY + 1 }, (_, n) => outbox.emit(`many-${n}`)))
      outbox.dispatch(one.handle)
      await outbox.until(() => one.begun.length === CONCURRENCY)
      outbox.dispatch(other.handle)
      await outbox.until(() => other.begun.length === 1)
      expect(one.begun).to.have.length(CONCURRENCY)
      expect([...one.begun, ...other.begun].map(({ id }) => id).toSorted()).to.deep.equal(ids.toSorted())
      one.release()
      other.release()
      for (const id of ids) await delivered(id)
    })

    it('that stops waits for its handlers, aborts those that go on for too long, and gives their events back', async () => {
      const [ending, hung] = [new HeldHandler(), new HeldHandler()]
      const [soon, never] = [await outbox.emit('soon'), await outbox.emit('never')]
      const { dispatcher } = outbox.dispatch((event, signal) =>
        (event.id === soon ? ending : hung).handle(event, signal)
      )
      await outbox.until(() => ending.begun.length + hung.begun.length === 2)
      const stopped = dispatcher.stop(100)
      ending.release()
      await stopped
      const done = await outbox.row(soon)
      expect([Number(done['attempts']), Number(done['delivered_at'])]).to.deep.equal([1, outbox.now])
      expect(hung.aborted).to.deep.equal([never])
      const waiting = await outbox.row(never)
      expect(waiting).to.include({ delivered_at: null, dead_at: null, lease: null })
      expect([Number(waiting['attempts']), await outbox.dueIn(never)]).to.deep.equal([0, 0])
      const late = await outbox.emit('late')
      expect((await outbox.row(late))['lease'], 'what is claimed after the stop').to.equal(null)
      hung.release()
      outbox.dispatch(() => undefined)
      for (const id of [never, late]) await delivered(id)
    })

    it('looks again after twice as long each time while the outbox cannot be read, and says so', async () => {
      let outages = 3
      outbox.look = () => {
        if (outages-- > 0) throw new Error('no database')
      }
      const id = await outbox.emit('outage')
      const { log } = outbox.dispatch(() => undefined)
      await delivered(id)
      const told = log.lines.filter(({ msg }) => msg === 'the outbox cannot be read')
      const { pollInterval } = SETTINGS
      expect(told.map(({ nextLookMs }) => nextLookMs)).to.deep.equal([2, 4, 8].map((times) => times * pollInterval))
    })

    it('says at its start which types wait that it has no handler for', async () => {
      const id = await outbox.emit('foreign', 'of-another-time')
      const { log } = outbox.dispatch(() => undefined)
      const told = () => log.lines.find(({ msg }) => msg === 'no handler in this process for what waits in the outbox')
      await outbox.until(() => told() !== undefined)
      expect(told()).to.include({ type: 'of-another-time', waiting: 1 })
      await outbox.looked()
      expect((await outbox.row(id))['lease']).to.equal(null)
    })
  })
})

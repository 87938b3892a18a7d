import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { StoredResponse, KeyClaim, UnitOfWork } from '../../../../data-service/plan/model/stores.js'
import { eachWay, type TestedWay } from '../each-way.js'
import { failure } from './failure.js'
import { entity, type FreshWriteStore, freshWriteStore, never } from './fresh-write-store.js'
import { atOnce, insertPlan, lockPlan } from './write-plan-by-hand.js'

const categories = entity('categories')

const NOW = Date.UTC(2026, 0, 31)
const HOUR = 3_600_000

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
const claim = (key: string, more: Partial<KeyClaim> = {}): KeyClaim => ({
  keyHash: hash(key),
  fingerprint: hash('body'),
  now: NOW,
  expiresAt: NOW + HOUR,
  ...more
})

/** How a create begins: with all of it in one round trip, where the database can, or with the claim alone. */
const BEGINNINGS = ['at once', 'step by step'] as const

eachWay((way) => {
  for (const beginning of way.kind === 'mysql' ? BEGINNINGS : BEGINNINGS.slice(1)) {
    keysOf(way, beginning)
  }
})

function keysOf({ kind, name, open }: TestedWay, beginning: (typeof BEGINNINGS)[number]): void {
  describe(`idempotency keys on ${name}, of creates ${beginning}`, () => {
    let fresh: FreshWriteStore
    before(async () => {
      fresh = await freshWriteStore(kind, { open })
    })
    after(() => fresh.dispose())
    beforeEach(async () => {
      await fresh.byHand.run('DELETE FROM ur_idempotency_keys')
      await fresh.byHand.run('DELETE FROM categories')
    })

    /** What a create does: the answer is the row's id. */
    const create = (unit: UnitOfWork, of: KeyClaim, slug = 'leaf'): Promise<string> => answered(unit, of, slug)
    async function answered(unit: UnitOfWork, of: KeyClaim, slug: string): Promise<string> {
      const row = insertPlan(categories, { name: slug, slug })
      const created = beginning === 'at once' ? await unit.createAtOnce(atOnce(of, row)) : undefined
      if (created !== undefined) {
        unit.storeResponse(of, Buffer.from(String(created.key)))
        return String(created.key)
      }
      const kept = await unit.claimKey(of)
      if (kept !== undefined) return `replayed ${kept.answer.toString()}`
      const id = String(await unit.insert(row))
      unit.storeResponse(of, Buffer.from(id))
      return id
    }
    const rows = async (): Promise<number> => (await fresh.byHand.run('SELECT id FROM categories')).length

    it('keep an answer to the byte with its fingerprint', async () => {
      const answer = randomBytes(100_000)
      const of = claim('k')
      const take = (unit: UnitOfWork): Promise<StoredResponse | undefined> =>
        unit.claimKey({ ...of, fingerprint: hash('b') })
      await fresh.store.transaction(never, async (unit) => {
        expect(await unit.claimKey(of)).to.equal(undefined)
        unit.storeResponse(of, answer)
      })
      for (const [at, store] of [fresh.store, fresh.other].entries()) {
        expect(await store.transaction(never, take), `store ${at}`).to.deep.equal({
          fingerprint: of.fingerprint,
          answer
        })
      }
    })

    it('are free again after a rollback', async () => {
      const rejected = new Error('422')
      const first = fresh.store.transaction(never, async (unit) => {
        await create(unit, claim('k'))
        throw rejected
      })
      expect(await failure(first)).to.equal(rejected)
      expect(await fresh.other.transaction(never, (unit) => create(unit, claim('k')))).to.match(/^\d+$/)
      expect(await rows()).to.equal(1)
    })

    it('give one row and one answer to twenty at once, through two processes', async () => {
      const stores = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? fresh.store : fresh.other))
      const answers = await Promise.all(
        stores.map((store) => store.transaction(never, (unit) => create(unit, claim('k'))))
      )
      const [own = '', ...others] = answers.filter((answer) => !answer.startsWith('replayed'))
      expect(others).to.deep.equal([])
      expect(new Set(answers)).to.deep.equal(new Set([own, `replayed ${own}`]))
      expect(await rows()).to.equal(1)
    })

    it('let each of twenty at once have its own rejection', async () => {
      const rejected = new Error('400')
      let tries = 0
      const stores = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? fresh.store : fresh.other))
      const errors = await Promise.all(
        stores.map((store) =>
          failure(
            store.transaction(never, async (unit) => {
              tries += 1
              await create(unit, claim('k'))
              // For the others to come up against the key, each time.
              await wait(20)
              throw rejected
            })
          )
        )
      )
      expect(new Set(errors)).to.deep.equal(new Set([rejected]))
      expect(tries).to.equal(20)
      expect(await rows()).to.equal(0)
    })

    it('are in flight while another holds them, after two seconds', async () => {
      let release = (): void => undefined
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let held = (): void => undefined
      const holding = new Promise<void>((resolve) => {
        held = resolve
      })
      const first = fresh.store.transaction(never, async (unit) => {
        const id = await create(unit, claim('k'))
        held()
        await released
        return id
      })
      await holding
      const began = performance.now()
      const errors = await Promise.all(
        [fresh.store, fresh.other].map((store) => failure(store.transaction(never, (unit) => create(unit, claim('k')))))
      )
      // Of a file with one writer another process cannot tell which key the writer has.
      const codes = ['idempotency.in-flight', kind === 'sqlite' ? 'upstream.unavailable' : 'idempotency.in-flight']
      for (const [at, code] of codes.entries()) expect(errors[at], `error ${at}`).to.include({ code, retryAfter: 1 })
      expect(performance.now() - began).to.be.greaterThan(1900)
      release()
      const id = await first
      expect(await fresh.other.transaction(never, (unit) => create(unit, claim('k')))).to.equal(`replayed ${id}`)
      if (kind === 'mysql') {
        const [sessions] = await fresh.database.sequelize.query('SELECT @@session.innodb_lock_wait_timeout AS s')
        expect(sessions).to.deep.equal([{ s: '1' }])
      }
    })

    it('are taken over by one alone once they expired', async () => {
      await fresh.store.transaction(never, (unit) => create(unit, claim('k'), 'old'))
      const later = claim('k', { now: NOW + HOUR, expiresAt: NOW + 2 * HOUR, fingerprint: hash('other') })
      const answers = await Promise.all(
        [fresh.store, fresh.other, fresh.store, fresh.other].map((store) =>
          store.transaction(never, (unit) => create(unit, later, 'new'))
        )
      )
      expect(answers.filter((answer) => !answer.startsWith('replayed'))).to.have.length(1)
      expect(await rows()).to.equal(2)
      const kept = await fresh.store.transaction(never, (unit) => unit.claimKey({ ...later, now: NOW + 2 * HOUR - 1 }))
      expect(kept?.fingerprint).to.deep.equal(hash('other'))
    })

    it('must come first, and must get their answer', async () => {
      const late = fresh.store.transaction(never, async (unit) => {
        await unit.lock(lockPlan(categories, 1))
        return await unit.claimKey(claim('k'))
      })
      expect(String(await failure(late))).to.contain('first statement')
      const silent = fresh.store.transaction(never, (unit) => unit.claimKey(claim('k')))
      expect(String(await failure(silent))).to.contain('no answer')
      expect(await fresh.byHand.run('SELECT key_hash FROM ur_idempotency_keys')).to.have.length(0)
    })

    it('are purged by their expiry, the oldest first, so many at a time', async () => {
      for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) {
        await fresh.store.transaction(never, (unit) =>
          create(unit, claim(key, { expiresAt: NOW + index }), `slug-${key}`)
        )
      }
      const left = async (): Promise<number> =>
        (await fresh.byHand.run('SELECT expires_at FROM ur_idempotency_keys')).length
      expect(await fresh.store.purgeKeys(NOW + 3, 3)).to.equal(3)
      expect(await left()).to.equal(2)
      expect(await fresh.store.purgeKeys(NOW + 3, 3)).to.equal(1)
      expect(await fresh.store.purgeKeys(NOW + 3, 3)).to.equal(0)
      const [last] = await fresh.byHand.run('SELECT expires_at FROM ur_idempotency_keys')
      expect(Number(last?.['expires_at'])).to.equal(NOW + 4)
    })

    it('are purged a few at a time if their answers are long, and all of them in the end', async () => {
      // One is longer than all that a purge takes away at once. A server with its own settings takes none so long.
      const longest = kind === 'sqlite' ? 17 : 7
      for (const [key, length] of Object.entries({ a: 7, b: 7, c: longest, d: 7 })) {
        await fresh.store.transaction(never, async (unit) => {
          const expired = claim(key, { expiresAt: NOW })
          await unit.claimKey(expired)
          unit.storeResponse(expired, Buffer.alloc(length * 1024 * 1024))
        })
      }
      let purged = 0
      for (let round = 0; round < 4; round++) purged += await fresh.store.purgeKeys(NOW, 200)
      expect(purged).to.equal(4)
    })

    it('are free again when what they keep is forgotten, and other keys stay', async () => {
      const claims = ['a', 'b', 'c'].map((key) => claim(key))
      for (const one of claims)
        await fresh.store.transaction(never, (unit) => create(unit, one, String(one.keyHash[0])))
      await fresh.store.transaction(never, (unit) => unit.forgetResponses(claims.slice(0, 2)))
      const kept = await Promise.all(
        claims.map((one) => fresh.store.transaction(never, (unit) => unit.findResponse(one)))
      )
      expect(kept.map((one) => one !== undefined)).to.deep.equal([false, false, true])
    })

    /** Whether a purge has found its keys and comes to delete them. */
    const purgeDeletes = async (): Promise<boolean> => {
      const waiting = await fresh.byHand.run(
        `SELECT id FROM information_schema.processlist
        WHERE db = DATABASE() AND info LIKE 'DELETE FROM ur_idempotency_keys%' AND id <> CONNECTION_ID()`
      )
      return waiting.length > 0
    }

    it('are not purged while they are taken over', async () => {
      await fresh.store.transaction(never, (unit) => create(unit, claim('k')))
      const later = claim('k', { now: NOW + HOUR, expiresAt: NOW + 2 * HOUR })
      let purging: Promise<number> = Promise.resolve(-1)
      await fresh.store.transaction(never, async (unit) => {
        await unit.claimKey(later)
        purging = fresh.other.purgeKeys(NOW + HOUR, 10)
        while (kind === 'mysql' && !(await purgeDeletes())) await wait(5)
        unit.storeResponse(later, Buffer.from('new'))
      })
      expect(await purging).to.equal(0)
      const kept = await fresh.store.transaction(never, (unit) => unit.claimKey(later))
      expect(kept?.answer.toString()).to.equal('new')
    })
  })
}

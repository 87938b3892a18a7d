import { randomBytes } from 'node:crypto'
import { rename, stat } from 'node:fs/promises'
import { expect } from 'chai'
import { connect, type DatabaseHealth, watchDatabase } from '../../../data-service/sql/connect.js'
import type { Probe } from '../../../data-service/sql/engines/engine.js'
import { parseSqliteUrl } from '../../../data-service/sql/engines/sqlite/sqlite.js'
import { eachDatabase } from '../../harness/database.js'
import { type FreshReadStore, freshReadStore } from './fresh-read-store.js'
import { wayTo } from '../../harness/way-to-server.js'

async function changed(health: DatabaseHealth): Promise<boolean> {
  return await new Promise((resolve) => health.onChange(resolve))
}

eachDatabase((kind) => {
  describe(`the health of a database, ${kind}`, () => {
    let fresh: FreshReadStore
    before(async () => {
      fresh = await freshReadStore(kind)
    })
    after(() => fresh.dispose())

    it('is serving while it answers', async () => {
      const database = connect(fresh.url)
      const health = await watchDatabase(database)
      expect(health.isServing).to.equal(true)
      await health.close()
      await database.sequelize.close()
    })

    if (kind === 'sqlite') {
      it('is not serving while its file is not there', async () => {
        const file = parseSqliteUrl(fresh.url)
        await rename(file, `${file}-away`)
        const health = await watchDatabase(connect(fresh.url))
        try {
          expect(health.isServing).to.equal(false)
          const serving = changed(health)
          await rename(`${file}-away`, file)
          expect(await serving).to.equal(true)
        } finally {
          await health.close()
        }
      })
    } else {
      it('is serving while the server only takes no more connections, which says nothing of those that serve', async () => {
        const { sequelize } = connect(fresh.url)
        const user = `limited_${randomBytes(4).toString('hex')}`
        await sequelize.query(`CREATE USER '${user}'@'127.0.0.1' IDENTIFIED BY 'p' WITH MAX_USER_CONNECTIONS 1`)
        const url = Object.assign(new URL(fresh.url), { username: user, password: 'p' })
        await sequelize.query(`GRANT ALL ON \`${url.pathname.slice(1)}\`.* TO '${user}'@'127.0.0.1'`)
        const only = connect(url.href)
        try {
          await only.sequelize.query('SELECT 1')
          const health = await watchDatabase(only)
          expect(health.isServing).to.equal(true)
          await health.close()
        } finally {
          await only.sequelize.close()
          await sequelize.query(`DROP USER '${user}'@'127.0.0.1'`)
          await sequelize.close()
        }
      })

      it('is not serving while the server is frozen, or lets nobody in, and serving again afterwards', async () => {
        await using way = await wayTo(fresh.url)
        const database = connect(way.url)
        const health = await watchDatabase(database)
        try {
          for (const [at, stop] of [way.block, way.cut].entries()) {
            expect(health.isServing, `stop ${at}`).to.equal(true)
            const stopped = changed(health)
            way.block()
            stop()
            expect(await stopped, `stop ${at}`).to.equal(false)
            const serving = changed(health)
            way.open()
            expect(await serving, `stop ${at}`).to.equal(true)
          }
        } finally {
          await health.close()
          await database.sequelize.close()
        }
      })
    }
  })
})

describe('the probes of a database', () => {
  /** A database whose probes look one after another as `looks` say. */
  const probing = (...looks: readonly (() => Promise<void>)[]) => {
    const asked: Probe[] = []
    const openProbe = (): Probe => {
      const probe = {
        look: () => {
          asked.push(probe)
          return (looks[asked.length - 1] ?? never)()
        },
        reset: () => undefined
      }
      return probe
    }
    return { asked, openProbe }
  }
  const never = (): Promise<void> => new Promise(() => undefined)
  const answer = (): Promise<void> => Promise.resolve()

  it('count an answer that came while the process itself was busy', async () => {
    const block = (): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
    const busy = (): Promise<void> =>
      new Promise((resolve, reject) => {
        setImmediate(() => {
          stat('.').then(() => resolve(), reject)
          block()
        })
      })
    const { asked, openProbe } = probing(busy)
    const health = await watchDatabase({ openProbe })
    expect([health.isServing, asked.length]).to.deep.equal([true, 1])
    await health.close()
  })

  it('ask on a new connection before they take a database for down that does not answer', async () => {
    for (const [second, isServing] of [
      [answer, true],
      [never, false]
    ] as const) {
      const { asked, openProbe } = probing(never, second)
      const health = await watchDatabase({ openProbe })
      expect([health.isServing, asked.length, new Set(asked).size]).to.deep.equal([isServing, 2, 2])
      await health.close()
    }
  })

  it('take a failure for one at once', async () => {
    const { asked, openProbe } = probing(() => Promise.reject(new Error('refused')))
    const health = await watchDatabase({ openProbe })
    expect([health.isServing, asked.length]).to.deep.equal([false, 1])
    await health.close()
  })
})

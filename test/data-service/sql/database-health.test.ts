import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import { connect as connectTo, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { connect, type DatabaseHealth, watchDatabase } from '../../../data-service/sql/connect.js'
import { parseSqliteUrl } from '../../../data-service/sql/engines/sqlite.js'
import { eachDatabase } from '../../harness/database.js'
import { type FreshReadStore, freshReadStore } from './fresh-read-store.js'
import { listenLocally } from '../../harness/local-server.js'

/** A way to a server that can be blocked, as a frozen one is, and cut. */
interface Way extends AsyncDisposable {
  readonly url: string
  block(): void
  open(): void
  cut(): void
}

async function wayTo(url: string): Promise<Way> {
  const target = { host: new URL(url).hostname, port: Number(new URL(url).port) }
  const sockets = new Set<Socket>()
  let isBlocked = false
  const server: Server = createServer((client) => {
    const upstream = connectTo(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
      from.on('data', (data) => void to.write(data))
      if (isBlocked) from.pause()
    }
  })
  const through = new URL(url)
  through.port = String(await listenLocally(server))
  const cut = (): void => {
    for (const one of sockets) one.destroy()
    sockets.clear()
  }
  return {
    url: through.href,
    block: () => {
      isBlocked = true
      for (const one of sockets) one.pause()
    },
    open: () => {
      isBlocked = false
      for (const one of sockets) one.resume()
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      cut()
      server.close()
      await once(server, 'close')
    }
  }
}

async function changed(health: DatabaseHealth): Promise<boolean> {
  return await new Promise((resolve) => health.onChange(resolve))
}

eachDatabase((kind) => {
  describe(`the health of a database, ${kind}`, function () {
    this.timeout(20_000)
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

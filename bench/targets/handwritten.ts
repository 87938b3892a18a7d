import { startServer } from './server-process.js'
import type { Target } from './target.js'

export const handwritten: Target = {
  name: 'handwritten',
  description: 'One process, Fastify and mysql2 prepared statements, written for products alone',

  async start(context) {
    const server = await startServer({
      module: 'bench/baselines/handwritten.js',
      nodeOptions: context.nodeOptions,
      env: {
        DATABASE_URL: context.databaseUrl,
        DATABASE_CONNECTIONS: String(context.databaseConnections),
        MAX_EXPORT_ROWS: String(context.maxExportRows)
      }
    })
    return { origin: server.address, pids: [server.pid], stop: () => server.stop() }
  }
}

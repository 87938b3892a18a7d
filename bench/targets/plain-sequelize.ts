import { startServer } from './server-process.js'
import type { Target } from './target.js'

export const plainSequelize: Target = {
  name: 'plain-sequelize',
  description: 'One process, Fastify and Sequelize the way its guide shows it',

  async start(context) {
    const server = await startServer({
      module: 'bench/baselines/plain-sequelize.js',
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

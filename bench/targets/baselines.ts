import { freePort } from '../../test/runner/free-port.js'
import { startServer, untilServing } from './server-process.js'
import { type RunningTarget, type Target, type TargetContext, WORKLOADS } from './target.js'

export const handwritten: Target = {
  name: 'handwritten',
  description: 'One process, Fastify and mysql2 prepared statements, written for these endpoints alone',
  workloads: WORKLOADS.filter((name) => name !== 'html'),
  start: (context) => startBaseline('bench/baselines/handwritten.js', context)
}

export const plainSequelize: Target = {
  name: 'plain-sequelize',
  description: 'One process, Fastify and Sequelize the way its guide shows it',
  workloads: WORKLOADS.filter((name) => name !== 'html'),
  start: (context) => startBaseline('bench/baselines/plain-sequelize.js', context)
}

/** Starts a server of `bench/baselines/`. */
async function startBaseline(module: string, context: TargetContext): Promise<RunningTarget> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const server = startServer({
    module,
    nodeOptions: context.nodeOptions,
    env: {
      PORT: String(port),
      DATABASE_URL: context.databaseUrl,
      DATABASE_CONNECTIONS: String(context.databaseConnections),
      MAX_EXPORT_ROWS: String(context.maxExportRows),
      JWT_ISSUER: context.issuer.name,
      JWT_AUDIENCE: context.issuer.audience,
      JWT_PUBLIC_KEY: context.issuer.publicKey
    }
  })
  try {
    await untilServing(origin, [server])
  } catch (error) {
    await server.stop()
    throw error
  }
  return { origin, pids: [server.pid], stop: () => server.stop() }
}

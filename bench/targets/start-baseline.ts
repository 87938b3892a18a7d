import { freePort } from '../../test/runner/free-port.js'
import { startServer, untilServing } from './server-process.js'
import type { RunningTarget, TargetContext } from './target.js'

/** Starts a server of `bench/baselines/`. */
export async function startBaseline(module: string, context: TargetContext): Promise<RunningTarget> {
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

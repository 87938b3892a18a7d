import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/runner/free-port.js'
import { startServer, untilServing, type ServerProcess } from './server-process.js'
import type { Target } from './target.js'

const STORE = fileURLToPath(new URL('../../examples/store', import.meta.url))

export const uniformRest: Target = {
  name: 'uniform-rest',
  description: 'This system: gateway and data service, two processes together',

  async start({ databaseUrl, dataDir, maxExportRows, issuer, nodeOptions }) {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const env = {
      DATA_DIR: dataDir,
      DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`,
      GATEWAY_SECRET: randomUUID(),
      // No line a request, since the others write none either.
      LOG_LEVEL: 'warn'
    }
    const processes: ServerProcess[] = []
    const stop = async (): Promise<void> => {
      for (const one of processes.toReversed()) await one.stop()
    }
    processes.push(
      startServer({
        module: 'cli/main.js',
        args: ['start', 'data-service', '--app', STORE],
        nodeOptions,
        env: {
          ...env,
          DATABASE_URL: databaseUrl,
          MAX_EXPORT_ROWS: String(maxExportRows),
          SAMPLE_DATA: 'false',
          MIGRATE_AT_START: 'true',
          JWT_ISSUER: issuer.name,
          JWT_AUDIENCE: issuer.audience,
          JWT_PRIVATE_KEY_FILE: issuer.privateKeyFile
        }
      }),
      startServer({
        module: 'cli/main.js',
        args: ['start', 'gateway'],
        nodeOptions,
        // On plain HTTP, as the others: no answer carries Strict-Transport-Security.
        env: { ...env, GATEWAY_PORT: String(port), COOKIE_SECURE: 'false' }
      })
    )
    try {
      await untilServing(origin, processes)
    } catch (error) {
      await stop()
      throw error
    }
    return { origin, pids: processes.map(({ pid }) => pid), stop }
  }
}

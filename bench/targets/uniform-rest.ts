import { startServer } from './server-process.js'
import type { Target } from './target.js'

/** This system: both of its processes. */
export const uniformRest: Target = {
  name: 'uniform-rest',
  description: 'This system: gateway and data service, two processes together',

  async start({ databaseUrl, dataDir, maxExportRows, nodeOptions }) {
    const env = { DATA_DIR: dataDir, LOG_LEVEL: 'info' }
    const dataService = await startServer({
      module: 'data-service/main.js',
      nodeOptions,
      env: {
        ...env,
        DATABASE_URL: databaseUrl,
        DATA_SERVICE_ADDRESS: '127.0.0.1:0',
        MAX_EXPORT_ROWS: String(maxExportRows),
        SAMPLE_DATA: 'false'
      }
    })
    try {
      const gateway = await startServer({
        module: 'gateway/main.js',
        nodeOptions,
        env: { ...env, DATA_SERVICE_ADDRESS: dataService.address, GATEWAY_PORT: '0', PUBLIC_BASE_URL: '' }
      })
      return {
        origin: gateway.address,
        pids: [gateway.pid, dataService.pid],
        async stop() {
          await gateway.stop()
          await dataService.stop()
        }
      }
    } catch (error) {
      await dataService.stop()
      throw error
    }
  }
}

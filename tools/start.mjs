import { demoEnvironment } from './demo-environment.mjs'
import { runCommand } from './failure.mjs'
import { interruption } from './interruption.mjs'
import { prepare } from './prepare.mjs'
import { accepting } from './start/accepting.mjs'
import { addresses, localBase, shopAddress } from './start/addresses.mjs'
import { checkSettings } from './start/check-settings.mjs'
import { gatewaySecret } from './start/gateway-secret.mjs'
import { healthy } from './start/healthy.mjs'
import { checkFree } from './start/ports.mjs'
import { mains, startService } from './start/service.mjs'
import { welcome } from './start/welcome.mjs'

/** @typedef {import('./start/service.mjs').Service} Service */

await runCommand(async () => {
  await prepare()
  await checkSettings()
  const env = demoEnvironment()
  const { gateway: http, dataService: grpc, admin } = await addresses(env)
  await checkFree(http)
  await checkFree(grpc)
  if (admin !== undefined) await checkFree(admin)
  const shop = await shopAddress(env)
  if (shop !== undefined) await checkFree(shop)

  const shared = { GATEWAY_SECRET: await gatewaySecret(env) }

  /** @type {Service[]} */
  const running = []
  const ending = new AbortController()
  /** @type {Promise<string | undefined>} what went wrong; nothing did on Ctrl-C */
  const end = new Promise((resolve) => {
    void interruption().then(() => resolve(undefined))
    void serve().catch((/** @type {unknown} */ error) => ending.signal.aborted || resolve(String(error)))

    async function serve() {
      // Both would take the one ADMIN_PORT: it is the gateway's.
      add(startService('data-service', { main: mains.dataService, env: { ...shared, ADMIN_PORT: '' } }))
      // Only then the gateway: it would wait too, but say so in many lines.
      await accepting(grpc, ending.signal)
      const base = localBase(http, env)
      // A page must not come before the shop that renders it.
      await serveShop(base)
      const renderer = shop === undefined ? {} : { RENDERER_URL: `http://${shop.host}:${shop.port}` }
      add(
        startService('gateway', {
          main: mains.gateway,
          env: { ...shared, ...renderer, GATEWAY_PORT: String(http.port) }
        })
      )
      await healthy(base, ending.signal)
      const withSample = env['SAMPLE_DATA'] === 'true'
      const dataService = `${grpc.host}:${grpc.port}`
      process.stdout.write(
        welcome({ base, dataService, dataDir: env['DATA_DIR'], withShop: shop !== undefined, withSample })
      )
    }

    /** @param {string} apiUrl */
    async function serveShop(apiUrl) {
      if (shop === undefined) return
      const shopEnv = {
        STOREFRONT_HOST: shop.host,
        STOREFRONT_PORT: String(shop.port),
        STORE_API_URL: apiUrl,
        // A certificate that signs itself is known to nobody else.
        ...(env['HTTP_TLS_CERT_FILE'] ? { NODE_EXTRA_CA_CERTS: env['HTTP_TLS_CERT_FILE'] } : {})
      }
      add(startService('storefront', { main: 'examples/store/storefront/main.js', env: shopEnv }))
      await accepting(shop, ending.signal)
    }

    /** @param {Service} service */
    function add(service) {
      // Who calls others comes first when they are stopped: it finishes what is under way, and needs them for it.
      running.unshift(service)
      void service.ended.then((how) => resolve(`The ${service.name} ${how}: see its log above.`))
    }
  })

  const violation = await end
  ending.abort()
  if (violation !== undefined) process.stderr.write(`${violation}\n`)
  for (const service of running) await service.stop()
  return violation === undefined ? 0 : 1
})

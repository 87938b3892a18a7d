import { addresses } from './start/addresses.mjs'
import { checkFree } from './start/ports.mjs'
import { demoEnvironment } from './demo-environment.mjs'
import { runCommand } from './failure.mjs'
import { interruption } from './interruption.mjs'
import { healthy } from './start/healthy.mjs'
import { prepare } from './prepare/prepare.mjs'
import { startService } from './start/service.mjs'
import { welcome } from './start/welcome.mjs'

await runCommand(async () => {
  await prepare()
  const env = demoEnvironment()
  const { gateway: http, dataService: grpc } = addresses(env)
  await checkFree(http)
  await checkFree(grpc)
  const interrupted = interruption()

  /** @type {string | undefined} */
  let url =
    http.port === 0 ? undefined : `http://${http.host.includes(':') ? `[${http.host}]` : http.host}:${http.port}`
  const dataService = startService('data-service')
  const gateway = startService('gateway', (entry) => {
    if (entry['msg'] === 'listening' && typeof entry['url'] === 'string') url = entry['url']
  })
  const prefix = env['PUBLIC_BASE_URL'] ? new URL(env['PUBLIC_BASE_URL']).pathname.replace(/\/+$/, '') : ''
  const waiting = new AbortController()
  const welcomed = healthy(() => (url === undefined ? undefined : url + prefix), waiting.signal)
    .then((base) =>
      process.stdout.write(
        welcome({
          base: env['PUBLIC_BASE_URL']?.replace(/\/+$/, '') || base,
          dataService: `${grpc.host}:${grpc.port}`,
          withSample: env['SAMPLE_DATA'] === 'true'
        })
      )
    )
    .catch((/** @type {unknown} */ error) => {
      if (!waiting.signal.aborted) throw error
    })

  const services = [gateway, dataService]
  const fault = await Promise.race([
    interrupted.then(() => undefined),
    ...services.map(
      async ({ name, ended }) => `The ${name} ${await ended}; see its log above. Stopping the other process.`
    )
  ])
  waiting.abort()
  if (fault !== undefined) process.stderr.write(`${fault}\n`)
  // The gateway first: it finishes what is under way, for which it needs the data service.
  for (const service of services) await service.stop()
  await welcomed
  return fault === undefined ? 0 : 1
})

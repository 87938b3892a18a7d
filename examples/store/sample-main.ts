import { type CommandContext, withDatabases } from '../../data-service/public/service.js'
import { loadMore, type LoadOrder, parseOrders } from './sample/load-more.js'
import { loadSample } from './sample/sample-store.js'
import { store } from './store.js'

const PROGRESS_STEPS = 10

/** `npm run sample -- --products 1000000` loads the sample store where there is none, and adds rows. */
async function main(flags: readonly string[]): Promise<void> {
  const orders = parseOrders(flags)
  await withDatabases(store, 'sample', async (context) => {
    const { primary, second, log } = context
    if (await loadSample(primary, second)) log.info('Loaded the sample store')
    for (const order of orders) await loadWithProgress(context, order)
  })
}

/** Logs about ten lines, however many rows there are. */
async function loadWithProgress({ primary, log }: CommandContext, order: LoadOrder): Promise<void> {
  let told = 0
  await loadMore(primary, order, (loaded) => {
    if (loaded - told < order.count / PROGRESS_STEPS && loaded < order.count) return
    told = loaded
    log.info({ resource: order.resource, loaded, of: order.count }, 'Loading')
  })
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

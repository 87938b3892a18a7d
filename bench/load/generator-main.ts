import type { Load } from './load.js'
import { runLoad } from './run-load.js'

// The load generator's own process: a Load comes in as a message, a LoadResult or an error text goes back.
process.on('message', (load: Load) => {
  runLoad(load).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) })
  )
})
process.on('disconnect', () => process.exit(0))

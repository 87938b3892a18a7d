import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiStore } from '../../api/api-store.js'
import type { Answer } from '../../api/http-call.js'
import { listening, type ServiceProcess, startProcess } from '../../stack/service-process.js'
import { STORE } from '../../harness/stack.js'
import type { Crash } from './crash-on-statement.js'

const TIMEOUT_MS = 60_000

/** A process in the place of a store's own data service, at the same address, that can be told at which statement to die. */
export class CrashingService {
  readonly #store: ApiStore
  #process: ServiceProcess | undefined
  #isRunning = false

  constructor(store: ApiStore) {
    this.#store = store
  }

  /** Whether it was started and has not died since. */
  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Takes over from whatever was started before. */
  async start(): Promise<void> {
    const { databaseUrl, database, dataDir, stack } = this.#store
    await stack.dataService.stop()
    await this.stop()
    this.#process = startProcess(STORE, {
      DATABASE_URL: databaseUrl,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      DATA_DIR: dataDir,
      DATA_SERVICE_ADDRESS: stack.dataAddress,
      OWNER_BYPASS_ROLE: 'Admin',
      CRASH_FILE: this.#file,
      NODE_OPTIONS: `--import=${new URL('crash-on-statement.js', import.meta.url).href}`
    })
    void this.#process.ended.then(() => (this.#isRunning = false))
    await listening(this.#process, 'address')
    this.#isRunning = true
    // The gateway takes a moment to find it.
    await retried(() => this.#store.call('/categories/1'))
  }

  /** Does the work, during which the service dies at the statement; resolves once it is gone. */
  async dying<Result>(crash: Crash, work: () => Promise<Result>): Promise<Result> {
    await writeFile(this.#file, JSON.stringify(crash))
    try {
      const result = await work()
      const late = sleep(TIMEOUT_MS, 'late', { ref: false })
      const outcome = await Promise.race([this.#process?.ended, late])
      if (outcome === 'late') throw new Error(`The service met no ${crash.statement}`)
      return result
    } finally {
      await rm(this.#file, { force: true })
    }
  }

  async stop(): Promise<void> {
    await this.#process?.kill()
  }

  get #file(): string {
    return join(this.#store.dataDir, 'crash.json')
  }
}

/** As a client that was told to come again: until the answer is neither 503 nor that the first request still runs. */
export async function retried(send: () => Promise<Answer>): Promise<Answer> {
  const end = performance.now() + TIMEOUT_MS
  for (;;) {
    const answer = await send()
    const again = answer.status === 503 || answer.text.includes('"code":"idempotency.in-flight"')
    if (!again || performance.now() > end) return answer
    await sleep(50)
  }
}

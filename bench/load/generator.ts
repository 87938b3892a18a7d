import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Load, LoadResult } from './load.js'

/** The load generator as its parent sees it: another process, so that measuring costs the servers no event loop. */
export class Generator {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('generator-main.js', import.meta.url)), {
    // The results of a round are long arrays of numbers, which structured clones carry without text in between.
    serialization: 'advanced'
  })

  /** One at a time. Rejects when a connection breaks or an answer cannot be followed. */
  async run(load: Load): Promise<LoadResult> {
    const child = this.#child
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('The load generator was stopped.'))
      if (!child.connected) return onExit()
      child.once('exit', onExit)
      child.once('message', (answer) => {
        child.off('exit', onExit)
        const { result, error } = answer as { result?: LoadResult; error?: string } // generator-main.ts says so
        if (result === undefined) reject(new Error(`Load failed: ${error ?? 'no result'}`))
        else resolve(result)
      })
      child.send(load)
    })
  }

  /** A run under way rejects. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect()
  }
}

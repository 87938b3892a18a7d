import { Writable } from 'node:stream'
import { createLogger, type Logger } from '../../shared/logger.js'

/** What was logged, in order. */
export interface MemoryLog {
  readonly log: Logger
  /** The entries, parsed. */
  readonly lines: Record<string, unknown>[]
  /** All as it was written. */
  text(): string
}

/** A log of every level that a test can look at. */
export function memoryLog(): MemoryLog {
  const written: string[] = []
  const lines: Record<string, unknown>[] = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = chunk.toString()
      written.push(line)
      lines.push(JSON.parse(line) as Record<string, unknown>) // pino writes an object a line
      done()
    }
  })
  return { log: createLogger({ name: 'test', level: 'debug', destination }), lines, text: () => written.join('') }
}

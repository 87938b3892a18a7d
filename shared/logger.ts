import { setLogger } from '@grpc/grpc-js'
import { destination, type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { shortened } from './errors.js'

export type { Logger } from 'pino'

const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** For SettingsReader.parsed. */
export function parseLogLevel(text: string): string | Error {
  return LOG_LEVELS.includes(text) ? text : new Error(`must be one of ${LOG_LEVELS.join(', ')}`)
}

/** Structured lines on standard output. Bearer tokens, cookies and passwords are never put in one; this is the net below. */
export function createLogger(options: { name: string; level: string; destination?: DestinationStream }): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'authorization',
          'cookie',
          'password',
          '*.authorization',
          '*.cookie',
          '*.password',
          '*.*.authorization'
        ],
        censor: '***'
      }
    },
    options.destination ?? destination({ dest: 1, sync: false })
  )
}

/** Lines of the gRPC library, which it would write to standard error as they are: a caller's odd metadata makes some. */
export function logGrpc(log: Logger): void {
  setLogger({ error: (...told: unknown[]) => log.info({ reason: shortened(told.join(' '), 300) }, 'gRPC library') })
}

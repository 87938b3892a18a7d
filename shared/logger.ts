import { setLogger } from '@grpc/grpc-js'
import { destination, type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { shortened } from './errors.js'

export type { Logger } from 'pino'

const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** The `parse` of a log level for SettingsReader.parsed. */
export function parseLogLevel(text: string): string | Error {
  return LOG_LEVELS.includes(text) ? text : new Error(`must be one of ${LOG_LEVELS.join(', ')}`)
}

/** Logs JSON lines on standard output. No caller logs tokens, cookies or passwords; the redaction is a second protection. */
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

/** The same log without the search for what must be redacted, for lines whose members all are known to hold no secret. */
export function unredacted(log: Logger): Logger {
  return log.child({}, { redact: [] })
}

/** Logs the messages of the gRPC library, such as those about bad metadata, which it would write to standard error. */
export function logGrpc(log: Logger): void {
  setLogger({ error: (...parts: unknown[]) => log.info({ reason: shortened(parts.join(' '), 300) }, 'gRPC library') })
}

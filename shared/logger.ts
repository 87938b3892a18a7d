import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'

export type { Logger } from 'pino'

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

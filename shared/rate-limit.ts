/** `count` requests in each window of `seconds`. */
export interface RateLimit {
  readonly count: number
  readonly seconds: number
}

/** `<count>/<seconds>`, both whole numbers: `600/60`. Nothing is no limit. */
export function parseRateLimit(text: string): RateLimit | undefined | Error {
  if (text === '') return undefined
  const [, count = '', seconds = ''] = /^(\d{1,9})\/(\d{1,6})$/.exec(text) ?? []
  const limit = { count: Number(count), seconds: Number(seconds) }
  return limit.count >= 1 && limit.seconds >= 1
    ? limit
    : new Error('must be <count>/<seconds>, such as 600/60 for 600 requests a minute')
}

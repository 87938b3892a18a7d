import { pathOf } from './query-parameters.js'

const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ ([\x21-\x7e]+) HTTP\/\d\.\d\r?\n/gm
const BLANK_LINE = /\n\r?\n/

/**
 * The path of the request in whose head the parser found a fault, `/` where its request line cannot be read. `packet`
 * is the piece of the connection that the parser had before it, which may begin with other requests, and `at` how far
 * it came.
 */
export function pathOfFault(packet: string, at: number): string {
  const lineEnd = packet.indexOf('\n', at)
  const seen = lineEnd === -1 ? packet : packet.slice(0, lineEnd + 1)
  const line = [...seen.matchAll(REQUEST_LINE)].at(-1)
  if (line === undefined) return '/'
  const [text, target = '/'] = line
  const headers = seen.slice(line.index + text.length - 1, at)
  return BLANK_LINE.test(headers) ? '/' : pathOf(target)
}
